//! `relay`, the shortcut: either it has the same effect as completing a node and starting what is
//! due, or it changes nothing.

use super::play::{Play, Token, join, logic, net};
use interlocking_core::net::Net;
use interlocking_core::route::Step;

fn routes() -> Net {
    net([
        logic("a").goto("b", &[]).goto("a", &[]).goto("c", &["c"]).goto("exit", &[]).fork(&["b", "c"], &[]),
        logic("b").goto("a", &[]).goto("b", &[]).goto("meet", &[]).visits(2).attempts(2),
        logic("c").goto("b", &[]).goto("meet", &[]),
        join("meet", &[("one", "b"), ("two", "c")]).goto("a", &[]),
    ])
}

/// Relays, and compares the result with a second run that completes and starts.
fn relayed<'n>(play: &mut Play<'n>, slow: &mut Play<'n>, node: &str, step: &Step<Token>) -> Option<String> {
    let before = format!("{:?}", play.frontier);
    let moved = play.frontier.relay(play.execution(node), step);
    match moved {
        None => assert_eq!(format!("{:?}", play.frontier), before, "no relay, no change"),
        Some(moved) => {
            slow.end(node, step.clone()).unwrap();
            let due = slow.frontier.next_due().unwrap();
            assert_eq!((due.execution, due.exhausted), (moved, None));
            assert_eq!(format!("{:?}", play.frontier), format!("{:?}", slow.frontier));
        }
    }
    moved.map(|moved| play.label(moved))
}

#[test]
fn it_follows_plain_edges_alone() {
    let net = routes();
    let cases = [
        ("to another node", Step::One(0, "b"), Some("b")),
        ("to itself", Step::One(1, "a"), Some("a#2")),
        ("with a region to clear", Step::One(2, "c"), None),
        ("to the exit", Step::One(3, "exit"), None),
        ("a fork", Step::All(4, vec!["b", "c"]), None),
        ("to a place where the edge does not lead", Step::One(0, "c"), None),
        ("along an edge of another node", Step::One(5, "a"), None),
        ("along no edge", Step::One(99, "a"), None),
        ("nowhere", Step::Stay, None),
    ];
    for (what, step, expected) in cases {
        let (mut play, mut slow) = (Play::new(&net), Play::new(&net));
        play.start();
        slow.start();
        let step = match step {
            Step::One(alternative, place) => Step::One(alternative, play.token_in("a", place)),
            Step::All(alternative, places) => {
                Step::All(alternative, places.into_iter().map(|place| play.token_in("a", place)).collect())
            }
            Step::Stay => Step::Stay,
        };
        assert_eq!(relayed(&mut play, &mut slow, "a", &step).as_deref(), expected, "{what}");
    }
}

#[test]
fn it_leaves_bounds_and_joins_to_the_slow_way() {
    let net = routes();
    let at_b = || {
        let mut play = Play::new(&net);
        play.start();
        play.goto("a", "b").unwrap();
        play.start();
        play
    };
    let (mut play, mut slow) = (at_b(), at_b());
    let to_itself = Step::One(play.alternative("b", 1), play.token_in("b", "b"));
    let to_join = Step::One(play.alternative("b", 2), play.token_in("b", "meet.one"));
    assert_eq!(relayed(&mut play, &mut slow, "b", &to_join), None, "a join may not be full");
    assert_eq!(relayed(&mut play, &mut slow, "b", &to_itself).as_deref(), Some("b#1/2"));

    let mut play = at_b();
    play.goto("b", "b").unwrap();
    play.start();
    let mut slow = at_b();
    assert_eq!(relayed(&mut play, &mut slow, "b", &to_itself), None, "a third attempt is exhausted");
    let mut slow = at_b();
    slow.goto("b", "b").unwrap();
    slow.start();
    for play in [&mut play, &mut slow] {
        play.goto("b", "a").unwrap();
        play.start();
    }
    let to_b = Step::One(play.alternative("a", 0), play.token_in("a", "b"));
    assert_eq!(relayed(&mut play, &mut slow, "a", &to_b).as_deref(), Some("b#2"), "the last visit that is allowed");

    let mut play = at_b();
    for _ in 0..2 {
        play.goto("b", "a").unwrap();
        play.start();
        if play.frontier.visits(1) < 2 {
            play.goto("a", "b").unwrap();
            play.start();
        }
    }
    let to_b = Step::One(play.alternative("a", 0), play.token_in("a", "b"));
    assert_eq!(relayed(&mut play, &mut slow, "a", &to_b), None, "a third visit is exhausted");
}

#[test]
fn it_does_not_overtake_what_is_due() {
    let net = routes();
    let mut play = Play::new(&net);
    play.start();
    play.fork("a", &["b", "c"]).unwrap();
    play.start_one();
    let step = Step::One(play.alternative("b", 0), play.token_in("b", "a"));
    assert_eq!(play.frontier.relay(play.execution("b"), &step), None, "`c` is due, and first");
    play.start();
    let step = Step::One(play.alternative("c", 0), play.token_in("c", "b"));
    assert_eq!(play.frontier.relay(play.execution("c"), &step), None, "`b` holds a token: an error to report");
}

#[test]
fn an_outcome_that_no_longer_counts_is_not_relayed() {
    let net = routes();
    let mut play = Play::new(&net);
    play.start();
    let first = play.execution("a");
    let step = Step::One(play.alternative("a", 1), play.token_in("a", "a"));
    assert!(play.frontier.relay(first, &step).is_some());
    assert_eq!(play.frontier.relay(first, &step), None, "reported before");
}
