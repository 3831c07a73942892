//! `times = n` bounds an edge: once a run has taken the edge n times, it takes the exhausted route instead.

use super::play::{Play, join, logic, net};
use interlocking_core::frontier::{Frontier, Payload, Violation};
use interlocking_core::net::{Net, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Table};

fn spent(from: &str, to: &str, times: u32) -> Result<String, Violation> {
    Err(Violation::EdgeSpent { from: from.into(), to: to.into(), times })
}

#[test]
fn an_edge_is_taken_as_often_as_it_may_be_and_then_its_route_is() {
    let net = net([
        logic("write").goto("review", &[]),
        logic("review").edge(Goto::new("write", &[]).times(2).exhausted(Goto::new("give_up", &[]))).goto("exit", &[]),
        logic("give_up").goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    for taken in 0..2 {
        play.goto("write", "review").unwrap();
        play.start();
        assert_eq!(play.taken("review", "write"), Some(taken));
        let early = play.instead_of("review", "write");
        assert_eq!(early, Err(Violation::NotInTable { from: "review".into() }), "its time has not come");
        play.goto("review", "write").unwrap();
        play.start();
    }
    play.goto("write", "review").unwrap();
    play.start();
    let before = format!("{:?}", play.frontier);
    assert_eq!(play.goto("review", "write"), spent("review", "write", 2));
    assert_eq!(format!("{:?}", play.frontier), before, "nothing has changed: the executor takes another way");
    play.instead_of("review", "write").unwrap();
    assert_eq!(play.start(), "give_up(review#3)");
    assert_eq!((play.taken("review", "write"), play.taken("write", "review")), (Some(2), None));
}

#[test]
fn each_edge_counts_for_itself() {
    let net = net([
        logic("a").edge(Goto::new("b", &[]).times(1)).edge(Goto::new("c", &[]).times(2)),
        logic("b").goto("a", &[]),
        logic("c").edge(Goto::new("a", &[]).times(1)).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    for (from, to) in [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")] {
        play.goto(from, to).unwrap();
        play.start();
    }
    assert_eq!(play.goto("a", "b"), spent("a", "b", 1));
    play.goto("a", "c").unwrap();
    play.start();
    assert_eq!(play.goto("c", "a"), spent("c", "a", 1));
    assert_eq!(["b", "c"].map(|to| play.taken("a", to)), [Some(1), Some(2)]);
}

#[test]
fn what_is_cancelled_has_been_taken_all_the_same_and_no_count_starts_afresh() {
    let net = net([
        logic("split").fork(&["a", "b"], &[]).visits(9),
        logic("a").edge(Goto::new("c", &[]).times(1)),
        logic("b").goto("split", &["a", "c"]),
        logic("c"),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    play.goto("a", "c").unwrap();
    play.goto("b", "split").unwrap();
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    assert_eq!(play.goto("a", "c"), spent("a", "c", 1), "`c` never ran, but the edge was taken");
}

#[test]
fn an_outcome_that_comes_late_takes_no_edge() {
    let net = net([
        logic("split").fork(&["a", "b"], &[]).visits(9),
        logic("a").edge(Goto::new("c", &[]).times(1)),
        logic("b").goto("split", &["a", "c"]),
        logic("c"),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    let (late, way) = (play.execution("a"), play.alternative("a", 0));
    let step = Step::One(way, play.token_in("a", "c"));
    play.goto("b", "split").unwrap();
    assert_eq!(play.frontier.complete(late, step), Err(Violation::Stale));
    assert_eq!(play.taken("a", "c"), Some(0));
}

#[test]
fn an_edge_into_a_slot_and_one_of_a_join_have_budgets_as_well() {
    let net = net([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").edge(Goto::new("meet.one", &[]).times(2)),
        logic("b").goto("meet.two", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).edge(Goto::new("split", &[]).times(1)).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    for round in 0..2 {
        play.start();
        play.fork("split", &["a", "b"]).unwrap();
        play.start();
        play.goto("a", "meet.one").unwrap();
        play.goto("b", "meet.two").unwrap();
        play.start();
        let again = play.goto("meet", "split");
        assert_eq!(again, if round == 0 { Ok(String::new()) } else { spent("meet", "split", 1) });
    }
    play.goto("meet", "exit").unwrap();
    assert_eq!((play.taken("a", "meet.one"), play.exit().is_some()), (Some(2), true));
}

#[test]
fn an_edge_of_a_node_to_itself_counts_in_the_whole_run() {
    let net = net([
        logic("work").edge(Goto::new("work", &[]).times(2)).goto("look", &[]),
        logic("look").goto("work", &[]).visits(3),
    ]);
    let mut play = Play::new(&net);
    play.start();
    for target in ["work", "look"] {
        play.goto("work", target).unwrap();
        play.start();
    }
    play.goto("look", "work").unwrap();
    play.start();
    play.goto("work", "work").unwrap();
    assert_eq!(play.start(), "work#4(work#3)", "without `attempts` it is a visit like any other");
    assert_eq!(play.goto("work", "work"), spent("work", "work", 2));
}

/// A token without a value.
#[derive(Clone, Debug)]
struct Token(PlaceIndex);

impl Payload for Token {
    fn place(&self) -> PlaceIndex {
        self.0
    }

    fn copy(&self) -> Option<Self> {
        None
    }
}

#[test]
fn a_redirect_counts_where_it_redirects() {
    let row = NodeRow::new("back", NodeKind::Event)
        .edge(Goto::new("a", &["b"]).times(1).exhausted(Goto::new("exit", &["*"])));
    let table =
        Table::new("Test", "T").with(logic("a").entry().goto("b", &[])).with(logic("b").goto("exit", &[])).with(row);
    let net = Net::new(table).unwrap();
    let place = |name| net.place_named(name).unwrap();
    let (event, edge) = (2, net.node(2).alternatives.start);
    let mut frontier = Frontier::new(&net, Token(net.entry()));
    let redirect = |frontier: &mut Frontier<'_, Token>| frontier.redirect(event, Step::One(edge, Token(place("a"))));
    assert_eq!(redirect(&mut frontier), Ok(None), "nothing is at `b`");
    assert_eq!(frontier.taken(edge), Some(0));
    let due = frontier.next_due().unwrap();
    frontier.complete(due.execution, Step::One(0, Token(place("b")))).unwrap();
    assert!(redirect(&mut frontier).unwrap().is_some());
    assert!(frontier.is_spent(edge));
    assert!(matches!(redirect(&mut frontier), Err(Violation::EdgeSpent { times: 1, .. })));
    let route = Step::One(edge + 1, Token(net.exit()));
    assert!(frontier.redirect(event, route).unwrap().is_some());
    assert!(frontier.has_ended());
}

#[test]
fn the_loop_of_an_edge_is_the_shortest_way_back() {
    let net = net([
        logic("plan").goto("write", &[]),
        logic("write").goto("look", &[]).goto("judge", &[]),
        logic("look").goto("judge", &[]),
        logic("judge").edge(Goto::new("plan", &[]).times(1)).edge(Goto::new("end", &[]).times(1)).goto("judge", &[]),
        logic("end"),
    ]);
    let judge = net.node(net.node_named("judge").unwrap()).alternatives.start;
    assert_eq!(net.loop_of(judge), ["judge", "plan", "write", "judge"]);
    assert_eq!(net.loop_of(judge + 1), [""; 0], "no way leads back");
    assert_eq!(net.loop_of(judge + 2), ["judge", "judge"]);
}
