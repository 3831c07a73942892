use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Splits its task into smaller ones, each of which is a run of the same graph.
#[derive(Graph, Default)]
#[graph(output = Outline)]
struct Outlining {
    #[node(entry, input = Topic, output = Parts, goto(parts, exit))]
    split: LLMNode<Split>,
    #[node(input = Parts, map = Outlining, depth = 2, goto(exit))]
    parts: MapNode<EachPart>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(source = "Which parts has {{ title }}?{% if deepest %} Give none.{% endif %}", ext = "txt")]
struct Topic {
    title: String,
    deepest: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Parts {
    titles: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Outline {
    title: String,
    parts: Vec<Self>,
}

#[derive(Default)]
struct Split;
impl ReplyHandler<outlining::split> for Split {
    async fn after(
        &self,
        topic: Topic,
        reply: Reply<Parts>,
        cx: &mut Cx<'_, outlining::split>,
    ) -> Route<outlining::split> {
        if topic.deepest || reply.output.titles.is_empty() {
            return goto!(cx, outlining::exit, Outline { title: topic.title, parts: Vec::new() });
        }
        goto!(cx, outlining::parts, reply.output)
    }
}

#[derive(Default)]
struct EachPart;
impl MapHandler<outlining::parts> for EachPart {
    fn graph(&self, cx: &Cx<'_, outlining::parts>) -> Result<Arc<Outlining>, NodeError> {
        Ok(cx.own_graph()?)
    }

    async fn items(&self, parts: &Parts, cx: &mut Cx<'_, outlining::parts>) -> Result<Vec<Item<Outlining>>, NodeError> {
        let deepest = cx.depth_limit::<outlining::parts>().is_some_and(|limit| cx.depth() + 1 >= limit);
        let item = |title: &String| Item::new(Topic { title: title.clone(), deepest }).with_key(title);
        Ok(parts.titles.iter().map(item).collect())
    }

    async fn gather(
        &self,
        _: Parts,
        children: Children<Outlining>,
        cx: &mut Cx<'_, outlining::parts>,
    ) -> Route<outlining::parts> {
        let title = cx.entry()?.title.clone();
        let parts = children.all().await.into_iter().map(|child| child.result).collect::<Result<_, _>>()?;
        goto!(cx, outlining::exit, Outline { title, parts })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = r#"turn = [
        { contains = ["parts has a railway?"], output = { titles = ["track", "trains"] } },
        { contains = ["parts has track?"], output = { titles = ["points"] } },
        { contains = ["parts has trains?"], output = { titles = [] } },
        { contains = ["parts has points? Give none."], output = { titles = [] } },
    ]"#;
    let run = Run::new(Outlining::default()).with_agent_for_others(ScriptedAgent::parse("outline.toml", script)?);
    let report = run.start(Topic { title: "a railway".into(), deepest: false }).await?;
    let leaf = |title: &str| Outline { title: title.into(), parts: Vec::new() };
    let track = Outline { title: "track".into(), parts: vec![leaf("points")] };
    let whole = Outline { title: "a railway".into(), parts: vec![track, leaf("trains")] };
    assert_eq!(report.outcome.finished(), Some(whole));
    Ok(())
}
