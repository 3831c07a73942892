//! Calls that are interrupted, dropped, or take too long leave nothing behind.

use std::time::Duration;

use interlocking_agents::{
    AgentErrorKind, Conversation, Disposition, Gemini, GeminiPermissions, GeminiSettings, Interrupt, NoEvents,
};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::json;

use crate::place::{Place, run, with_key};
use crate::sleepers::{self, gone, seen};
use crate::working::calling;

/// A model that starts commands that wait.
fn daemon(script: Script, name: &str) -> Script {
    calling(script, "run_shell_command", json!({ "command": sleepers::command(name) }))
}

fn working(place: &Place) -> Gemini {
    with_key(GeminiSettings { permissions: GeminiPermissions::Everything, ..place.settings() })
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_interrupted_call_leaves_nothing_and_its_session_goes_on() {
    let name = format!("8{}1", std::process::id());
    let on = Rule::asked("go on").history("work").reply(Reaction::text("Yes."));
    let Some(place) = Place::new(daemon(Script::new().rule(on), &name)) else { return };
    let agent = working(&place);
    let interrupt = Interrupt::new();
    let conversation = Conversation::new(&agent).with_interrupt(interrupt.clone());
    let (outcome, ()) = tokio::join!(conversation.run(place.fresh("work"), &NoEvents), async {
        seen(&name).await;
        interrupt.request();
    });
    let error = outcome.unwrap_err();
    assert_eq!((&*error.kind, error.usage.input_tokens), (&AgentErrorKind::Cancelled, 100));
    gone(&name).await;
    let on = run(&agent, place.go_on(&error.session.unwrap(), "go on")).await.0.unwrap();
    assert_eq!(on.text.as_deref(), Some("Yes."));
    let left: Vec<_> = std::fs::read_dir(place.calls()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dropped_call_leaves_nothing() {
    let name = format!("8{}2", std::process::id());
    let Some(place) = Place::new(daemon(Script::new(), &name)) else { return };
    let agent = working(&place);
    {
        let conversation = Conversation::new(&agent);
        tokio::select! {
            outcome = conversation.run(place.fresh("work"), &NoEvents) => panic!("{outcome:?}"),
            () = seen(&name) => {}
        }
    }
    gone(&name).await;
}

#[tokio::test]
async fn a_stalled_stream_is_idleness_and_a_call_has_its_time() {
    let stalled = || Script::computed(|_| Reaction::text("half of it").stalled_after(1));
    let limit = Duration::from_millis(800);
    let Some(place) = Place::new(stalled()) else { return };
    let agent = with_key(GeminiSettings { idle_limit: Some(limit), ..place.settings() });
    let error = run(&agent, place.fresh("Hello")).await.0.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Idle { limit, nudges: 0 });
    assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }));

    let limit = Duration::from_secs(8);
    let agent = with_key(GeminiSettings { time_limit: Some(limit), ..place.settings() });
    let error = run(&agent, place.fresh("Hello")).await.0.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::TimedOut { limit });
}
