//! Tables compiled to nets, and tables as JSON.

mod json;
mod quorum;

use crate::protocols;
use expect_test::{Expect, expect};
use interlocking_core::net::{Net, NetError};
use interlocking_core::table::{Goto, Isolation, NodeKind, NodeRow, Quorum, Table, Target};

fn logic(name: &str) -> NodeRow {
    NodeRow::new(name, NodeKind::Logic)
}

/// A table with these nodes; those without targets go to the exit.
fn table<const NODES: usize>(nodes: [NodeRow; NODES]) -> Table {
    let mut table = as_they_are(nodes);
    let is_beside = |row: &NodeRow| matches!(row.kind, NodeKind::Advisory | NodeKind::Observer | NodeKind::Event);
    for row in table.nodes.iter_mut().filter(|row| !is_beside(row) && row.goto.is_empty() && row.fork.is_none()) {
        row.goto.push(Goto::new("exit", &[]));
    }
    table
}

fn as_they_are<const NODES: usize>(nodes: [NodeRow; NODES]) -> Table {
    let mut table = Table::new("Test", "T");
    table.nodes = nodes.into();
    table
}

fn refused(table: Table, error: NetError, message: Expect) {
    let found = Net::new(table).unwrap_err();
    assert_eq!(found, error);
    message.assert_eq(&found.to_string());
}

fn unknown(node: &str, name: &str) -> NetError {
    NetError::Unknown { node: node.into(), name: name.into() }
}

#[test]
fn exactly_one_node_is_the_entry() {
    refused(
        table([logic("a"), logic("b")]),
        NetError::Entry { found: Vec::new() },
        expect!["no node is the entry: mark one"],
    );
    refused(
        table([logic("a").entry(), logic("b"), logic("c").entry()]),
        NetError::Entry { found: vec!["a".into(), "c".into()] },
        expect!["2 nodes are the entry (a, c): keep one"],
    );
    refused(Table::new("Empty", "T"), NetError::Entry { found: Vec::new() }, expect!["no node is the entry: mark one"]);
}

#[test]
fn a_name_stands_for_one_thing() {
    refused(
        table([logic("a").entry(), logic("a")]),
        NetError::Duplicate { name: "a".into() },
        expect!["`a` stands for two things: rename one"],
    );
    refused(
        table([logic("a").entry(), logic("exit")]),
        NetError::Duplicate { name: "exit".into() },
        expect!["`exit` stands for two things: rename one"],
    );
    let join = NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["a"], false).slot("one", "T", &["a"], false);
    refused(
        table([logic("a").entry(), join]),
        NetError::Duplicate { name: "meet.one".into() },
        expect!["`meet.one` stands for two things: rename one"],
    );
}

#[test]
fn a_name_stands_for_something() {
    let join = || NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["a"], false);
    refused(
        table([logic("a").entry().goto("b", &[])]),
        unknown("a", "b"),
        expect!["node `a` names `b`, which is not in the table"],
    );
    refused(
        table([logic("a").entry().goto("meet.two", &[]), join()]),
        unknown("a", "meet.two"),
        expect!["node `a` names `meet.two`, which is not in the table"],
    );
    refused(
        table([logic("a").entry().goto("a.one", &[])]),
        unknown("a", "a.one"),
        expect!["node `a` names `a.one`, which is not in the table"],
    );
    refused(
        table([logic("a").entry().fork(&["a|b"], &[])]),
        unknown("a", "b"),
        expect!["node `a` names `b`, which is not in the table"],
    );
    refused(
        table([logic("a").entry().exhausted("b", &[])]),
        unknown("a", "b"),
        expect!["node `a` names `b`, which is not in the table"],
    );
    let stranger = NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["stranger"], false);
    refused(
        table([logic("a").entry(), stranger]),
        unknown("meet", "stranger"),
        expect!["node `meet` names `stranger`, which is not in the table"],
    );
}

