//! Joins: one meaning, regardless of how their slots are filled.

use crate::support::{Log, both_ways, finished, pass};
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Blind {
    #[node(entry, input = bool, fork(tests, implementation | gate.implementation))]
    split: ForkNode<Split>,
    #[node(input = u32, goto(quick, careful), visits = 4)]
    tests: LogicNode<Tests>,
    #[node(input = String, goto(gate))]
    quick: LogicNode<Quick>,
    #[node(input = String, goto(gate))]
    careful: LogicNode<Careful>,
    #[node(input = (), goto(gate))]
    implementation: LogicNode<Implementation>,
    /// The implementation is kept when only the tests are written again.
    #[node(join(tests: String from(quick, careful), implementation: String from(implementation, split) latched),
        goto(verify), memory = Vec<String>)]
    gate: JoinNode<Gate>,
    #[node(input = Vec<String>, goto(tests, exit))]
    verify: LogicNode<Verify>,
}

forks!(Split for blind::split, |skip: bool, cx| match skip {
    true => fork!(cx, (1, cx.branch::<blind::gate_implementation>("none".into()))),
    false => fork!(cx, (1, cx.branch::<blind::implementation>(()))),
});
logic!(Tests for blind::tests, |round: u32, cx| match round % 2 {
    1 => goto!(cx, blind::quick, format!("quick tests {round}")),
    _ => goto!(cx, blind::careful, format!("careful tests {round}")),
});
logic!(Quick for blind::quick, |tests: String, cx| goto!(cx, blind::gate, tests));
logic!(Careful for blind::careful, |tests: String, cx| {
    pass(100).await;
    goto!(cx, blind::gate, tests)
});
logic!(Implementation for blind::implementation, |_: (), cx| {
    pass(50).await;
    goto!(cx, blind::gate, "implementation".into())
});
joins!(Gate for blind::gate, |(tests, implementation): (String, String), cx| {
    cx.update_memory(move |rounds| rounds.push(format!("{tests} and {implementation}")));
    goto!(cx, blind::verify, cx.memory())
});
logic!(Verify for blind::verify, |rounds: Vec<String>, cx| match cx.visit() {
    3 => goto!(cx, blind::exit, rounds),
    visit => goto!(cx, blind::tests, visit + 1),
});

fn blind() -> Blind {
    Blind {
        split: ForkNode(Split),
        tests: LogicNode(Tests),
        quick: LogicNode(Quick),
        careful: LogicNode(Careful),
        implementation: LogicNode(Implementation),
        gate: JoinNode(Gate),
        verify: LogicNode(Verify),
    }
}

#[tokio::test(start_paused = true)]
async fn a_slot_with_several_sources_takes_from_each_and_a_latched_one_keeps_its_value() {
    for run in both_ways(blind) {
        let report = run.start(false).await.unwrap();
        assert_eq!(report.visits_of("implementation"), 1);
        assert_eq!(report.visits_of("gate"), 3, "once a complete round");
        assert_eq!(report.took.as_millis(), 50 + 100);
        assert_eq!(
            finished(report),
            [
                "quick tests 1 and implementation",
                "careful tests 2 and implementation",
                "quick tests 3 and implementation",
            ]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_is_skipped_fills_its_slot_itself() {
    for run in both_ways(blind) {
        let log = Log::new();
        let report = run.with_events(log.sink()).start(true).await.unwrap();
        assert_eq!(report.visits_of("implementation"), 0);
        assert_eq!(finished(report), ["quick tests 1 and none", "careful tests 2 and none", "quick tests 3 and none"]);
        assert_eq!(log.line("finished split 1.1"), "0 finished split 1.1 to tests+gate.implementation after 0");
    }
}

#[derive(Graph)]
#[graph(output = u32)]
struct Unequal {
    #[node(entry, input = u32, fork(one, two))]
    split: ForkNode<Part>,
    #[node(input = u32, goto(three))]
    one: LogicNode<One>,
    #[node(input = u32, goto(sum))]
    two: LogicNode<Two>,
    #[node(input = u32, goto(three, sum), visits = 5)]
    three: LogicNode<Three>,
    #[node(join(long: u32 from(three), short: u32 from(two)), goto(exit))]
    sum: JoinNode<Sum>,
}

held!(Blind, Unequal);

forks!(Part for unequal::split, |number: u32, cx| fork!(cx, (number, number)));
logic!(One for unequal::one, |number: u32, cx| goto!(cx, unequal::three, number));
logic!(Two for unequal::two, |number: u32, cx| goto!(cx, unequal::sum, number));
logic!(Three for unequal::three, |number: u32, cx| {
    pass(10).await;
    match cx.visit() {
        5 => goto!(cx, unequal::sum, number),
        _ => goto!(cx, self, number + 1),
    }
});
joins!(Sum for unequal::sum, |(long, short): (u32, u32), cx| goto!(cx, unequal::exit, 100 * long + short));

/// However different the paths to a join are, it fires once, when the last value has come.
#[tokio::test(start_paused = true)]
async fn unequal_branches_run_their_join_once() {
    let graph = || Unequal {
        split: ForkNode(Part),
        one: LogicNode(One),
        two: LogicNode(Two),
        three: LogicNode(Three),
        sum: JoinNode(Sum),
    };
    for run in both_ways(graph) {
        let log = Log::new();
        let report = run.with_events(log.sink()).start(1).await.unwrap();
        assert_eq!(report.visits_of("sum"), 1);
        assert_eq!(log.line("started sum 1.1"), "50 started sum 1.1");
        assert_eq!(finished(report), 501);
    }
}
