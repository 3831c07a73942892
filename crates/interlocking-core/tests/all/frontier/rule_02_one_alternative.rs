//! A node consumes its input and takes exactly one alternative: one goto, or the whole fork.

use super::play::{Play, logic, net};

#[test]
fn a_goto_moves_the_token() {
    let net = net([logic("a").goto("b", &[]).goto("exit", &[]), logic("b").goto("exit", &[])]);
    let mut play = Play::new(&net);
    assert_eq!(play.marking(), "a", "queued");
    assert_eq!(play.start(), "a(start)");
    assert_eq!(play.marking(), "a", "running");
    assert_eq!(play.goto("a", "b"), Ok(String::new()));
    assert_eq!(play.marking(), "b");
    assert_eq!(play.start(), "b(a)");
    play.goto("b", "exit").unwrap();
    assert_eq!((play.marking().as_str(), play.exit().as_deref()), ("", Some("b")));
}

#[test]
fn a_fork_marks_every_branch_and_starts_them_in_table_order() {
    let net = net([
        logic("split").goto("exit", &[]).fork(&["c", "a", "b"], &[]),
        logic("a").goto("exit", &[]),
        logic("b").goto("exit", &[]),
        logic("c").goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["c", "a", "b"]).unwrap();
    assert_eq!(play.marking(), "a b c");
    assert_eq!(play.start(), "c(split) a(split) b(split)");
    assert_eq!(play.frontier.running(), 3);
}

#[test]
fn branches_end_in_any_order_and_hold_up_nobody() {
    let net = net([
        logic("split").fork(&["slow", "quick"], &[]),
        logic("slow").goto("exit", &["*"]),
        logic("quick").goto("after", &[]),
        logic("after").goto("exit", &["*"]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["slow", "quick"]).unwrap();
    play.start();
    play.goto("quick", "after").unwrap();
    assert_eq!(play.start(), "after(quick)", "while `slow` still runs");
    assert_eq!(play.goto("slow", "exit"), Ok("after".into()));
}

#[test]
fn an_outcome_counts_once() {
    let net = net([logic("a").goto("a", &[]).goto("exit", &[])]);
    let mut play = Play::new(&net);
    play.start();
    let first = play.execution("a");
    play.goto("a", "a").unwrap();
    assert!(!play.frontier.is_current(first), "it has been reported, and the next entry is only due");
    play.start();
    assert!(!play.frontier.is_current(first), "it has been reported, and the next entry runs");
    assert!(play.frontier.is_current(play.execution("a")));
}
