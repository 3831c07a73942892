use interlocking::prelude::*;
use interlocking::runtime::journal::MemoryJournal;
use interlocking::runtime::journal::answer::answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = String)]
struct Purchase {
    #[node(entry, input = Order, question = Question, answer = Decision, goto(buy, exit))]
    approve: HumanNode<Approve>,
    #[node(input = Order, goto(exit))]
    buy: LogicNode<Buy>,
}

#[derive(Serialize, Deserialize)]
struct Order {
    item: String,
    dollars: u32,
}

/// The question that the person reads.
#[derive(Serialize, Deserialize)]
struct Question {
    text: String,
}

/// What the person may answer: anything else is refused when it is given.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Buy,
    Refuse { why: String },
}

#[derive(Default)]
struct Approve;
impl HumanHandler<purchase::approve> for Approve {
    async fn ask(&self, order: &Order, _: &mut Cx<'_, purchase::approve>) -> Result<Question, NodeError> {
        Ok(Question { text: format!("{} for ${}?", order.item, order.dollars) })
    }

    async fn answered(
        &self,
        order: Order,
        said: Decision,
        cx: &mut Cx<'_, purchase::approve>,
    ) -> Route<purchase::approve> {
        match said {
            Decision::Buy => goto!(cx, purchase::buy, order),
            Decision::Refuse { why } => goto!(cx, purchase::exit, format!("no {}: {why}", order.item)),
        }
    }
}

#[derive(Default)]
struct Buy;
impl LogicHandler<purchase::buy> for Buy {
    async fn run(&self, order: Order, cx: &mut Cx<'_, purchase::buy>) -> Route<purchase::buy> {
        goto!(cx, purchase::exit, format!("bought {}", order.item))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // With a journal on disk (`SqliteJournal`), another process can give the answer, a week later.
    let journal = Arc::new(MemoryJournal::new());
    let run = || Run::new(Purchase::default()).with_journal(journal.clone());

    let report = run().start(Order { item: "a lamp".into(), dollars: 40 }).await?;
    let Outcome::Waiting { questions } = report.outcome else { return Err("nobody is asked".into()) };

    // Checked against the schema of `Decision`.
    let question = &questions[0];
    let said = json!({ "refuse": { "why": "it is dark already" } });
    answer(&*journal, &question.run, &question.by, &said).await?;

    let report = run().resume().await?;
    assert_eq!(report.outcome.finished().as_deref(), Some("no a lamp: it is dark already"));
    Ok(())
}
