//! A quorum that is reached in several rounds: nothing of one round is left in the next.

use crate::support::{both_ways, finished, pass};
use interlocking::prelude::*;

/// Two of three lamps are enough, twice; the third is always late.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Signals {
    #[node(entry, input = u32, fork(red | meet.red, green, blue), visits = 3)]
    begin: ForkNode<Begin>,
    #[node(input = u32, goto(meet))]
    red: LogicNode<Lamp>,
    #[node(input = u32, goto(meet))]
    green: LogicNode<Lamp>,
    #[node(input = u32, goto(meet))]
    blue: LogicNode<Lamp>,
    #[node(join(red: u32 from(begin, red), green: u32, blue: u32), quorum = 2, cancels(red, green, blue),
        goto(begin, exit), memory = Vec<String>)]
    meet: JoinNode<Meet>,
}

held!(Signals);

// In the second round red is skipped: its slot is filled, and does not count.
forks!(Begin for signals::begin, |round: u32, cx| {
    let red = match round {
        2 => cx.branch::<signals::meet_red>(0),
        _ => cx.branch::<signals::red>(round),
    };
    fork!(cx, (red, round, round))
});
struct Lamp(u64);
macro_rules! lamps {
    ($($node:ident),+) => { $(
        impl LogicHandler<signals::$node> for Lamp {
            async fn run(&self, round: u32, cx: &mut Cx<'_, signals::$node>) -> Route<signals::$node> {
                pass(self.0).await;
                goto!(cx, signals::meet, round)
            }
        }
    )+ };
}
lamps!(red, green, blue);
joins!(Meet for signals::meet, |lamps: (Option<u32>, Option<u32>, Option<u32>), cx| {
    cx.update_memory(move |seen| seen.push(format!("{lamps:?}")));
    match cx.visit() {
        round @ 1..3 => goto!(cx, signals::begin, round + 1),
        _ => goto!(cx, signals::exit, cx.memory()),
    }
});

#[tokio::test(start_paused = true)]
async fn each_round_begins_empty() {
    let graph = || Signals {
        begin: ForkNode(Begin),
        red: LogicNode(Lamp(10)),
        green: LogicNode(Lamp(20)),
        blue: LogicNode(Lamp(30)),
        meet: JoinNode(Meet),
    };
    for run in both_ways(graph) {
        let report = run.start(1).await.unwrap();
        assert_eq!(report.took.as_millis(), 20 + 30 + 20);
        let [first, second, third] = <[String; 3]>::try_from(finished(report)).unwrap();
        assert_eq!(first, "(Some(1), Some(1), None)");
        assert_eq!(second, "(Some(0), Some(2), Some(2))", "who is skipped fills a slot, and does not count");
        assert_eq!(third, "(Some(3), Some(3), None)");
    }
}
