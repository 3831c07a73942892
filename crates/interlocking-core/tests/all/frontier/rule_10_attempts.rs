//! `attempts = n` bounds a node's edge to itself. The count restarts on entry from another node.

use super::play::{Play, logic, net};

#[test]
fn it_bounds_the_edge_from_the_node_to_itself() {
    let net = net([
        logic("work").goto("work", &[]).goto("exit", &[]).attempts(3).visits(1).exhausted("give_up", &[]),
        logic("give_up").goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    assert_eq!(play.start(), "work(start)");
    for attempted in ["work#1/2(work)", "work#1/3(work#1/2)"] {
        play.goto("work", "work").unwrap();
        assert_eq!(play.start(), attempted, "another attempt is no visit: `visits = 1` allows it");
    }
    play.goto("work", "work").unwrap();
    assert_eq!(play.start(), "work#1/4(work#1/3)!attempts=3");
    play.exhausted("work").unwrap();
    assert_eq!(play.start(), "give_up(work#1/4)");
    assert_eq!(play.frontier.visits(0), 1);
}

#[test]
fn it_starts_afresh_on_entry_from_another_node() {
    let net = net([
        logic("work").goto("work", &[]).goto("review", &[]).attempts(2),
        logic("review").goto("work", &[]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.goto("work", "work").unwrap();
    assert_eq!(play.start(), "work#1/2(work)");
    play.goto("work", "review").unwrap();
    play.start();
    play.goto("review", "work").unwrap();
    assert_eq!(play.start(), "work#2(review)");
    play.goto("work", "work").unwrap();
    assert_eq!(play.start(), "work#2/2(work#2)");
    play.goto("work", "work").unwrap();
    assert_eq!(play.start(), "work#2/3(work#2/2)!attempts=2");
}

#[test]
fn without_it_an_entry_from_itself_is_a_visit() {
    let net = net([logic("work").goto("work", &[]).goto("exit", &[]).visits(2)]);
    let mut play = Play::new(&net);
    play.start();
    play.goto("work", "work").unwrap();
    assert_eq!(play.start(), "work#2(work)");
    play.goto("work", "work").unwrap();
    assert_eq!(play.start(), "work#3(work#2)!visits=2");
}

#[test]
fn an_attempt_that_was_cancelled_before_it_started_leaves_a_fresh_count() {
    let net = net([
        logic("split").fork(&["work", "a"], &[]),
        logic("work").goto("work", &[]).goto("exit", &[]).attempts(2),
        logic("a").goto("work", &["work"]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["work", "a"]).unwrap();
    play.start();
    play.goto("work", "work").unwrap();
    play.goto("a", "work").unwrap();
    assert_eq!(play.start(), "work#2(a)", "from another node: a visit, and its first attempt");
}
