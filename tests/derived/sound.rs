//! Graphs that the soundness check accepts: a cycle declared as unbounded, and a latch.

use interlocking::agent_calls::AgentCalls;
use interlocking::graph::Graph as _;
use interlocking::prelude::*;
use interlocking::soundness::{Verdict, check};
use interlocking::table::Visits;

/// Polls until there is something, however long that takes.
#[derive(Graph)]
#[graph(output = u32)]
struct Watch {
    #[node(entry, input = u32, goto(poll, exit), visits = unbounded)]
    poll: LogicNode<Poll>,
}

struct Poll;
impl LogicHandler<watch::poll> for Poll {
    async fn run(&self, polls: u32, cx: &mut Cx<'_, watch::poll>) -> Route<watch::poll> {
        if polls == 1_000 { goto!(cx, watch::exit, polls) } else { goto!(cx, self, polls + 1) }
    }
}

#[tokio::test]
async fn an_unbounded_cycle_is_accepted_where_it_says_so() {
    assert_eq!(Watch::net().row(0).visits, Some(Visits::Unbounded));
    let report = Run::new(Watch { poll: LogicNode(Poll) }).start(0).await.expect("it needs nothing");
    assert_eq!(report.outcome.finished(), Some(1_000));
}

/// The derive calls the same function.
#[test]
fn what_compiles_is_sound() {
    for net in [Watch::net(), Latched::net()] {
        assert!(matches!(check(net), Verdict::Sound { .. }), "{:?}", check(net));
    }
}

/// V3's loop: the tests are written again, the children's merges are kept.
#[derive(Graph)]
#[graph(output = u32)]
struct Latched {
    #[node(entry, input = u32, fork(write_tests, barrier.merges))]
    fork: ForkNode<Fork>,
    #[node(input = u32, goto(barrier), visits = 12)]
    write_tests: LogicNode<WriteTests>,
    #[node(join(tests: u32 from(write_tests), merges: u32 from(fork) latched), goto(write_tests, exit))]
    barrier: JoinNode<Barrier>,
}

held!(Watch, Latched);

struct Fork;
impl ForkHandler<latched::fork> for Fork {
    async fn fork(&self, merges: u32, cx: &mut Cx<'_, latched::fork>) -> Route<latched::fork> {
        fork!(cx, (0, merges))
    }
}

struct WriteTests;
impl LogicHandler<latched::write_tests> for WriteTests {
    async fn run(&self, tests: u32, cx: &mut Cx<'_, latched::write_tests>) -> Route<latched::write_tests> {
        goto!(cx, latched::barrier, tests + 1)
    }
}

struct Barrier;
impl JoinHandler<latched::barrier> for Barrier {
    async fn join(&self, (tests, merges): (u32, u32), cx: &mut Cx<'_, latched::barrier>) -> Route<latched::barrier> {
        if tests < 3 { goto!(cx, latched::write_tests, tests) } else { goto!(cx, latched::exit, tests * merges) }
    }
}

#[tokio::test]
async fn a_latched_value_serves_every_round() {
    let graph = Latched { fork: ForkNode(Fork), write_tests: LogicNode(WriteTests), barrier: JoinNode(Barrier) };
    let report = Run::new(graph).start(7).await.expect("it needs nothing");
    assert_eq!(report.outcome.finished(), Some(21));
}

#[test]
fn the_table_says_how_many_agent_calls_a_run_makes() {
    let none = AgentCalls { at_most: Some(0), exact: true };
    assert_eq!((Watch::AGENT_CALLS, Latched::AGENT_CALLS), (none, none), "no node of theirs has an agent");
}
