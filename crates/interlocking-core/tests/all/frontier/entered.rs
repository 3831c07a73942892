//! A run whose only token is taken at once, without being queued: it equals a run that is made and
//! then started.

use super::play::{Play, Token, join, logic, net};
use interlocking_core::frontier::{Frontier, Payload as _, Single};
use interlocking_core::route::Step;

/// The observable state of a run.
fn seen(frontier: &Frontier<'_, Token>) -> impl PartialEq + std::fmt::Debug {
    let marking: Vec<_> = frontier.marking().collect();
    let (executions, entries): (Vec<_>, Vec<_>) = (frontier.executions().collect(), frontier.entries().collect());
    (marking, executions, entries, frontier.due(), frontier.running(), frontier.has_ended(), frontier.stuck())
}

#[test]
fn a_single_run_goes_on_as_any_other() {
    let net = net([
        logic("a").goto("b", &[]).goto("a", &[]).goto("exit", &["b", "meet"]).fork(&["b", "c"], &[]),
        logic("b").goto("meet", &[]),
        logic("c").goto("meet", &[]),
        join("meet", &[("one", "b"), ("two", "c")]).goto("exit", &[]),
    ]);
    type Places = &'static [&'static str];
    let cases: [(u16, Places); 5] = [(0, &["b"]), (1, &["a"]), (2, &["exit"]), (3, &["b", "c"]), (7, &["b"])];
    for (alternative, places) in cases {
        let mut play = Play::new(&net);
        play.start();
        let single = Single::entered(&net);
        let execution = single.first();
        assert_eq!(execution, play.execution("a"));
        assert!(single.entries().eq(play.frontier.entries()));
        let tokens: Vec<_> = places.iter().map(|place| play.token_in("a", place)).collect();
        let step = match &tokens[..] {
            [token] => Step::One(alternative, token.clone()),
            _ => Step::All(alternative, tokens),
        };
        assert_eq!(single.ends(execution, &step), alternative == 2, "{places:?}");
        let mut entered = single.into_frontier(execution);
        assert_eq!(seen(&entered), seen(&play.frontier));
        let completed = play.frontier.complete(execution, step.clone());
        assert_eq!(entered.complete(execution, step), completed, "{places:?}");
        assert_eq!(seen(&entered), seen(&play.frontier), "{places:?}");
        let (next, other) = (entered.next_due(), play.frontier.next_due());
        assert_eq!(format!("{next:?}"), format!("{other:?}"), "{places:?}");
        assert_eq!(entered.abandon(), play.frontier.abandon(), "{places:?}");
    }
}

#[test]
fn a_single_run_is_the_same_after_some_hops() {
    let net = net([logic("a").goto("b", &[]), logic("b").goto("a", &[]).goto("exit", &["a"])]);
    let (mut single, mut play) = (Single::entered(&net), Play::new(&net));
    play.start();
    let mut execution = single.first();
    for (from, way, to) in [("a", 0, "b"), ("b", 1, "a"), ("a", 0, "b")] {
        let token = play.token_in(from, to);
        let next = single.solo(execution).relay(way, token.place());
        play.frontier.complete(play.execution(from), Step::One(way, token)).unwrap();
        play.start();
        assert_eq!(next, Some(play.execution(to)), "{from} to {to}");
        execution = next.unwrap();
    }
    let exit = Step::One(2, play.token_in("b", "exit"));
    assert!(single.ends(execution, &exit));
    assert!(!single.ends(Single::entered(&net).first(), &exit), "it is not that node's step");
    assert_eq!(seen(&single.into_frontier(execution)), seen(&play.frontier));
}
