//! Missing parts of a run are found before it starts; its report says what it used.

use crate::support::{Recording, finished, timed};
use askama::Template;
use interlocking::prelude::*;
use interlocking::runtime::StartError;
use interlocking::runtime::journal::JournalError;
use std::collections::BTreeMap;

#[derive(Template)]
#[template(source = "Go.", ext = "txt")]
struct Go;

#[derive(Graph)]
#[graph(output = u32)]
struct Office {
    #[node(entry, input = u32, prompt = Go, output = u32, goto(edit))]
    write: LLMNode<Work>,
    #[node(input = u32, prompt = Go, output = u32, goto(check), agent = "editor")]
    edit: LLMNode<Work>,
    #[node(input = u32, prompt = Go, output = u32, goto(count), agent = "editor")]
    check: LLMNode<Work>,
    #[node(input = u32, goto(exit))]
    count: LogicNode<Count>,
}

held!(Office);

struct Work;
macro_rules! work {
    ($($node:ident to $next:ident)*) => {$(
        impl LLMHandler<office::$node> for Work {
            async fn before<'a>(&'a self, _: &'a u32, _: &mut Cx<'_, office::$node>) -> Ask<Go> {
                Ok((Go, SessionOp::StartFresh(Slug::new("work")?)))
            }
            async fn after(
                &self,
                sum: u32,
                reply: Reply<u32>,
                cx: &mut Cx<'_, office::$node>,
            ) -> Route<office::$node> {
                goto!(cx, office::$next, sum + reply.output)
            }
        }
    )*};
}
work!(write to edit edit to check check to count);
logic!(Count for office::count, |sum: u32, cx| goto!(cx, office::exit, sum));

fn office() -> Run<Office> {
    let graph = Office { write: LLMNode(Work), edit: LLMNode(Work), check: LLMNode(Work), count: LogicNode(Count) };
    timed(graph)
}

const SCRIPT: &str = "[[turn]]\ntimes = 'any'\ndelay = '2s'\noutput_json = '1'\ncost = 0.1\n";

#[tokio::test(start_paused = true)]
async fn a_report_says_what_the_run_took() {
    let run = office().with_agent("write", Recording::new(SCRIPT)).with_agent_for_others(Recording::new(SCRIPT));
    let report = run.with_id("night-7".parse().unwrap()).start(40).await.unwrap();
    assert_eq!(report.run.as_str(), "night-7");
    assert_eq!(report.took.as_millis(), 6_000);
    assert_eq!(report.usage().to_string(), "$0.30 in 3 calls, 0 tokens in, 0 tokens out");
    let roles: Vec<_> = report.ledger.entries().iter().map(|entry| entry.role.as_deref()).collect();
    assert_eq!(roles, [Some("write"), Some("editor"), Some("editor")]);
    assert!(report.ledger.entries().iter().all(|entry| entry.agent == "recording"));
    assert_eq!(report.visits, [("write", 1), ("edit", 1), ("check", 1), ("count", 1)]);
    assert_eq!(finished(report), 43);
}

/// The entry value is stored like every other payload, so a value that cannot be stored is refused at
/// the start.
#[tokio::test]
async fn an_entry_value_that_cannot_be_stored_is_refused() {
    type Unstorable = BTreeMap<(u8, u8), u8>;
    #[derive(Graph)]
    #[graph(output = ())]
    struct Grid {
        #[node(entry, input = Unstorable, goto(exit))]
        only: LogicNode<Only>,
    }
    crate::held::is_held::<Grid>(module_path!());
    logic!(Only for grid::only, |_: Unstorable, cx| goto!(cx, grid::exit, ()));
    let run = || Run::new(Grid { only: LogicNode(Only) });
    let error = run().start(BTreeMap::from([((1, 2), 3)])).await.unwrap_err();
    assert!(matches!(error, StartError::Entry(JournalError::Encoding { .. })), "{error:?}");
    assert_eq!(error.to_string(), "the entry value cannot be stored: key must be a string");
    finished(run().start(BTreeMap::new()).await.unwrap());
}

/// A value that can be stored but is read back as another value, or not at all.
#[tokio::test]
async fn an_entry_value_that_does_not_come_back_is_refused() {
    #[derive(Graph)]
    #[graph(output = f64)]
    struct Half {
        #[node(entry, input = f64, goto(exit))]
        only: LogicNode<Only>,
    }
    crate::held::is_held::<Half>(module_path!());
    logic!(Only for half::only, |number: f64, cx| goto!(cx, half::exit, number / 2.0));
    let run = || Run::new(Half { only: LogicNode(Only) });
    let error = run().start(f64::NAN).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the entry value cannot be stored: invalid type: null, expected f64 at line 1 column 4"
    );
    assert_eq!(finished(run().start(5.0).await.unwrap()), 2.5);
}
