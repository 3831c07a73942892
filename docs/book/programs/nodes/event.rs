use interlocking::prelude::*;
use interlocking::runtime::journal::{Journal, Letter, LetterBody, MemoryJournal};
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = String)]
struct Journey {
    #[node(entry, input = String, question = String, answer = bool, goto(arrive))]
    travel: HumanNode<Travel>,
    #[node(input = String, goto(exit), memory(delay: u32))]
    arrive: LogicNode<Arrive>,
    // Handles the message and lets the run go on as it was.
    #[node(on(u32), resume, memory(delay: u32), visits = 100)]
    delayed: EventNode<Delayed>,
    // Redirects the run to `arrive`, and cancels every node that waits or executes.
    #[node(on(String), goto(arrive, cancels(*)), visits = 1)]
    diverted: EventNode<Diverted>,
}

#[derive(Default)]
struct Travel;
impl HumanHandler<journey::travel> for Travel {
    async fn ask(&self, to: &String, _: &mut Cx<'_, journey::travel>) -> Result<String, NodeError> {
        Ok(format!("are you in {to} yet?"))
    }

    async fn answered(&self, to: String, _: bool, cx: &mut Cx<'_, journey::travel>) -> Route<journey::travel> {
        goto!(cx, journey::arrive, to)
    }
}

#[derive(Default)]
struct Arrive;
impl LogicHandler<journey::arrive> for Arrive {
    async fn run(&self, to: String, cx: &mut Cx<'_, journey::arrive>) -> Route<journey::arrive> {
        goto!(cx, journey::exit, format!("{to}, {} minutes late", cx.memory()))
    }
}

#[derive(Default)]
struct Delayed;
impl EventHandler<journey::delayed> for Delayed {
    async fn handle(&self, minutes: u32, cx: &mut Cx<'_, journey::delayed>) -> Route<journey::delayed> {
        cx.update_memory(move |delay| *delay += minutes);
        cx.resume()
    }
}

#[derive(Default)]
struct Diverted;
impl EventHandler<journey::diverted> for Diverted {
    async fn handle(&self, to: String, cx: &mut Cx<'_, journey::diverted>) -> Route<journey::diverted> {
        goto!(cx, journey::arrive, to)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let journal = Arc::new(MemoryJournal::new());
    let run = || Run::new(Journey::default()).with_journal(journal.clone());
    let report = run().start("London".to_owned()).await?;
    assert_eq!(report.outcome.name(), "waiting");

    // A message can be posted at any time, and from another process if the journal is on disk.
    for (node, message) in [("delayed", "5"), ("delayed", "10"), ("diverted", "\"York\"")] {
        let body = LetterBody::Message { node: node.to_owned(), message: message.into() };
        journal.post(&report.run, Letter { key: None, body }).await?;
    }
    let report = run().resume().await?;
    assert_eq!(report.outcome.finished().as_deref(), Some("York, 15 minutes late"));
    Ok(())
}
