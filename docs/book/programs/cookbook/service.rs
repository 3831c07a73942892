use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use interlocking::runtime::human::OpenQuestion;
use interlocking::runtime::journal::answer::open_questions;
use interlocking::runtime::service::Service;
use interlocking::runtime::{MemoryJournal, SharedLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

#[derive(Graph, Default)]
#[graph(output = u32)]
struct Refunds {
    #[node(entry, input = Claim, output = Refund, goto(approve))]
    judge: LLMNode,
    #[node(input = Refund, question = Refund, answer = bool, goto(exit))]
    approve: HumanNode<Approve>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(source = "How much is to be paid back? {{ text }}", ext = "txt")]
struct Claim {
    text: String,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Refund {
    cents: u32,
}

#[derive(Default)]
struct Approve;
impl HumanHandler<refunds::approve> for Approve {
    async fn ask(&self, refund: &Refund, _: &mut Cx<'_, refunds::approve>) -> Result<Refund, NodeError> {
        Ok(refund.clone())
    }

    async fn answered(&self, refund: Refund, yes: bool, cx: &mut Cx<'_, refunds::approve>) -> Route<refunds::approve> {
        goto!(cx, refunds::exit, if yes { refund.cents } else { 0 })
    }
}

/// What the service shares among its requests: its connections, its configuration, and now its runs.
#[derive(Clone)]
struct Shop {
    runs: Service,
    agent: Arc<ScriptedAgent>,
}

impl Shop {
    /// A run as each is, new or taken up.
    fn run(&self) -> Run<Refunds> {
        Run::new(Refunds::default()).with_agent_for_others(self.agent.clone())
    }

    /// A request that comes twice starts one run: its name is the claim's.
    async fn claim(&self, number: u32, text: &str) -> Result<RunId, Box<dyn Error>> {
        let id = RunId::new(format!("claim-{number}"))?;
        self.runs.start(&id, self.run(), Claim { text: text.to_owned() }).await?;
        Ok(id)
    }

    /// Watches a run until it asks a person.
    async fn question(&self, id: &RunId) -> Result<OpenQuestion, Box<dyn Error>> {
        let mut events = self.runs.events(id).ok_or("the run is not executed here")?;
        loop {
            if let Some(question) = open_questions(&**self.runs.journal(), id).await?.pop() {
                return Ok(question);
            }
            events.next().await.ok_or("the run has ended, and has asked nobody")?;
        }
    }

    /// What a run has come to.
    async fn outcome(&self, id: &RunId) -> Result<Outcome<u32>, Box<dyn Error>> {
        self.runs.ended(id).await;
        Ok(self.runs.report(id, self.run()).await?.ok_or("the run has stopped, and may be resumed")?.outcome)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let script = r#"turn = [
        { contains = ["The kettle leaks."], output = { cents = 2000 } },
        { contains = ["The lid is blue."], output = { cents = 500 } },
    ]"#;
    let agent = Arc::new(ScriptedAgent::parse("shop.toml", script)?);
    // At the start of the process: what the one before has left goes on.
    let runs = Service::new(Arc::new(MemoryJournal::new())).with_limits(SharedLimits::new(Some(16)));
    let shop = Shop { runs, agent };
    shop.runs.resume_unfinished(|_| shop.run()).await?;

    // Two requests; a person says yes to one, and the other is withdrawn.
    let (leak, lid) = (shop.claim(1, "The kettle leaks.").await?, shop.claim(2, "The lid is blue.").await?);
    let asked = shop.question(&leak).await?;
    assert_eq!(asked.question, json!({ "cents": 2000 }));
    shop.runs.answer(&leak, &asked.by, &json!(true)).await?;
    assert_eq!(shop.outcome(&leak).await?.finished(), Some(2000));
    shop.runs.cancel(&lid).await?;
    assert_eq!(shop.outcome(&lid).await?.name(), "cancelled");

    // At its end: what cannot end so soon is taken up by the next process.
    shop.runs.drain(Duration::from_secs(20)).await;
    Ok(())
}
