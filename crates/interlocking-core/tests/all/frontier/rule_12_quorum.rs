//! A join with a quorum fires with the outcome that brings its n-th value, or fills its last slot, and clears its region then.

use super::play::{Play, double_token, join, live_at_exit, logic, net};
use interlocking_core::frontier::Violation;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeRow, Quorum};

/// Three optional slots, each named like its source.
fn pick(values: u32, cancels: &[&str]) -> NodeRow {
    let row = join("pick", &[]).optional_slot("a", "T", &["a"]);
    let row = row.optional_slot("b", "T", &["b"]).optional_slot("c", "T", &["c"]);
    row.quorum(Quorum::AtLeast(values)).cancels(cancels)
}

fn three(pick: NodeRow) -> Net {
    net([
        logic("split").fork(&["a", "b", "c|pick.c"], &[]).visits(9),
        logic("a").goto("pick.a", &[]),
        logic("b").goto("pick.b", &[]),
        logic("c").goto("pick.c", &[]).goto("on", &[]),
        pick,
        logic("on"),
    ])
}

fn all_run(net: &Net) -> Play<'_> {
    let mut play = Play::new(net);
    play.start();
    play.fork("split", &["a", "b", "c"]).unwrap();
    assert_eq!(play.start(), "a(split) b(split) c(split)");
    play
}

#[test]
fn it_fires_with_the_last_value_that_it_needs_and_clears_the_rest() {
    let net = three(pick(2, &["a", "b", "c"]).goto("exit", &[]));
    let mut play = all_run(&net);
    assert_eq!(play.goto("a", "pick.a"), Ok(String::new()));
    assert_eq!((play.start(), play.marking()), (String::new(), "b c pick.a".to_owned()));
    assert_eq!(play.goto("b", "pick.b"), Ok("c".to_owned()), "the same outcome stops what is left");
    assert_eq!(play.marking(), "pick.a pick.b pick.c", "it holds all of its slots");
    assert_eq!(play.start(), "pick(a, b)");
    play.goto("pick", "exit").unwrap();
    assert_eq!(play.exit().unwrap(), "pick");
}

#[test]
fn what_is_no_value_fills_a_slot_and_does_not_count() {
    let net = three(pick(2, &["a", "b", "c"]).goto("exit", &[]));
    for (order, input) in [(["a", "b", "c"], "pick(a, b, c)"), (["c", "b", "a"], "pick(a, b, c)")] {
        let mut play = all_run(&net);
        for (nth, node) in order.into_iter().enumerate() {
            assert_eq!(play.start(), "");
            let goes = if nth == 1 { play.goto(node, &format!("pick.{node}")) } else { play.nothing(node) };
            assert_eq!(goes, Ok(String::new()), "one value is not enough");
        }
        assert_eq!(play.start(), input, "with its last slot it fires with what there is");
    }
    let mut play = all_run(&net);
    play.nothing("a").unwrap();
    play.goto("b", "pick.b").unwrap();
    assert_eq!(play.start(), "");
    play.goto("c", "pick.c").unwrap();
    assert_eq!(play.start(), "pick(a, b, c)");
}

#[test]
fn a_branch_that_is_skipped_does_not_count() {
    let net = three(pick(2, &["a", "b", "c"]).goto("exit", &[]));
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b", "pick.c"]).unwrap();
    play.start();
    play.goto("a", "pick.a").unwrap();
    assert_eq!(play.start(), "", "one value, and what was sent in the place of `c`");
    assert_eq!(play.goto("b", "pick.b"), Ok(String::new()));
    assert_eq!(play.start(), "pick(a, b, split)");
}

