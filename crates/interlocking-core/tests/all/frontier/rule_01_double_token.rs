//! A place holds at most one token, queued and running counted alike.

use super::play::{Play, double_token, join, logic, net};
use interlocking_core::net::Net;

fn two_ways_into_one_node() -> Net {
    net([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").goto("work", &[]),
        logic("b").goto("work", &[]),
        logic("work").goto("exit", &[]),
    ])
}

#[test]
fn a_second_token_is_an_error_while_the_first_is_queued() {
    let net = two_ways_into_one_node();
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    play.goto("a", "work").unwrap();
    assert_eq!(play.frontier.running(), 1, "`work` is due and does not run");
    assert_eq!(play.goto("b", "work"), Err(double_token("b", "work")));
}

#[test]
fn a_second_token_is_an_error_while_the_first_runs() {
    let net = two_ways_into_one_node();
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    play.goto("a", "work").unwrap();
    assert_eq!(play.start(), "work(a)");
    let error = play.goto("b", "work").unwrap_err();
    assert_eq!(error, double_token("b", "work"));
    assert_eq!(error.to_string(), "`b` sent a second token to `work`, which holds one already");
}

#[test]
fn two_branches_of_one_fork_are_two_tokens() {
    let net = net([logic("split").fork(&["work", "work"], &[]), logic("work").goto("exit", &[])]);
    let mut play = Play::new(&net);
    play.start();
    assert_eq!(play.fork("split", &["work", "work"]), Err(double_token("split", "work")));
}

#[test]
fn a_slot_that_has_its_value_takes_no_second_one() {
    let net = net([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").goto("meet.one", &[]),
        logic("b").goto("meet.one", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    play.goto("a", "meet.one").unwrap();
    assert_eq!(play.goto("b", "meet.one"), Err(double_token("b", "meet.one")));
}

#[test]
fn a_slot_of_a_running_join_takes_no_second_one() {
    let net = net([
        logic("split").fork(&["a", "b", "c"], &[]),
        logic("a").goto("meet.one", &[]),
        logic("b").goto("meet.two", &[]),
        logic("c").goto("meet.one", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b", "c"]).unwrap();
    play.start();
    play.goto("a", "meet.one").unwrap();
    play.goto("b", "meet.two").unwrap();
    assert_eq!(play.start(), "meet(a, b)");
    assert_eq!(play.goto("c", "meet.one"), Err(double_token("c", "meet.one")));
}

#[test]
fn a_node_that_goes_to_itself_sends_no_second_token() {
    let net = net([logic("again").goto("again", &[]).goto("exit", &[])]);
    let mut play = Play::new(&net);
    assert_eq!(play.start(), "again(start)");
    play.goto("again", "again").unwrap();
    assert_eq!(play.start(), "again#2(again)");
}
