//! A join fires once when every slot has a value, and then its slots are empty (HY-63, HY-256).

use super::play::{Play, join, logic, net};
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow};

fn rounds() -> Net {
    net([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").goto("meet", &[]),
        logic("b").goto("meet", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).goto("split", &[]).goto("a", &[]).goto("exit", &[]),
    ])
}

fn forked(net: &Net) -> Play<'_> {
    let mut play = Play::new(net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    play
}

#[test]
fn it_waits_for_the_last_slot_whichever_comes_first() {
    let net = rounds();
    for (first, second, half) in [("a", "b", "b meet.one"), ("b", "a", "a meet.two")] {
        let mut play = forked(&net);
        play.goto(first, "meet").unwrap();
        assert_eq!(play.marking(), half);
        assert_eq!(play.start(), "", "`meet` has one value of two");
        play.goto(second, "meet").unwrap();
        assert_eq!(play.start(), "meet(a, b)", "slots come in table order, not in the order of arrival");
    }
}

#[test]
fn it_fires_exactly_once_a_full_set() {
    let net = rounds();
    let mut play = forked(&net);
    for (set, fired) in [(1, "meet(a, b)"), (2, "meet#2(a#2, b#2)"), (3, "meet#3(a#3, b#3)")] {
        play.goto("a", "meet").unwrap();
        play.goto("b", "meet").unwrap();
        assert_eq!(play.start(), fired);
        assert_eq!(play.start(), "", "once");
        assert_eq!(play.frontier.visits(net.node_named("meet").unwrap()), set);
        play.goto("meet", "split").unwrap();
        assert_eq!(play.marking(), "split", "the slots are empty again");
        play.start();
        play.fork("split", &["a", "b"]).unwrap();
        play.start();
    }
}

#[test]
fn a_value_of_an_earlier_round_never_satisfies_a_later_one() {
    let net = rounds();
    let mut play = forked(&net);
    play.goto("a", "meet").unwrap();
    play.goto("b", "meet").unwrap();
    play.start();
    play.goto("meet", "a").unwrap();
    assert_eq!(play.start(), "a#2(meet)");
    play.goto("a", "meet").unwrap();
    assert_eq!(play.start(), "", "slot `two` had a value in the first round and has none in the second");
    assert_eq!(play.marking(), "meet.one");
}

#[test]
fn a_slot_may_have_several_sources() {
    let net = net([
        logic("split").fork(&["a|c", "b"], &[]),
        logic("a").goto("meet", &[]),
        logic("c").goto("meet", &[]),
        logic("b").goto("meet", &[]),
        NodeRow::new("meet", NodeKind::Join)
            .slot("one", "T", &["a", "c"], false)
            .slot("two", "T", &["b"], false)
            .goto("exit", &[]),
    ]);
    for (source, fired) in [("a", "meet(a, b)"), ("c", "meet(c, b)")] {
        let mut play = Play::new(&net);
        play.start();
        play.fork("split", &[source, "b"]).unwrap();
        play.start();
        play.goto("b", "meet").unwrap();
        play.goto(source, "meet").unwrap();
        assert_eq!(play.start(), fired);
    }
}
