//! A step that the node's row does not allow changes nothing.

use super::play::{Play, Token, join, logic, net};
use interlocking_core::frontier::Violation;
use interlocking_core::route::Step;

#[test]
fn a_step_outside_the_routing_table_is_refused_and_changes_nothing() {
    let net = net([
        logic("split").goto("a", &["*"]).fork(&["a", "b|meet.two"], &[]),
        logic("a").goto("meet", &[]),
        logic("b").goto("meet", &[]),
        join("meet", &[("one", "a"), ("two", "b")]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    let token = |place: &str| play.token_in("split", place);
    let (goto, fork, other) = (play.alternative("split", 0), play.alternative("split", 1), play.alternative("a", 0));
    let steps: Vec<(&str, Step<Token>)> = vec![
        ("another node's alternative", Step::One(other, token("meet.one"))),
        ("an alternative that there is not", Step::One(u16::MAX, token("a"))),
        ("a place where the goto does not lead", Step::One(goto, token("b"))),
        ("the exit, where nothing leads", Step::One(goto, token("exit"))),
        ("a fork with one branch too few", Step::All(fork, vec![token("a")])),
        ("a fork with one token, as if it were a goto", Step::One(fork, token("a"))),
        ("a fork with one branch too many", Step::All(fork, vec![token("a"), token("b"), token("b")])),
        ("a fork without branches", Step::All(fork, Vec::new())),
        ("a goto with two tokens", Step::All(goto, vec![token("a"), token("a")])),
        ("a branch that chose what is another branch's", Step::All(fork, vec![token("a"), token("a")])),
        ("branches in the wrong order", Step::All(fork, vec![token("b"), token("a")])),
        ("a slot that is not among the choices", Step::All(fork, vec![token("a"), token("meet.one")])),
    ];
    let before = format!("{:?}", play.frontier);
    for (what, step) in steps {
        let error = play.end("split", step).unwrap_err();
        assert_eq!(error, Violation::NotInTable { from: "split".into() }, "{what}");
        assert_eq!(error.to_string(), "`split` took a step that is not in its routing table");
        assert_eq!(format!("{:?}", play.frontier), before, "{what}");
    }
    play.fork("split", &["a", "meet.two"]).unwrap();
}
