//! A quorum that clears one slot of another join while that join runs: the join's other slot keeps its value.

use crate::support::{Log, both_ways, finished, pass};
use interlocking::prelude::*;

/// A gate opens when both sides have come. A vote replaces the left side, although the gate was already opening.
#[derive(Graph)]
#[graph(output = String)]
struct Gatehouse {
    #[node(entry, input = (), fork(anna, bert, left, right))]
    call: ForkNode<Call>,
    #[node(input = (), goto(vote))]
    anna: LogicNode<Voter>,
    #[node(input = (), goto(vote))]
    bert: LogicNode<Voter>,
    #[node(input = (), goto(gate))]
    left: LogicNode<Side>,
    #[node(input = (), goto(gate))]
    right: LogicNode<Side>,
    #[node(join(anna: String, bert: String), quorum = 1, cancels(anna, bert, left, gate.left), goto(gate.left))]
    vote: JoinNode<Vote>,
    #[node(join(left: String from(left, vote), right: String), goto(exit, cancels(*)))]
    gate: JoinNode<Gate>,
}

held!(Gatehouse);

forks!(Call for gatehouse::call, |(): (), cx| fork!(cx, ((), (), (), ())));
struct Voter(u64);
struct Side;
macro_rules! voters {
    ($($node:ident),+) => { $(
        impl LogicHandler<gatehouse::$node> for Voter {
            async fn run(&self, (): (), cx: &mut Cx<'_, gatehouse::$node>) -> Route<gatehouse::$node> {
                pass(self.0).await;
                goto!(cx, gatehouse::vote, stringify!($node).to_owned())
            }
        }
    )+ };
}
voters!(anna, bert);
macro_rules! sides {
    ($($node:ident),+) => { $(
        impl LogicHandler<gatehouse::$node> for Side {
            async fn run(&self, (): (), cx: &mut Cx<'_, gatehouse::$node>) -> Route<gatehouse::$node> {
                pass(5).await;
                goto!(cx, gatehouse::gate, stringify!($node).to_owned())
            }
        }
    )+ };
}
sides!(left, right);
joins!(Vote for gatehouse::vote, |(anna, bert): (Option<String>, Option<String>), cx| {
    goto!(cx, gatehouse::gate_left, anna.or(bert).unwrap_or_default())
});
joins!(Gate for gatehouse::gate, |(left, right): (String, String), cx| {
    pass(100).await;
    goto!(cx, gatehouse::exit, format!("{left} and {right}"))
});

#[tokio::test(start_paused = true)]
async fn the_slot_that_a_quorum_leaves_has_its_value_still() {
    let graph = || Gatehouse {
        call: ForkNode(Call),
        anna: LogicNode(Voter(20)),
        bert: LogicNode(Voter(30)),
        left: LogicNode(Side),
        right: LogicNode(Side),
        vote: JoinNode(Vote),
        gate: JoinNode(Gate),
    };
    for run in both_ways(graph) {
        let log = Log::new();
        let report = run.with_events(log.sink()).start(()).await.unwrap();
        assert_eq!(log.line("cancelled gate 1.1"), "20 cancelled gate 1.1");
        assert_eq!(report.took.as_millis(), 20 + 100);
        assert_eq!(finished(report), "anna and right");
    }
}
