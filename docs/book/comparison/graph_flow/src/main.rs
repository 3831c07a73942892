use async_trait::async_trait;
use graph_flow::{Context, ExecutionStatus, GraphBuilder, GraphError, NextAction, Session, Task, TaskResult};
use std::sync::Arc;

fn ask(prompt: &str) -> Option<String> {
    match prompt {
        "Write about interlockings." => Some("A short one".into()),
        "Is this worth reading? A short one" => Some("too short".into()),
        "Write about interlockings, but not: too short." => Some("Signals and points, at length".into()),
        _ => None,
    }
}

struct Write;
#[async_trait]
impl Task for Write {
    fn id(&self) -> &str {
        "write"
    }
    async fn run(&self, cx: Context) -> graph_flow::Result<TaskResult> {
        let prompt: String = cx.get("prompt").unwrap_or_default();
        let visits: u32 = cx.get("visits").unwrap_or(0);
        if visits == 3 {
            return Err(GraphError::ContextError("three articles were rejected".into()));
        }
        cx.set("visits", visits + 1)?;
        cx.set("article", ask(&format!("Write about {prompt}.")))?;
        Ok(TaskResult::new(None, NextAction::ContinueAndExecute))
    }
}

struct Judge;
#[async_trait]
impl Task for Judge {
    fn id(&self) -> &str {
        "judge"
    }
    async fn run(&self, cx: Context) -> graph_flow::Result<TaskResult> {
        let article: String = cx.get("article").unwrap_or_default();
        cx.set("rejected", ask(&format!("Is this worth reading? {article}")))?;
        Ok(TaskResult::new(None, NextAction::ContinueAndExecute))
    }
}

struct Gate;
#[async_trait]
impl Task for Gate {
    fn id(&self) -> &str {
        "gate"
    }
    async fn run(&self, cx: Context) -> graph_flow::Result<TaskResult> {
        let Some(rejected) = cx.get::<Option<String>>("rejected").flatten() else {
            return Ok(TaskResult::new(cx.get("article"), NextAction::End));
        };
        let topic: String = cx.get("topic").unwrap_or_default();
        cx.set("prompt", format!("{topic}, but not: {rejected}"))?;
        Ok(TaskResult::new(None, NextAction::ContinueAndExecute))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> graph_flow::Result<()> {
    let graph = GraphBuilder::new("newsroom")
        .add_task(Arc::new(Write))
        .add_task(Arc::new(Judge))
        .add_task(Arc::new(Gate))
        .add_edge("write", "judge")
        .add_edge("judge", "gate")
        .add_edge("gate", "write")
        .build()?;
    let mut session = Session::new_from_task("first".into(), "write");
    session.context.set("topic", "interlockings")?;
    session.context.set("prompt", "interlockings")?;
    let ended = graph.execute_session(&mut session).await?;
    assert!(matches!(ended.status, ExecutionStatus::Completed));
    assert_eq!(ended.response.as_deref(), Some("Signals and points, at length"));
    Ok(())
}
