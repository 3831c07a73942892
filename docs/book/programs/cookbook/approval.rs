use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use interlocking::runtime::journal::{Journal, Letter, LetterBody, MemoryJournal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = Letters)]
struct Office {
    #[node(entry, input = Wish, output = Letters, goto(approve), visits = 3)]
    write: LLMNode,
    // No answer within a week counts as a refusal.
    #[node(input = Letters, question = Letters, answer = Verdict, goto(write, exit), timeout = "168h", timed_out(exit))]
    approve: HumanNode<Approve>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(
    source = "Write a letter about {{ about }}.{% if let Some(remark) = remark %} {{ remark }}{% endif %}",
    ext = "txt"
)]
struct Wish {
    about: String,
    remark: Option<String>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Letters {
    text: Option<String>,
}

impl From<TimedOut> for Letters {
    fn from(_: TimedOut) -> Self {
        Self { text: None }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Verdict {
    approved: bool,
    remark: Option<String>,
}

#[derive(Default)]
struct Approve;
impl HumanHandler<office::approve> for Approve {
    async fn ask(&self, letter: &Letters, _: &mut Cx<'_, office::approve>) -> Result<Letters, NodeError> {
        Ok(letter.clone())
    }

    async fn answered(
        &self,
        letter: Letters,
        said: Verdict,
        cx: &mut Cx<'_, office::approve>,
    ) -> Route<office::approve> {
        match said.approved {
            true => goto!(cx, office::exit, letter),
            false => goto!(cx, office::write, Wish { about: cx.entry()?.about.clone(), remark: said.remark }),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = r#"turn = [
        { contains = ["about tides.", "Shorter."], output = { text = "Low." } },
        { contains = ["about tides."], output = { text = "The tide is low today." } },
    ]"#;
    let agent = Arc::new(ScriptedAgent::parse("office.toml", script)?);
    let journal = Arc::new(MemoryJournal::new());
    let run = || Run::new(Office::default()).with_agent_for_others(agent.clone()).with_journal(journal.clone());

    let mut report = run().start(Wish { about: "tides".into(), remark: None }).await?;
    for said in [r#"{"approved": false, "remark": "Shorter."}"#, r#"{"approved": true}"#] {
        let Outcome::Waiting { questions } = report.outcome else { return Err("nobody is asked".into()) };
        let answer = LetterBody::Answer { to: questions[0].by.clone(), answer: said.into() };
        journal.post(&questions[0].run, Letter { key: None, body: answer }).await?;
        report = run().resume().await?;
    }
    assert_eq!(report.outcome.finished().and_then(|letter| letter.text).as_deref(), Some("Low."));
    Ok(())
}