/// All tokens of an outcome come before any join fires.
#[test]
fn an_outcome_fills_all_its_slots_before_the_join_fires() {
    let row = join("pick", &[("a", "split"), ("b", "split"), ("c", "c")]);
    let net = net([
        logic("split").fork(&["pick.a", "c", "pick.b"], &[]),
        logic("c").goto("pick.c", &[]),
        row.quorum(Quorum::AtLeast(1)).cancels(&["c"]).goto("exit", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    assert_eq!(play.fork("split", &["pick.a", "c", "pick.b"]), Ok(String::new()), "`c` was there, and has not started");
    assert_eq!(play.start(), "pick(split, split)");
}

/// A branch that the join's region leaves out arrives too late: while the join holds its slots, and after it.
#[test]
fn what_comes_later_is_one_too_many() {
    let net = three(pick(1, &["b"]).goto("exit", &[]).goto("on", &[]));
    let mut play = all_run(&net);
    play.goto("a", "pick.a").unwrap();
    assert_eq!(play.goto("c", "pick.c"), Err(double_token("c", "pick.c")), "though nothing was there");
    let mut play = all_run(&net);
    play.goto("a", "pick.a").unwrap();
    play.start();
    assert_eq!(play.goto("pick", "exit"), Err(live_at_exit("pick", &["c"])));
    let mut play = all_run(&net);
    play.goto("a", "pick.a").unwrap();
    play.start();
    play.goto("pick", "on").unwrap();
    play.start();
    play.goto("c", "pick.c").unwrap();
    assert_eq!(play.start(), "pick#2(c)", "once it is done, a new round has begun");
}

#[test]
fn each_round_begins_empty() {
    let net = three(pick(1, &["*"]).goto("split", &[]).goto("exit", &[]));
    let mut play = all_run(&net);
    play.nothing("a").unwrap();
    play.goto("b", "pick.b").unwrap();
    assert_eq!((play.start(), play.marking()), ("pick(a, b)".to_owned(), "pick.a pick.b pick.c".to_owned()));
    assert_eq!(play.goto("pick", "split"), Ok(String::new()));
    play.start();
    play.fork("split", &["a", "b", "c"]).unwrap();
    assert_eq!(play.start(), "a#2(split#2) b#2(split#2) c#2(split#2)");
    play.nothing("c").unwrap();
    play.nothing("a").unwrap();
    assert_eq!(play.start(), "", "the value of `b` was of another round");
    play.goto("b", "pick.b").unwrap();
    assert_eq!(play.start(), "pick#2(a#2, b#2, c#2)");
}

/// `join` with slots `a` and `b` and a quorum of one.
fn first(name: &str, cancels: &[&str]) -> NodeRow {
    join(name, &[("a", "split"), ("b", "split")]).quorum(Quorum::AtLeast(1)).cancels(cancels).goto("exit", &[])
}

/// Joins fire in the order of the table: a join that an earlier one clears does not fire.
#[test]
fn of_joins_that_clear_each_other_the_first_fires() {
    let net = net([
        logic("split").fork(&["x.a", "y.a", "z.b"], &[]),
        first("x", &["z"]),
        first("y", &["z", "x"]),
        first("z", &["x", "y"]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["x.a", "y.a", "z.b"]).unwrap();
    assert_eq!(play.marking(), "y.a y.b", "`x` clears `z`, and `y` clears `x`");
    assert_eq!(play.start(), "y(split)");
}

#[test]
fn one_that_is_cleared_is_empty_whether_it_has_fired_or_not() {
    let net = net([
        logic("split").fork(&["a", "b", "stop"], &[]).visits(9),
        logic("a").goto("meet.a", &[]),
        logic("b").goto("meet.b", &[]),
        join("meet", &[("a", "a"), ("b", "b"), ("c", "stop")]).quorum(Quorum::AtLeast(2)).cancels(&["stop"]),
        logic("stop").goto("split", &["a", "b", "meet"]).goto("meet.c", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b", "stop"]).unwrap();
    play.start();
    play.goto("a", "meet.a").unwrap();
    play.goto("stop", "split").unwrap();
    assert_eq!((play.start(), play.marking()), ("split#2(stop)".to_owned(), "split".to_owned()));
    play.fork("split", &["a", "b", "stop"]).unwrap();
    play.start();
    play.goto("b", "meet.b").unwrap();
    assert_eq!(play.start(), "", "the value of `a` is gone");
    play.goto("stop", "meet.c").unwrap();
    assert_eq!(play.start(), "meet(b#2, stop#2)");
    assert_eq!(play.goto("a", "meet.a"), Err(double_token("a", "meet.a")));
}

#[test]
fn a_quorum_that_nothing_can_bring_is_a_deadlock() {
    let net = net([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").goto("pick.a", &[]),
        logic("b").goto("pick.b", &[]),
        pick(2, &["*"]).goto("exit", &[]),
        logic("c").goto("pick.c", &[]),
    ]);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play.start();
    play.goto("a", "pick.a").unwrap();
    play.nothing("b").unwrap();
    assert_eq!(play.start(), "");
    let filled = vec!["pick.a".into(), "pick.b".into()];
    assert_eq!(play.frontier.stuck(), Some(Violation::Deadlock { filled, missing: vec!["pick.c".into()] }));
}
