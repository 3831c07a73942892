//! A failure without a route ends the run and clears everything.

use super::play::{Play, join, logic, net};
use interlocking_core::frontier::Violation;
use interlocking_core::route::Step;

#[test]
fn an_abandoned_run_names_what_to_stop_and_has_ended() {
    let net = net([
        logic("split").fork(&["a", "b", "c"], &[]),
        logic("a").goto("meet", &[]),
        logic("b").goto("meet", &[]),
        logic("c").goto("c", &[]).goto("exit", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b", "c"]).unwrap();
    play.start();
    play.goto("a", "meet").unwrap();
    play.goto("c", "c").unwrap();
    assert_eq!(play.marking(), "b c meet.one", "one runs, one is due, one is half-filled");

    let running = play.execution("b");
    let outcome = Step::One(play.alternative("b", 0), play.token_in("b", "meet.two"));
    assert_eq!(play.frontier.abandon(), [running]);
    assert_eq!((play.marking().as_str(), play.frontier.running()), ("", 0));
    assert!(!play.frontier.has_due());
    assert_eq!(play.frontier.stuck(), None, "it has ended, and is not stuck");
    assert_eq!(play.exit(), None);
    assert_eq!(play.frontier.complete(running, outcome), Err(Violation::Stale));
    assert_eq!(play.marking(), "");
}
