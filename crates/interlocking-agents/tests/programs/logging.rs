use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use interlocking_agents::program::{Environment, Invocation, Secret};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::common::{lines, shell};

/// Writes down every field of every span and event, at every level.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<String>>);

impl Visit for Everything {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[tokio::test]
async fn neither_keys_nor_prompts_nor_output_are_logged() {
    let everything = Everything::default();
    // While only one dispatcher exists, a thread without it (another test) decides for all that nobody listens.
    let _second = tracing::Dispatch::new(Everything::default());
    let guard = tracing::subscriber::set_default(everything.clone());
    let environment = Environment::minimal().secret("KEY", Secret::new("canary-1")).set("OTHER", "canary-2");
    let script = "cat; echo canary-4 >&2; echo $KEY $OTHER";
    let invocation = Invocation { environment, input: b"canary-3\n".to_vec(), ..shell(script) };
    let shown = format!("{invocation:?}");
    let mut running = invocation.start().await.unwrap();
    assert_eq!(lines(&mut running).await, ["canary-3", "[redacted] canary-2"]);
    let debugged = format!("{running:?}");
    running.end().await.unwrap();
    drop(guard);
    let logged = everything.0.lock().unwrap().clone();
    assert!(logged.contains("message=started a program") && logged.contains("program=sh"), "{logged}");
    for text in [logged, shown, debugged] {
        assert!(!text.contains("canary"), "{text}");
    }
}
