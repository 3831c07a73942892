//! A latched slot remembers its value for later rounds, until a new one arrives; it does not count at exit.

use super::play::{Play, double_token, join, live_at_exit, logic, net};
use interlocking_core::net::Net;

/// `impl` is written once and kept; `tests` may be written again, and `helper` writes `impl` again beside the loop.
fn kept() -> Net {
    net([
        logic("split").fork(&["tests", "impl", "helper"], &[]),
        logic("tests").goto("meet", &[]),
        logic("impl").goto("meet", &[]),
        logic("helper").goto("meet.impl", &[]).goto("idle", &[]),
        logic("idle").goto("exit", &[]),
        join("meet", &[("tests", "tests"), ("impl", "!impl")]).goto("tests", &[]).goto("exit", &[]),
    ])
}

/// The state after the first round: `meet` has started `tests` again, `helper` still runs.
fn second_round(net: &Net) -> Play<'_> {
    let mut play = Play::new(net);
    play.start();
    play.fork("split", &["tests", "impl", "helper"]).unwrap();
    play.start();
    play.goto("impl", "meet").unwrap();
    play.goto("tests", "meet").unwrap();
    assert_eq!(play.start(), "meet(tests, impl)");
    play.goto("meet", "tests").unwrap();
    assert_eq!(play.start(), "tests#2(meet)");
    play
}

#[test]
fn its_value_satisfies_later_rounds() {
    let net = kept();
    let mut play = second_round(&net);
    assert_eq!(play.marking(), "tests helper", "what is remembered is no token");
    play.goto("tests", "meet").unwrap();
    assert_eq!(play.start(), "meet#2(tests#2, impl)");
    play.goto("meet", "tests").unwrap();
    play.start();
    play.goto("tests", "meet").unwrap();
    assert_eq!(play.start(), "meet#3(tests#3, impl)");
}

#[test]
fn it_alone_does_not_fire_the_join() {
    let net = kept();
    let mut play = second_round(&net);
    play.goto("helper", "meet.impl").unwrap();
    assert_eq!(play.start(), "", "`tests` has no value in this round");
    assert_eq!(play.marking(), "tests meet.impl");
}

#[test]
fn a_new_arrival_overwrites_it() {
    let net = kept();
    let mut play = second_round(&net);
    play.goto("helper", "meet.impl").unwrap();
    play.goto("tests", "meet").unwrap();
    assert_eq!(play.start(), "meet#2(tests#2, helper)");
    play.goto("meet", "tests").unwrap();
    play.start();
    play.goto("tests", "meet").unwrap();
    assert_eq!(play.start(), "meet#3(tests#3, helper)", "the new value is remembered in turn");
}

#[test]
fn a_new_arrival_while_the_join_is_due_is_taken_and_the_join_fires_once() {
    let net = kept();
    let mut play = second_round(&net);
    play.goto("tests", "meet").unwrap();
    assert!(play.frontier.has_due(), "`meet` is full with what it remembers");
    play.goto("helper", "meet.impl").unwrap();
    assert_eq!(play.start(), "meet#2(tests#2, helper)");
    play.goto("meet", "exit").unwrap();
    assert_eq!(play.exit().as_deref(), Some("meet#2"));
}

#[test]
fn a_new_arrival_while_the_join_runs_belongs_to_the_next_round() {
    let net = kept();
    let mut play = second_round(&net);
    play.goto("tests", "meet").unwrap();
    assert_eq!(play.start(), "meet#2(tests#2, impl)");
    play.goto("helper", "meet.impl").unwrap();
    assert_eq!(play.start(), "", "it runs already");
    assert_eq!(play.marking(), "meet.tests meet.impl");
    play.goto("meet", "tests").unwrap();
    assert_eq!(play.marking(), "tests meet.impl", "the new value was not consumed by the round it came too late for");
    play.start();
    play.goto("tests", "meet").unwrap();
    assert_eq!(play.start(), "meet#3(tests#3, helper)");
}

#[test]
fn a_value_that_is_remembered_does_not_count_at_exit() {
    let net = kept();
    let mut play = second_round(&net);
    play.goto("tests", "meet").unwrap();
    play.start();
    play.goto("helper", "idle").unwrap();
    assert_eq!(play.goto("meet", "exit"), Err(live_at_exit("meet", &["idle"])), "only what is live stands in the way");

    let mut play = second_round(&net);
    play.goto("helper", "idle").unwrap();
    play.start();
    play.goto("tests", "meet").unwrap();
    assert_eq!(play.goto("idle", "exit"), Err(live_at_exit("idle", &["meet.tests"])), "`meet.impl` is only remembered");
}

#[test]
fn a_value_that_no_round_has_taken_yet_does_count_at_exit() {
    let net = kept();
    let mut play = second_round(&net);
    play.goto("tests", "meet").unwrap();
    play.start();
    play.goto("helper", "meet.impl").unwrap();
    assert_eq!(play.goto("meet", "exit"), Err(live_at_exit("meet", &["meet.impl"])));
}

#[test]
fn it_takes_one_arrival_a_round_like_any_slot() {
    let net = kept();
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["tests", "impl", "helper"]).unwrap();
    play.start();
    play.goto("impl", "meet").unwrap();
    assert_eq!(play.goto("helper", "meet.impl"), Err(double_token("helper", "meet.impl")));
}
