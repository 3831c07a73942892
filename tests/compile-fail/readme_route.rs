//! The first graph of README.md, with one mistake.

use askama::Template;
use interlocking::{agents::ScriptedAgent, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Template)] // an input is serializable; this one is also a prompt template
#[template(source = "Write about {{ self.0 }}.", ext = "txt")]
struct Topic(String);
#[derive(Serialize, Deserialize, JsonSchema, Template)] // an agent's output has a JSON schema
#[template(source = "Is this worth reading? {{ self.0 }}", ext = "txt")]
struct Article(String);
#[derive(Serialize, Deserialize, JsonSchema)]
struct Verdict {
    rejected: Option<String>,
}

#[derive(Graph, Default)]
#[graph(output = Article)]
struct Newsroom {
    #[node(entry, input = Topic, output = Article, goto(judge), visits = 3)]
    write: LLMNode, // no handler: asks the agent with its input, and passes the answer on
    #[node(input = Article, output = Verdict, goto(gate))]
    judge: LLMNode,
    #[node(input = Verdict, goto(write, exit))]
    gate: LogicNode<Gate>, // decides in plain Rust
}
#[derive(Default)]
struct Gate;
impl LogicHandler<newsroom::gate> for Gate {
    async fn run(&self, verdict: Verdict, cx: &mut Cx<'_, newsroom::gate>) -> Route<newsroom::gate> {
        match verdict.rejected {
            None => goto!(cx, newsroom::judge, cx.input_of::<newsroom::judge>()?),
            Some(why) => goto!(cx, newsroom::write, Topic(format!("{}, but not: {why}", cx.entry()?.0))),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = r#"turn = [
        { contains = ["Write about interlockings."], output = "A short one" },
        { contains = ["worth reading? A short one"], output = { rejected = "too short" } },
        { contains = ["interlockings, but not: too short"], output = "Signals and points, at length" },
        { contains = ["worth reading? Signals"], output = {} },
    ]"#;
    let run = Run::new(Newsroom::default()).with_agent_for_others(ScriptedAgent::parse("newsroom.toml", script)?);
    let article = run.start(Topic("interlockings".into())).await?.outcome.finished().ok_or("no article")?;
    assert_eq!(article.0, "Signals and points, at length");
    Ok(())
}