#[test]
fn a_region_names_what_can_hold_a_token() {
    let join = || NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["a"], false);
    for name in ["b", "meet.two", "exit", "", "mee"] {
        let with = |row: NodeRow| Net::new(table([row.entry(), join()])).unwrap_err();
        assert_eq!(with(logic("a").goto("a", &[name])), unknown("a", name));
        assert_eq!(with(logic("a").fork(&["a"], &[name])), unknown("a", name));
        assert_eq!(with(logic("a").exhausted("a", &[name])), unknown("a", name));
    }
    // A repeated name has no effect.
    for names in [&["*", "*"][..], &["a", "*"], &["a", "a"], &["meet", "meet.one"], &["meet.one", "meet.one"]] {
        let net = Net::new(table([logic("a").entry().goto("a", names), join()])).unwrap();
        let region = net.alternatives()[0].cancels.as_ref().unwrap();
        let cleared: Vec<&str> = region.places.iter().map(|place| net.places()[place].name.as_str()).collect();
        let expected: &[&str] = match names {
            [.., "*"] => &["a", "meet.one"],
            ["a", ..] => &["a"],
            _ => &["meet.one"],
        };
        assert_eq!((cleared.as_slice(), region.everything), (expected, names.contains(&"*")), "{names:?}");
    }
}

#[test]
fn a_bare_join_is_the_slot_that_names_the_source() {
    let join = NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["b"], false).slot("two", "T", &["a"], false);
    let net = Net::new(table([logic("a").entry().goto("meet", &[]), logic("b"), join.clone()])).unwrap();
    assert_eq!(net.alternatives()[0].branches, [[net.place_named("meet.two").unwrap()]]);
    refused(
        table([logic("a").entry(), logic("b"), logic("c").goto("meet", &[]), join]),
        NetError::NoSlot { node: "c".into(), join: "meet".into() },
        expect!["node `c` goes to join `meet`, none of whose slots names it as a source"],
    );
}

#[test]
fn slots_are_a_joins() {
    refused(
        table([logic("a").entry(), NodeRow::new("meet", NodeKind::Join)]),
        NetError::Slots { node: "meet".into() },
        expect!["node `meet`: a join has at least one slot, and no other node has any"],
    );
    refused(
        table([logic("a").entry().slot("one", "T", &["a"], false)]),
        NetError::Slots { node: "a".into() },
        expect!["node `a`: a join has at least one slot, and no other node has any"],
    );
}

#[test]
fn a_table_that_no_index_can_hold_is_refused() {
    let mut huge = table([logic("n0").entry()]);
    huge.nodes.extend((1..=65_536).map(|index| logic(&format!("n{index}")).goto("exit", &[])));
    refused(
        huge,
        NetError::TooLarge { count: 65_536 },
        expect!["65536 places or alternatives: at most 65,535 fit one table"],
    );
    let mut busy = logic("a").entry();
    busy.goto = vec![Goto::new("a", &[]); 65_537];
    assert!(matches!(Net::new(table([busy])), Err(NetError::TooLarge { .. })));
    let [mut first, mut second] = [logic("a").entry(), logic("b")];
    first.goto = vec![Goto::new("b", &[]); 40_000];
    second.goto = first.goto.clone();
    second.goto[39_999].times = Some(1);
    assert!(matches!(Net::new(table([first, second])), Err(NetError::TooLarge { count: 79_999 })));
}

