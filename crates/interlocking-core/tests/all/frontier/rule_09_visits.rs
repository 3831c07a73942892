//! `visits = n` counts the entries of a node; entry n + 1 takes the exhausted route before the handler runs.

use super::play::{Play, logic, net};

#[test]
fn entries_are_counted_from_one_and_the_one_beyond_the_bound_is_exhausted() {
    let net = net([
        logic("write").goto("review", &[]),
        logic("review").goto("write", &[]).goto("exit", &[]).visits(2).exhausted("give_up", &[]),
        logic("give_up").goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    assert_eq!(play.start(), "write(start)");
    for (reviewed, written) in [("review(write)", "write#2(review)"), ("review#2(write#2)", "write#3(review#2)")] {
        play.goto("write", "review").unwrap();
        assert_eq!(play.start(), reviewed);
        play.goto("review", "write").unwrap();
        assert_eq!(play.start(), written);
    }
    play.goto("write", "review").unwrap();
    assert_eq!(play.start(), "review#3(write#3)!visits=2", "told at the start, with the input that was not handled");
    play.exhausted("review").unwrap();
    assert_eq!(play.start(), "give_up(review#3)");
    assert_eq!(play.frontier.visits(net.node_named("review").unwrap()), 3);
    assert_eq!(play.frontier.visits(net.node_named("write").unwrap()), 3, "`write` has no bound");
}

#[test]
fn every_way_in_counts() {
    let net = net([
        logic("a").goto("work", &[]),
        logic("b").goto("work", &[]),
        logic("work").goto("b", &[]).goto("exit", &[]).visits(1),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.goto("a", "work").unwrap();
    assert_eq!(play.start(), "work(a)");
    play.goto("work", "b").unwrap();
    play.start();
    play.goto("b", "work").unwrap();
    assert_eq!(play.start(), "work#2(b)!visits=1");
}

#[test]
fn an_entry_that_was_cancelled_while_it_ran_has_counted_and_one_that_never_started_has_not() {
    let net = net([
        logic("split").fork(&["a", "work"], &[]),
        logic("a").goto("work", &["work"]),
        logic("work").goto("exit", &[]).visits(1),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "work"]).unwrap();
    play.start();
    play.goto("a", "work").unwrap();
    assert_eq!(play.start(), "work#2(a)!visits=1");

    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "work"]).unwrap();
    play.start_one();
    play.goto("a", "work").unwrap();
    assert_eq!(play.start(), "work(a)");
}

#[test]
fn unbounded_is_never_exhausted() {
    let net = net([logic("a").goto("a", &[]).unbounded()]);
    let mut play = Play::new(&net);
    play.start();
    for _ in 0..1000 {
        play.goto("a", "a").unwrap();
        assert!(!play.start().contains('!'));
    }
    assert_eq!(play.frontier.visits(0), 1001);
}
