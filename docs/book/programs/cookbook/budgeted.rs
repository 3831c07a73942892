use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use interlocking::runtime::{Budgets, MemoryJournal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = Vec<String>)]
struct Research {
    #[node(entry, input = Subject, output = Finding, goto(search, exit), visits = unbounded, memory = Vec<String>)]
    search: LLMNode<Search>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(source = "What follows from this? {{ of }}", ext = "txt")]
struct Subject {
    of: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Finding {
    found: Option<String>,
}

#[derive(Default)]
struct Search;
impl ReplyHandler<research::search> for Search {
    async fn after(
        &self,
        _: Subject,
        reply: Reply<Finding>,
        cx: &mut Cx<'_, research::search>,
    ) -> Route<research::search> {
        let Some(found) = reply.output.found else {
            return goto!(cx, research::exit, cx.memory());
        };
        let of = found.clone();
        cx.update_memory(move |all| all.push(found.clone()));
        goto!(cx, self, Subject { of })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = r#"turn = [
        { contains = ["this? rain"], output = { found = "wet rails" } },
        { contains = ["this? wet rails"], output = { found = "longer braking" } },
        { contains = ["this? longer braking"], output = {} },
    ]"#;
    let agent = Arc::new(ScriptedAgent::parse("research.toml", script)?);
    let journal = Arc::new(MemoryJournal::new());
    let run = |calls| {
        let run = Run::new(Research::default()).with_agent_for_others(agent.clone()).with_journal(journal.clone());
        run.with_budgets(Budgets::unlimited().with_calls(calls))
    };

    // Two calls are not enough: the run stops, keeps its finished work, and reports which budget is exhausted.
    let report = run(2).start(Subject { of: "rain".into() }).await?;
    let Outcome::BudgetExhausted(used_up) = report.outcome else { return Err("it is short of calls".into()) };
    assert!(used_up.to_string().contains("calls"), "{used_up}");

    // With a larger budget the run continues from there: no call is repeated.
    let report = run(10).resume().await?;
    assert_eq!(report.usage().calls, 3);
    assert_eq!(report.outcome.finished(), Some(vec!["wet rails".to_owned(), "longer braking".to_owned()]));
    Ok(())
}
