//! Branches that were stopped when the run came to its exit, while the graph makes the output.

use crate::support::{both_ways, finished, pass};
use interlocking::prelude::*;

/// The first of three branches ends the run; the second one is done in the same moment, and the third one is stopped.
#[derive(Graph)]
#[graph(output = u32)]
struct Race {
    #[node(entry, input = u32, fork(first, second, third), spawn(hint))]
    split: ForkNode<Split>,
    #[node(input = u32, goto(exit, cancels(second, third)))]
    first: LogicNode<First>,
    #[node(input = u32, goto(exit, cancels(first, third)))]
    second: LogicNode<Second>,
    #[node(input = u32, goto(exit, cancels(first, second)))]
    third: LogicNode<Third>,
    #[node(input = u32, report = u32, reports_to(exit), visits = 1)]
    hint: AdvisoryNode<Hint>,
}
forks!(Split for race::split, |number: u32, cx| fork!(cx, (number, number, number)));
logic!(First for race::first, |number: u32, cx| {
    pass(10).await;
    goto!(cx, race::exit, number)
});
logic!(Second for race::second, |number: u32, cx| {
    pass(10).await;
    goto!(cx, race::exit, number)
});
logic!(Third for race::third, |number: u32, cx| {
    pass(10_000).await;
    goto!(cx, race::exit, number)
});
struct Hint;
impl AdvisoryHandler<race::hint> for Hint {
    async fn advise(&self, number: u32, _: &mut Cx<'_, race::hint>) -> Result<u32, NodeError> {
        Ok(number)
    }
}
impl Finish for Race {
    async fn finish(&self, number: u32, _: interlocking::graph::ReportsOf<Self>) -> Result<u32, NodeError> {
        pass(50).await;
        Ok(number)
    }
}

held!(Race);

#[tokio::test(start_paused = true)]
async fn branches_that_were_stopped_at_the_exit_end_while_the_output_is_made() {
    let race = || Race {
        split: ForkNode(Split),
        first: LogicNode(First),
        second: LogicNode(Second),
        third: LogicNode(Third),
        hint: AdvisoryNode(Hint),
    };
    for run in both_ways(race) {
        let report = run.start(7).await.unwrap();
        assert_eq!(report.took.as_millis(), 60);
        assert_eq!(finished(report), 7);
    }
}
