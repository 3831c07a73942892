//! Which execution of a node is live: the execution that runs, or that is due and may run.

use super::play::{Play, logic, net};
use interlocking_core::frontier::Execution;

#[test]
fn an_execution_is_live_from_when_it_is_due_until_it_ends() {
    let net = net([
        logic("work").goto("work", &[]).goto("review", &[]).attempts(2).visits(2),
        logic("review").goto("work", &[]).goto("exit", &[]),
    ]);
    let of = |node, visit, attempt| Some(Execution { node, visit, attempt });
    let mut play = Play::new(&net);
    assert_eq!(play.frontier.live(0), of(0, 1, 1), "it is due");
    play.start();
    assert_eq!((play.frontier.live(0), play.frontier.live(1)), (of(0, 1, 1), None));
    play.goto("work", "work").unwrap();
    assert_eq!(play.frontier.live(0), of(0, 1, 2));
    assert_eq!(play.start(), "work#1/2(work)", "it was the one that begins");
    play.goto("work", "review").unwrap();
    assert_eq!((play.frontier.live(0), play.frontier.live(1)), (None, of(1, 1, 1)));
    play.start();
    play.goto("review", "work").unwrap();
    assert_eq!(play.frontier.live(0), of(0, 2, 1));
    play.start();
    play.goto("work", "review").unwrap();
    play.start();
    play.goto("review", "work").unwrap();
    assert_eq!(play.frontier.live(0), None, "it is due, and may not run");

    let mut play = Play::new(&net);
    play.start();
    play.goto("work", "work").unwrap();
    play.start();
    play.goto("work", "work").unwrap();
    assert_eq!(play.frontier.live(0), None, "nor may a third attempt");
}

#[test]
fn nothing_is_live_after_the_exit() {
    let net = net([logic("work").goto("exit", &["*"]).fork(&["work", "other"], &[]), logic("other")]);
    let mut play = Play::new(&net);
    play.start();
    play.goto("work", "exit").unwrap();
    assert_eq!((play.frontier.live(0), play.frontier.live(1)), (None, None));
}