#[test]
fn each_failure_has_one_route() {
    use interlocking_core::failure::{ChildFailure, FailureKind};
    use interlocking_core::frontier::Limit;
    let timed = || logic("a").entry().visits(2).exhausted("exit", &["*"]).timeout_ms(5);
    let both = timed().failed("b", &[]).timed_out("exit", &["*"]);
    let nets = [both, timed().failed("b", &[]), timed().timed_out("b", &[])].map(|row| {
        let net = Net::new(table([row, logic("b")])).unwrap();
        (net.node(0).exhausted, net.node(0).timed_out, net.node(0).failed, net)
    });
    let numbers: Vec<_> =
        nets.iter().map(|(exhausted, timed_out, failed, _)| (*exhausted, *timed_out, *failed)).collect();
    assert_eq!(numbers, [(Some(1), Some(2), Some(3)), (Some(1), None, Some(2)), (Some(1), Some(2), None)]);
    assert_eq!(nets[0].3.node(0).alternatives, 0..4);
    let routes = |kind: FailureKind| nets.each_ref().map(|(.., net)| net.node(0).route_of(&kind));
    assert_eq!(
        routes(FailureKind::Timeout { limit_ms: 5 }),
        [Some(2), Some(2), Some(2)],
        "`timed_out` before `failed`"
    );
    let child = FailureKind::Child(Box::new(ChildFailure::Cancelled));
    for kind in [FailureKind::Handler, FailureKind::Panic, FailureKind::Agent, FailureKind::Workspace, child] {
        assert_eq!(routes(kind), [Some(3), Some(2), None]);
    }
    for kind in [FailureKind::Configuration, FailureKind::Journal, FailureKind::Exhausted(Limit::Visits(2))] {
        assert_eq!(routes(kind), [None; 3], "no matter of the node");
    }
}

#[test]
fn places_and_alternatives_are_numbered_in_table_order() {
    let join = NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["a"], false).slot("two", "T", &["b"], true);
    let first = logic("a").goto("exit", &[]).exhausted("exit", &["*"]).fork(&["b|meet.one", "b"], &[]).goto("b", &[]);
    let last = logic("b").entry().visits(2).attempts(3).goto("b", &[]);
    let net = Net::new(table([first, join.goto("exit", &[]), last])).unwrap();
    let names: Vec<&str> = net.places().iter().map(|place| place.name.as_str()).collect();
    assert_eq!(names, ["a", "meet.one", "meet.two", "b", "exit"]);
    assert_eq!((net.entry(), net.exit()), (3, 4));
    assert!((0..).zip(&names).all(|(index, name)| net.place_named(name) == Some(index)));
    let branches: Vec<_> = net.alternatives().iter().map(|alternative| alternative.branches.clone()).collect();
    let rest = [vec![vec![4]], vec![vec![4]], vec![vec![3]]];
    assert_eq!(branches, [&[vec![vec![4]], vec![vec![3]], vec![vec![3, 1], vec![3]]], &rest[..]].concat());
    let [a, meet, b] = net.nodes() else { panic!("three nodes") };
    assert_eq!((a.alternatives.clone(), a.exhausted, meet.alternatives.clone()), (0..4, Some(3), 4..5));
    assert_eq!((meet.is_join, meet.places(), b.places()), (true, 1..3, 3..4));
    assert_eq!((a.visits, a.attempts, b.visits, b.attempts), (u32::MAX, None, 2, Some(3)));
    let plain: Vec<bool> = net.alternatives().iter().map(|alternative| alternative.plain).collect();
    assert_eq!(
        plain,
        [false, true, false, false, false, true],
        "only the goto that leads to one node and clears nothing"
    );
}

