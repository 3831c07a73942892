use interlocking::prelude::*;
use interlocking::runtime::journal::{Journal, Letter, LetterBody, MemoryJournal};
use std::sync::Arc;

#[derive(Graph)]
#[graph(output = String)]
struct Journey {
    #[node(entry, input = String, goto(arrive), memory(delays: u32))]
    travel: LogicNode<Travel>,
    #[node(input = String, goto(exit), memory(delays: u32))]
    arrive: LogicNode<Arrive>,
    // Leaves the run as it is.
    #[node(on(u32), resume, memory(delays: u32), visits = 100)]
    delayed: EventNode<Delayed>,
    // Takes the run elsewhere: what is at work is ended.
    #[node(on(String), goto(arrive, cancels(*)), visits = 1)]
    diverted: EventNode<Diverted>,
}

struct Travel(Arc<MemoryJournal>);
impl LogicHandler<journey::travel> for Travel {
    async fn run(&self, to: String, cx: &mut Cx<'_, journey::travel>) -> Route<journey::travel> {
        // Somebody else would send these, with the command `send` or by `Journal::post`.
        for (node, message) in [("delayed", "5"), ("delayed", "10"), ("diverted", "\"York\"")] {
            let body = LetterBody::Message { node: node.to_owned(), message: message.into() };
            self.0.post(cx.run_id(), Letter { key: None, body }).await?;
        }
        // Far away: it never gets there.
        std::future::pending::<()>().await;
        goto!(cx, journey::arrive, to)
    }
}

struct Arrive;
impl LogicHandler<journey::arrive> for Arrive {
    async fn run(&self, to: String, cx: &mut Cx<'_, journey::arrive>) -> Route<journey::arrive> {
        goto!(cx, journey::exit, format!("{to}, {} minutes late", cx.memory()))
    }
}

struct Delayed;
impl EventHandler<journey::delayed> for Delayed {
    async fn handle(&self, minutes: u32, cx: &mut Cx<'_, journey::delayed>) -> Route<journey::delayed> {
        cx.update_memory(move |delays| *delays += minutes);
        cx.resume()
    }
}

struct Diverted;
impl EventHandler<journey::diverted> for Diverted {
    async fn handle(&self, to: String, cx: &mut Cx<'_, journey::diverted>) -> Route<journey::diverted> {
        goto!(cx, journey::arrive, to)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let journal = Arc::new(MemoryJournal::new());
    let graph = Journey {
        travel: LogicNode(Travel(journal.clone())),
        arrive: LogicNode(Arrive),
        delayed: EventNode(Delayed),
        diverted: EventNode(Diverted),
    };
    let report = Run::new(graph).with_journal(journal).start("London".to_owned()).await?;
    assert_eq!(report.outcome.finished().as_deref(), Some("York, 15 minutes late"));
    Ok(())
}
