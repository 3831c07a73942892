//! A run that begins with its entry's execution: the same as one that is made and started, in which nothing waits yet.

use crate::play::{Play, Token, join, logic, net};
use interlocking_core::frontier::Frontier;
use interlocking_core::route::Step;

/// What can be seen of a run.
fn seen(frontier: &Frontier<'_, Token>) -> impl PartialEq + std::fmt::Debug {
    let marking: Vec<_> = frontier.marking().collect();
    let (executions, entries): (Vec<_>, Vec<_>) = (frontier.executions().collect(), frontier.entries().collect());
    (marking, executions, entries, frontier.due(), frontier.running(), frontier.has_ended(), frontier.stuck())
}

#[test]
fn it_goes_on_as_any_other() {
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
        let (mut entered, execution) = Frontier::entered(&net);
        assert_eq!(execution, play.execution("a"));
        assert_eq!(seen(&entered), seen(&play.frontier));
        let tokens: Vec<_> = places.iter().map(|place| play.token_in("a", place)).collect();
        let step = match &tokens[..] {
            [token] => Step::One(alternative, token.clone()),
            _ => Step::All(alternative, tokens),
        };
        let completed = play.frontier.complete(execution, step.clone());
        assert_eq!(entered.complete(execution, step), completed, "{places:?}");
        assert_eq!(seen(&entered), seen(&play.frontier), "{places:?}");
        let (next, other) = (entered.next_due(), play.frontier.next_due());
        assert_eq!(format!("{next:?}"), format!("{other:?}"), "{places:?}");
        assert_eq!(entered.abandon(), play.frontier.abandon(), "{places:?}");
    }
}
