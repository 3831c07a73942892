use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Graph, Default)]
#[graph(output = Result<u32, String>)]
struct Estimate {
    // Three attempts in one session, then the `exhausted` route. Any other failure, as of an agent without a valid answer,
    // leads to `give_up`, too.
    #[node(entry, input = Task, output = Guess, goto(estimate, exit), attempts = 3, exhausted(give_up), failed(give_up),
        memory = Option<SessionId>)]
    estimate: LLMNode<Estimator>,
    #[node(input = Reason, goto(exit))]
    give_up: LogicNode<GiveUp>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(
    source = "How long is {{ what }}, in metres?{% if let Some(wrong) = wrong %} {{ wrong }}{% endif %}",
    ext = "txt"
)]
struct Task {
    what: String,
    wrong: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Guess {
    metres: u32,
}

#[derive(Serialize, Deserialize)]
struct Reason(String);

impl From<Exhausted<Task>> for Reason {
    fn from(exhausted: Exhausted<Task>) -> Self {
        Self(exhausted.input.wrong.unwrap_or_default())
    }
}

impl From<Failure> for Reason {
    fn from(failure: Failure) -> Self {
        Self(failure.message)
    }
}

#[derive(Default)]
struct Estimator;
impl ReplyHandler<estimate::estimate> for Estimator {
    async fn session(&self, _: &Task, cx: &mut Cx<'_, estimate::estimate>) -> Result<SessionOp, NodeError> {
        Ok(cx.memory().map_or(cx.fresh_session(), SessionOp::ContinueFrom))
    }

    async fn after(
        &self,
        task: Task,
        reply: Reply<Guess>,
        cx: &mut Cx<'_, estimate::estimate>,
    ) -> Route<estimate::estimate> {
        cx.update_memory(move |session| *session = Some(reply.session.clone()));
        match reply.output.metres {
            metres @ 100..=1_000 => goto!(cx, estimate::exit, Ok(metres)),
            metres => {
                let wrong = format!("It is not {metres}.");
                goto!(cx, self, Task { wrong: Some(wrong), ..task })
            }
        }
    }
}

#[derive(Default)]
struct GiveUp;
impl LogicHandler<estimate::give_up> for GiveUp {
    async fn run(&self, reason: Reason, cx: &mut Cx<'_, estimate::give_up>) -> Route<estimate::give_up> {
        goto!(cx, estimate::exit, Err(reason.0))
    }
}

async fn estimate(script: &str) -> Result<Result<u32, String>, Box<dyn std::error::Error>> {
    let run = Run::new(Estimate::default()).with_agent_for_others(ScriptedAgent::parse("estimate.toml", script)?);
    let report = run.start(Task { what: "a train".into(), wrong: None }).await?;
    Ok(report.outcome.finished().ok_or("every end is routed")?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let learns = r#"turn = [
        { session = "fresh", contains = ["How long is a train"], output = { metres = 7 } },
        { session = "continue", contains = ["It is not 7."], output = { metres = 400 } },
    ]"#;
    assert_eq!(estimate(learns).await?, Ok(400));

    let never = r#"turn = [{ times = "any", output = { metres = 7 } }]"#;
    assert_eq!(estimate(never).await?, Err("It is not 7.".to_owned()));
    Ok(())
}