#[test]
fn a_slot_is_kept_if_it_is_latched_or_may_outlive_another_one() {
    let kept = |cancels: &[&str], latched: bool| {
        let join =
            |name| NodeRow::new(name, NodeKind::Join).slot("one", "T", &["a"], latched).slot("two", "T", &["a"], false);
        let net = Net::new(table([logic("a").entry().goto("exit", cancels), join("meet"), join("other")])).unwrap();
        let kept = net.places().iter().filter(|place| place.kept).map(|place| place.name.clone());
        kept.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(kept(&[], false), "");
    assert_eq!(kept(&[], true), "meet.one other.one");
    assert_eq!(kept(&["meet"], false), "", "all slots go at once: none outlives another");
    assert_eq!(kept(&["*"], false), "");
    assert_eq!(kept(&["meet.one"], false), "meet.two");
    assert_eq!(kept(&["meet.two"], true), "meet.one other.one");
    assert_eq!(kept(&["meet.one", "meet.two"], false), "");
    assert_eq!(kept(&["meet.one", "other"], true), "meet.one meet.two other.one");
}

#[test]
fn a_slot_is_kept_if_it_may_outlive_another_one_that_a_quorum_clears() {
    let kept = |cancels: &[&str]| {
        let join =
            |name| NodeRow::new(name, NodeKind::Join).slot("one", "T", &["a"], false).slot("two", "T", &["a"], false);
        let vote = join("vote").quorum(Quorum::AtLeast(1)).cancels(cancels);
        let net = Net::new(table([logic("a").entry(), vote, join("meet")])).unwrap();
        let kept = net.places().iter().filter(|place| place.kept).map(|place| place.name.clone());
        kept.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(kept(&["a"]), "");
    assert_eq!(kept(&["a", "meet"]), "");
    assert_eq!(kept(&["*"]), "", "its own slots are emptied when it is done, all of them");
    assert_eq!(kept(&["a", "meet.one"]), "meet.two");
}

#[test]
fn the_exit_has_no_slots() {
    refused(
        table([logic("a").entry().goto("exit.anything", &[])]),
        unknown("a", "exit.anything"),
        expect!["node `a` names `exit.anything`, which is not in the table"],
    );
}

#[test]
fn memory_groups_are_numbered_by_their_first_node() {
    let net = Net::new(table([
        logic("a").entry(),
        logic("b").memory("desk", "Notes"),
        logic("c").memory("own", "Own"),
        logic("d").memory("desk", "Notes"),
    ]));
    let net = net.unwrap();
    assert_eq!(net.memory_groups(), ["desk", "own"]);
    let groups: Vec<Option<u16>> = net.nodes().iter().map(|node| node.memory).collect();
    assert_eq!(groups, [None, Some(0), Some(1), Some(0)]);
}

#[test]
fn the_protocols_are_nets() {
    for (table, nodes, places) in
        [(protocols::hybrid(), 22, 25), (protocols::v3(), 11, 13), (protocols::scout_and_wave(), 22, 23)]
    {
        let graph = table.graph.clone();
        let net = Net::new(table).unwrap_or_else(|error| panic!("{graph}: {error}"));
        assert_eq!((net.nodes().len(), net.places().len()), (nodes, places), "{graph}");
        // Beyond every bound the run ends, even if other nodes are live.
        for node in net.nodes().iter().filter(|node| node.visits < u32::MAX) {
            let route = net.alternative(node.exhausted.unwrap()).unwrap();
            assert_eq!(route.branches, [[net.exit()]], "{graph}");
            assert!(route.cancels.as_ref().is_some_and(|region| region.everything), "{graph}");
        }
    }
}

#[test]
fn a_row_says_what_its_kind_can_do() {
    let kind = |name: &str, kind| NodeRow::new(name, kind);
    let start = || logic("a").entry().goto("exit", &[]);
    let join = || kind("meet", NodeKind::Join).slot("one", "T", &["a"], true).goto("exit", &[]);
    let event = || kind("message", NodeKind::Event).resume();
    let agent = || kind("agent", NodeKind::Llm).workspace("desk").goto("a", &[]);
    let recursive = |name: &str| kind(name, NodeKind::Graph).graph(&table([start()]).graph).goto("exit", &[]);
    let wrong = [
        table([kind("a", NodeKind::Event).entry().resume()]),
        table([start(), join()]),
        table([start(), join().slot("two", "T", &["a"], false).attempts(2)]),
        table([start(), kind("aside", NodeKind::Advisory).goto("exit", &[])]),
        table([start(), event().fork(&["a", "a"], &["*"])]),
        table([start(), event().goto("a", &[])]),
        table([start().resume()]),
        table([start().transient()]),
        table([start(), event().transient()]),
        table([start().goto("message", &[]), event()]),
        table([start().spawn("message"), event()]),
        table([start().spawn("nobody")]),
        table([start().visits(0)]),
        table([start().attempts(0)]),
        table([start().exclusive("")]),
        table([start(), kind("each", NodeKind::Map).goto("exit", &[]).exclusive("desk")]),
        table([start(), recursive("again").exclusive("desk")]),
        table([start(), kind("ask", NodeKind::Human).goto("exit", &[]).exclusive("desk")]),
        table([start(), kind("see", NodeKind::Observer).exclusive("desk")]),
        table([start().isolation(Isolation::Clone)]),
        table([start().workspace("desk").blind_to("a")]),
        table([agent().blind_to("a"), start().workspace("x")]),
        table([agent().isolation(Isolation::Worktree).blind_to("a"), start().workspace("x")]),
        table([agent().isolation(Isolation::Clone).blind_to("a"), start()]),
        table([agent().isolation(Isolation::Clone).blind_to("a"), start().workspace("desk")]),
        table([agent().isolation(Isolation::Clone).blind_to("nobody"), start()]),
    ];
    let messages: Vec<String> = wrong.map(|table| Net::new(table).unwrap_err().to_string()).into();
    expect![[r#"
        node `a`: a run starts with one token, which this kind of node does not take: enter elsewhere
        node `meet`: every slot is latched, so none would start a new round: free one
        node `meet`: a join does not try again by itself: bound it with `visits`
        node `aside`: it works beside the graph and leads nowhere: take its targets away
        node `message`: a message redirects the run to one target: no fork, no attempts
        node `message`: a redirect takes the run from somewhere: say what it clears, `cancels(…)`
        node `a`: only an event node, which takes no token, can leave the run as it is
        node `a`: only an event node takes messages, and may lose some: take its `transient` away
        node `message`: the run never waits for it, so all its messages would be lost: lead somewhere, or take its `transient` away
        node `a`: `message` is no target: it takes no token of the run
        node `a`: it can spawn advisory nodes only, and `message` is none
        node `a` names `nobody`, which is not in the table
        node `a`: with a budget of 0 it never runs: the least is 1
        node `a`: with a budget of 0 it never runs: the least is 1
        node `a`: `exclusive` names nothing: name what is not to overlap
        node `each`: its children would each wait for the others' turn: say `exclusive` at a graph node, or at the nodes of the child graph
        node `again`: it runs its own graph, whose run would wait for the turn that its parent has: take its `exclusive` away
        node `ask`: it waits for a person, and what is exclusive is never held while waiting: take its `exclusive` away
        node `see`: it sees and reports, and no more: take its `exclusive` away
        node `a`: no agent works in a workspace here, so nothing is isolated: give it both, or demand nothing
        node `a`: no agent works in a workspace here, so nothing is isolated: give it both, or demand nothing
        node `agent`: in a linked worktree nothing is hidden: to be blind takes `clone` or `sandbox`
        node `agent`: in a linked worktree nothing is hidden: to be blind takes `clone` or `sandbox`
        node `agent`: `a` works in no place of its own, so nothing of it can be hidden
        node `agent`: `a` works in no place of its own, so nothing of it can be hidden
        node `agent` names `nobody`, which is not in the table"#]]
    .assert_eq(&messages.join("\n"));
}

#[test]
fn a_budget_bounds_an_edge_that_a_handler_may_take_again() {
    let work = || logic("work").goto("a", &[]);
    let check = |goto: Goto, reason: Expect| {
        let net = Net::new(table([logic("a").entry().goto("exit", &[]).edge(goto), work()]));
        reason.assert_eq(&net.unwrap_err().to_string());
    };
    check(
        Goto::new("work", &[]).times(0),
        expect!["node `a`: with `times` of 0 its edge to `work` is never taken: the least is 1"],
    );
    check(
        Goto::new("exit", &["*"]).times(2),
        expect!["node `a`: a run goes to `exit` once: take the budget of that edge away"],
    );
    check(
        Goto::new("work", &[]).exhausted(Goto::new("exit", &[])),
        expect!["node `a`: its edge to `work` has no budget to exhaust: say `times`"],
    );
    check(
        Goto::new("work", &[]).times(2).exhausted(Goto::new("a", &[]).times(1)),
        expect!["node `a`: its route to `a` is no edge that a handler takes: it has no budget"],
    );
    let twice = logic("a").entry().goto("exit", &[]).edge(Goto::new("a", &[]).times(2)).attempts(3);
    refused(
        table([twice]),
        NetError::Unfit {
            node: "a".into(),
            reason: "its edge to itself has `attempts` already, and `times` would bound it twice: keep one".into(),
        },
        expect!["node `a`: its edge to itself has `attempts` already, and `times` would bound it twice: keep one"],
    );
    let event = NodeRow::new("message", NodeKind::Event);
    let event = event.edge(Goto::new("a", &["a"]).times(1).exhausted(Goto::new("exit", &[])));
    refused(
        table([logic("a").entry().goto("exit", &[]), event]),
        NetError::Unfit {
            node: "message".into(),
            reason: "a redirect takes the run from somewhere: say what it clears, `cancels(…)`".into(),
        },
        expect!["node `message`: a redirect takes the run from somewhere: say what it clears, `cancels(…)`"],
    );
}

#[test]
fn a_budgeted_edge_is_an_alternative_and_so_is_its_route() {
    let row = logic("a")
        .entry()
        .edge(Goto::new("b", &[]).times(2).exhausted(Goto::new("c", &["b"])))
        .goto("exit", &[])
        .edge(Goto::new("c", &[]).times(3))
        .fork(&["b", "c"], &[])
        .visits(9)
        .exhausted("exit", &["*"]);
    let net = Net::new(table([row, logic("b").goto("exit", &[]), logic("c").goto("exit", &[])])).unwrap();
    assert_eq!(net.node(0).alternatives, 0..6, "gotos, fork, exhausted route, routes of edges");
    let of = |at: u16| net.alternative(at).unwrap();
    assert_eq!(of(0).times.map(|times| (times.limit, times.exhausted)), Some((2, Some(5))));
    assert_eq!(of(2).times.map(|times| (times.limit, times.exhausted)), Some((3, None)));
    assert_eq!((net.node(0).exhausted, of(4).instead_of, of(5).instead_of), (Some(4), None, Some(0)));
    assert!([0, 2, 5].iter().all(|&at| !of(at).plain), "no shortcut leads past the counts");
    assert_eq!(net.features().budgeted_edges, 2);
}

#[test]
fn a_map_may_wait_for_some_of_its_children() {
    let map = |quorum| NodeRow::new("a", NodeKind::Map).entry().quorum(quorum);
    for quorum in [Quorum::AtLeast(1), Quorum::AtLeast(9), Quorum::Enough] {
        Net::new(table([map(quorum)])).unwrap();
    }
    let reason = "with a quorum of 0 it would wait for none of its children: the least is 1".to_owned();
    refused(
        table([map(Quorum::AtLeast(0))]),
        NetError::Unfit { node: "a".into(), reason },
        expect!["node `a`: with a quorum of 0 it would wait for none of its children: the least is 1"],
    );
}

#[test]
fn a_message_adds_items_to_maps() {
    let map = || NodeRow::new("a", NodeKind::Map).entry();
    let more = || NodeRow::new("more", NodeKind::Event).input("T");
    Net::new(table([map(), more().adds_to("a")])).unwrap();
    let unfit = |node: &str, reason: &str| NetError::Unfit { node: node.into(), reason: reason.into() };
    refused(
        table([map(), more().adds_to("b")]),
        unknown("more", "b"),
        expect!["node `more` names `b`, which is not in the table"],
    );
    refused(
        table([map(), logic("b"), more().adds_to("b")]),
        unfit("more", "it can add items to maps only, and `b` is none"),
        expect!["node `more`: it can add items to maps only, and `b` is none"],
    );
    refused(
        table([map(), logic("b").adds_to("a")]),
        unfit("b", "only an event node, which runs while a map does, adds items to it"),
        expect!["node `b`: only an event node, which runs while a map does, adds items to it"],
    );
}
