//! Calls that are interrupted or dropped leave nothing behind.

use std::sync::atomic::{AtomicBool, Ordering};

use interlocking_agents::{AgentErrorKind, Codex, CodexSettings, Conversation, Interrupt, NoEvents};
use interlocking_model_server::{Reaction, Rule, Script};

use crate::place::{Place, run};
use crate::sleepers::{self, alive, gone, seen};
use crate::working::command;
use stopped_time::StoppedTime;

#[expect(dead_code, reason = "no time passes here")]
#[path = "../stopped_time/mod.rs"]
mod stopped_time;

/// Codex's sandbox would end the commands together with the program, so it is switched off.
fn unconfined(place: &Place) -> Codex {
    Codex::new(CodexSettings { own_sandbox: false, ..place.settings() })
}

/// No time passes, so the call ends because the program does, and not because it was waited for long enough.
#[tokio::test]
async fn an_interrupted_call_says_what_it_used() {
    let time = StoppedTime::new();
    for own_sandbox in [false, true] {
        let name = format!("7{}{}", std::process::id(), u8::from(own_sandbox));
        let script = Script::new().rule(Rule::asked("work").reply(command(&sleepers::command(&name))));
        let Some(place) = Place::new(script) else { return };
        let codex = Codex::new(CodexSettings { own_sandbox, ..place.settings() });
        let interrupt = Interrupt::new();
        let conversation = Conversation::new(&codex).with_interrupt(interrupt.clone());
        let is_over = AtomicBool::new(false);
        let call = async {
            let outcome = conversation.run(place.fresh("work"), &NoEvents).await;
            is_over.store(true, Ordering::Relaxed);
            outcome
        };
        let (outcome, ()) = tokio::join!(call, async {
            time.until(|| alive(&name).len() == 3).await;
            interrupt.request();
            time.until(|| is_over.load(Ordering::Relaxed)).await;
        });
        let error = outcome.unwrap_err();
        assert_eq!((&*error.kind, error.usage.input_tokens), (&AgentErrorKind::Cancelled, 100));
        time.until(|| alive(&name).is_empty()).await;
    }
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing() {
    let name = format!("7{}2", std::process::id());
    let script = Script::new().rule(Rule::asked("work").reply(command(&sleepers::command(&name))));
    let Some(place) = Place::new(script) else { return };
    let codex = unconfined(&place);
    {
        let conversation = Conversation::new(&codex);
        let (turn, events) = (place.fresh("work"), NoEvents);
        tokio::select! {
            outcome = conversation.run(turn, &events) => panic!("{outcome:?}"),
            () = seen(&name) => {}
        }
    }
    gone(&name).await;
}

/// This also holds after a success.
#[tokio::test]
async fn what_a_turn_detached_ends_with_it() {
    let name = format!("7{}3", std::process::id());
    let detached = format!("setsid -f sleep {name}1 >/dev/null 2>&1 </dev/null; echo detached");
    let script = Script::new()
        .rule(Rule::asked("work").reply(command(&detached)))
        .rule(Rule::told("detached").reply_with(move |_| Reaction::text(format!("{} live", alive(&name).len()))));
    let Some(place) = Place::new(script) else { return };
    let name = format!("7{}3", std::process::id());
    let completion = run(&unconfined(&place), place.fresh("work")).await.0.unwrap();
    assert_eq!(completion.text.as_deref(), Some("1 live"), "it was there when the turn went on");
    gone(&name).await;
}
