//! A run is stuck when no node is due, no node runs and it has not ended. The reason is given in terms of the
//! graph.

use super::play::{Play, join, logic, net};
use interlocking_core::frontier::Violation;

#[test]
fn a_starved_join_is_named_with_what_it_has_and_lacks() {
    let net = net([
        logic("types").fork(&["skeleton", "adversary"], &[]),
        logic("skeleton").goto("gate", &[]),
        logic("adversary").goto("gate", &[]),
        join("gate", &[("skeleton", "skeleton"), ("adversary", "adversary")]).goto("fix", &[]).goto("exit", &[]),
        logic("fix").goto("skeleton", &[]),
    ]);
    let mut play = Play::new(&net);
    assert_eq!(play.frontier.stuck(), None, "the entry is due");
    play.start();
    assert_eq!(play.frontier.stuck(), None, "the entry runs");
    play.fork("types", &["skeleton", "adversary"]).unwrap();
    play.start();
    play.goto("skeleton", "gate").unwrap();
    assert_eq!(play.frontier.stuck(), None, "`adversary` runs, and will fill the other slot");
    play.goto("adversary", "gate").unwrap();
    for (node, target) in [("gate", "fix"), ("fix", "skeleton"), ("skeleton", "gate")] {
        play.start();
        play.goto(node, target).unwrap();
    }
    let deadlock = play.frontier.stuck().unwrap();
    let (filled, missing) = (vec!["gate.skeleton".into()], vec!["gate.adversary".into()]);
    assert_eq!(deadlock, Violation::Deadlock { filled, missing });
    assert_eq!(
        deadlock.to_string(),
        "nothing can run: `gate.skeleton` has a value, but nothing will fill `gate.adversary`"
    );
}

#[test]
fn a_deadlock_of_no_join_says_so() {
    let deadlock = Violation::Deadlock { filled: Vec::new(), missing: Vec::new() };
    assert_eq!(deadlock.to_string(), "nothing is left to do, and the exit was not reached");
}

#[test]
fn joins_that_hold_nothing_are_not_mentioned() {
    let net = net([
        logic("split").fork(&["a|full.one", "b"], &[]),
        logic("a").goto("empty.one", &[]),
        logic("b").goto("full.two", &["full.two"]).goto("full.two", &[]),
        join("full", &[("one", "a"), ("two", "b"), ("three", "!b")]).goto("exit", &[]),
        join("empty", &[("one", "a"), ("two", "b")]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["full.one", "b"]).unwrap();
    play.start();
    play.goto("b", "full.two").unwrap();
    let names = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
    let (filled, missing) = (names(&["full.one", "full.two"]), names(&["full.three"]));
    assert_eq!(play.frontier.stuck(), Some(Violation::Deadlock { filled, missing }));
}
