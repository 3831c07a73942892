use std::time::{Duration, Instant};

use interlocking_agents::{
    AgentErrorKind, Conversation, Disposition, HttpModel, HttpProvider, HttpSettings, Interrupt, NoEvents, SessionOp,
};
use interlocking_model_server::{ModelServer, Reaction};

use crate::common::{PROVIDERS, always, fresh, key, model, run, settings};

const LIMIT: Duration = Duration::from_millis(200);

fn limited(server: &ModelServer, provider: HttpProvider, limit: impl Fn(&mut HttpSettings)) -> HttpModel {
    let mut settings = settings(server, provider);
    limit(&mut settings);
    HttpModel::new(settings).with_key(key())
}

#[tokio::test]
async fn the_first_event_may_not_take_too_long() {
    let server = always(Reaction::text("yes").after(Duration::from_secs(20)));
    for provider in PROVIDERS {
        let model = limited(&server, provider, |settings| settings.first_event_limit = Some(LIMIT));
        let (start, error) = (Instant::now(), run(&model, fresh("?")).await.unwrap_err());
        assert_eq!(*error.kind, AgentErrorKind::NoFirstEvent { limit: LIMIT }, "{provider}");
        assert_eq!(error.usage.unpriced_calls, 1);
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn nor_may_silence_between_two_events() {
    for provider in [HttpProvider::Anthropic, HttpProvider::OpenAi] {
        let server = always(Reaction::text("yes").stalled_after(3));
        let model = limited(&server, provider, |settings| settings.idle_limit = Some(LIMIT));
        let error = run(&model, fresh("?")).await.unwrap_err();
        assert_eq!(*error.kind, AgentErrorKind::Idle { limit: LIMIT, nudges: 0 }, "{provider}");
        assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }));
    }
}

#[tokio::test]
async fn an_answer_that_comes_slowly_is_not_silent_but_may_be_too_long() {
    let words = "x".repeat(20 * 2048);
    for provider in PROVIDERS {
        let server = always(Reaction::text(words.clone()).paced(Duration::from_millis(30)));
        let patient = limited(&server, provider, |settings| settings.idle_limit = Some(Duration::from_millis(400)));
        assert_eq!(run(&patient, fresh("?")).await.unwrap().text, Some(words.clone()), "{provider}");
        let hasty = limited(&server, provider, |settings| settings.time_limit = Some(LIMIT));
        let error = run(&hasty, fresh("?")).await.unwrap_err();
        assert_eq!(*error.kind, AgentErrorKind::TimedOut { limit: LIMIT }, "{provider}");
    }
}

#[tokio::test]
async fn an_interrupt_ends_it_at_once() {
    let server = always(Reaction::text("yes").stalled_after(1));
    let model = model(&server, HttpProvider::Anthropic);
    let interrupt = Interrupt::new();
    let conversation = Conversation::new(&model).with_interrupt(interrupt.clone());
    let (outcome, ()) = tokio::join!(conversation.run(fresh("?"), &NoEvents), async {
        server.received(|_| true).await;
        interrupt.request();
    });
    let error = outcome.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Cancelled);
    assert_eq!((error.usage.calls, error.usage.unpriced_calls), (1, 1), "what it had cost is not known");
}

/// A dropped turn releases its session, and closes the connection.
#[tokio::test]
async fn a_dropped_turn_leaves_nothing_behind() {
    use interlocking_agents::Agent;
    let server = always(Reaction::text("yes").stalled_after(1));
    let model = model(&server, HttpProvider::OpenAi);
    let started = std::sync::Mutex::new(None);
    let events = |event| {
        if let interlocking_agents::AgentEvent::Started { session } = event {
            *started.lock().unwrap() = Some(session);
        }
    };
    let conversation = Conversation::new(&model);
    tokio::select! {
        _ = conversation.run(fresh("?"), &events) => panic!("it stalls"),
        _ = server.received(|_| true) => {}
    }
    let session = started.lock().unwrap().take().unwrap();
    model.sessions().hold(&SessionOp::ContinueFrom(session), None).unwrap();
}
