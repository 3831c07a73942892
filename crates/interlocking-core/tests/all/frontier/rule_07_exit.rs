//! The exit is legal only when nothing else is live; a half-filled slot is live.

use super::play::{Play, double_token, join, live_at_exit, logic, net};

#[test]
fn it_is_illegal_while_another_node_is_due_or_runs() {
    let net = net([logic("split").fork(&["a", "b"], &[]), logic("a").goto("exit", &[]), logic("b").goto("exit", &[])]);
    for start_both in [false, true] {
        let mut play = Play::new(&net);
        play.start();
        play.fork("split", &["a", "b"]).unwrap();
        play.start_one();
        if start_both {
            play.start_one();
        }
        let error = play.goto("a", "exit").unwrap_err();
        assert_eq!(error, live_at_exit("a", &["b"]));
        assert_eq!(error.to_string(), "`a` went to exit while work is left at `b`");
        assert_eq!(play.exit(), None);
    }
}

#[test]
fn it_is_illegal_while_a_slot_is_half_filled() {
    let net = net([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").goto("meet", &[]),
        logic("b").goto("meet", &[]).goto("exit", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    play.goto("a", "meet").unwrap();
    assert_eq!(play.goto("b", "exit"), Err(live_at_exit("b", &["meet.one"])));
}

#[test]
fn it_is_always_legal_when_it_cancels_everything() {
    let net = net([
        logic("split").fork(&["a", "b", "c"], &[]),
        logic("a").goto("meet", &[]),
        logic("b").goto("meet", &[]).goto("exit", &["*"]),
        logic("c").goto("exit", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b", "c"]).unwrap();
    play.start();
    play.goto("a", "meet").unwrap();
    assert_eq!(play.goto("b", "exit"), Ok("c".into()));
    assert_eq!((play.marking().as_str(), play.frontier.running()), ("", 0));
    assert_eq!(play.exit().as_deref(), Some("b"));
    assert_eq!(play.exit(), None, "it is taken once");
}

#[test]
fn nothing_counts_after_it() {
    let net = net([logic("a").goto("exit", &[])]);
    let mut play = Play::new(&net);
    play.start();
    let execution = play.execution("a");
    play.goto("a", "exit").unwrap();
    assert!(!play.frontier.is_current(execution));
    assert!(play.frontier.next_due().is_none());
    assert_eq!(play.frontier.stuck(), None, "it has ended");
}

#[test]
fn a_branch_of_a_fork_to_exit_is_illegal_wherever_it_stands() {
    for branches in [["exit", "a"], ["a", "exit"]] {
        let net = net([logic("split").fork(&branches, &[]), logic("a").goto("exit", &[])]);
        let mut play = Play::new(&net);
        play.start();
        assert_eq!(play.fork("split", &branches), Err(live_at_exit("split", &["a"])), "{branches:?}");
        assert_eq!(play.exit(), None);
    }
}

#[test]
fn two_branches_to_exit_are_two_tokens() {
    let net = net([logic("split").fork(&["exit", "exit"], &[])]);
    let mut play = Play::new(&net);
    play.start();
    assert_eq!(play.fork("split", &["exit", "exit"]), Err(double_token("split", "exit")));
}
