//! The executor is independent of the protocol.

use interlocking::prelude::*;

/// Counts down to the exit.
#[derive(Graph)]
#[graph(output = Vec<u32>)]
struct Countdown {
    #[node(entry, input = Vec<u32>, goto(exit, check))]
    step: LogicNode<Step>,
    #[node(input = Vec<u32>, goto(step), visits = 9)]
    check: LogicNode<Check>,
}

held!(Countdown);

struct Step;
impl LogicHandler<countdown::step> for Step {
    async fn run(&self, mut seen: Vec<u32>, cx: &mut Cx<'_, countdown::step>) -> Route<countdown::step> {
        match seen.last().copied() {
            Some(last) if last > 0 => {
                seen.push(last - 1);
                goto!(cx, countdown::check, seen)
            }
            _ => goto!(cx, countdown::exit, seen),
        }
    }
}

struct Check;
impl LogicHandler<countdown::check> for Check {
    async fn run(&self, seen: Vec<u32>, cx: &mut Cx<'_, countdown::check>) -> Route<countdown::check> {
        goto!(cx, countdown::step, seen)
    }
}

/// PRG-41: the executor that runs the Hybrid graph in the other tests also runs this graph, from entry to
/// exit.
#[tokio::test]
async fn the_same_executor_runs_it() {
    let graph = Countdown { step: LogicNode(Step), check: LogicNode(Check) };
    let report = Run::new(graph).start(vec![3]).await.unwrap();
    assert_eq!((report.visits_of("step"), report.visits_of("check")), (4, 3));
    assert_eq!(report.outcome.finished().unwrap(), [3, 2, 1, 0]);
}
