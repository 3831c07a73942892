use interlocking_agents::program::{Environment, Invocation, Secret};

use crate::common::{lines, shell};
use listening::Everything;

#[path = "../listening/mod.rs"]
mod listening;

#[tokio::test]
async fn neither_keys_nor_prompts_nor_output_are_logged() {
    let everything = Everything::default();
    // With only one dispatcher, a thread without it (another test) would disable logging for all threads.
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
