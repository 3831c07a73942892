//! A branch of a fork may choose among targets, including a join's slot: that is how a branch is
//! skipped.

use super::play::{Play, join, logic, net};
use interlocking_core::net::Net;

fn skippable() -> Net {
    net([
        logic("split").fork(&["write", "check|meet.checked"], &[]),
        logic("write").goto("meet.written", &[]),
        logic("check").goto("meet.checked", &[]),
        join("meet", &[("written", "write"), ("checked", "check")]).goto("exit", &[]),
    ])
}

#[test]
fn a_branch_may_start_a_node() {
    let net = skippable();
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["write", "check"]).unwrap();
    assert_eq!(play.start(), "write(split) check(split)");
    play.goto("check", "meet.checked").unwrap();
    play.goto("write", "meet.written").unwrap();
    assert_eq!(play.start(), "meet(write, check)");
}

#[test]
fn a_branch_may_fill_the_slot_itself() {
    let net = skippable();
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["write", "meet.checked"]).unwrap();
    assert_eq!(play.marking(), "write meet.checked");
    assert_eq!(play.start(), "write(split)");
    play.goto("write", "meet.written").unwrap();
    assert_eq!(play.start(), "meet(write, split)", "the value is the fork's own");
}

#[test]
fn all_branches_may_fill_slots_and_the_join_is_due_at_once() {
    let net = net([
        logic("split").fork(&["a|meet.one", "b|meet.two"], &[]),
        logic("a").goto("meet.one", &[]),
        logic("b").goto("meet.two", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["meet.one", "meet.two"]).unwrap();
    assert_eq!(play.start(), "meet(split, split)");
}
