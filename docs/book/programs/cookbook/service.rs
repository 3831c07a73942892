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

/// What all requests of the service share: here its runs and their agent, elsewhere also connections and configuration.
#[derive(Clone)]
struct Shop {
    runs: Service,
    agent: Arc<ScriptedAgent>,
}

impl Shop {
    /// The configuration of every run, whether it is new or resumed.
    fn run(&self) -> Run<Refunds> {
        Run::new(Refunds::default()).with_agent_for_others(self.agent.clone())
    }

    /// Starts the claim's run. Its id is made from the claim's number, so a repeated request does not start a second run.
    async fn claim(&self, number: u32, text: &str) -> Result<RunId, Box<dyn Error>> {
        let id = RunId::new(format!("claim-{number}"))?;
        self.runs.start(&id, self.run(), Claim { text: text.to_owned() }).await?;
        Ok(id)
    }

    /// Follows a run until it asks a person, and returns the question.
    async fn question(&self, id: &RunId) -> Result<OpenQuestion, Box<dyn Error>> {
        let mut events = self.runs.events(id).ok_or("the run is not executed here")?;
        loop {
            if let Some(question) = open_questions(&**self.runs.journal(), id).await?.pop() {
                return Ok(question);
            }
            events.next().await.ok_or("the run has ended, and has asked nobody")?;
        }
    }

    /// Waits until the run is no longer executed, and returns its outcome.
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
    // When the process starts, it resumes the runs that the previous process left unfinished.
    let runs = Service::new(Arc::new(MemoryJournal::new())).with_limits(SharedLimits::new(Some(16)));
    let shop = Shop { runs, agent };
    shop.runs.resume_unfinished(|_| shop.run()).await?;

    // Two requests: a person approves one, and the other is cancelled.
    let (leak, lid) = (shop.claim(1, "The kettle leaks.").await?, shop.claim(2, "The lid is blue.").await?);
    let asked = shop.question(&leak).await?;
    assert_eq!(asked.question, json!({ "cents": 2000 }));
    shop.runs.answer(&leak, &asked.by, &json!(true)).await?;
    assert_eq!(shop.outcome(&leak).await?.finished(), Some(2000));
    shop.runs.cancel(&lid).await?;
    assert_eq!(shop.outcome(&lid).await?.name(), "cancelled");

    // Before the process ends: runs that do not end in 20 seconds are suspended, and the next process resumes them.
    shop.runs.drain(Duration::from_secs(20)).await;
    Ok(())
}
