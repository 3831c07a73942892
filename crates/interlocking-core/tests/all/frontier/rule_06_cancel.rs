//! An alternative may clear a region first: executions in the region are discarded, even if they end later.

use super::play::{Play, join, live_at_exit, logic, net};
use interlocking_core::frontier::Violation;
use interlocking_core::net::Net;

fn beside(cancels: &[&str]) -> Net {
    net([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").goto("redo", cancels).goto("exit", &[]),
        logic("b").goto("c", &[]),
        logic("c").goto("exit", &[]),
        logic("redo").goto("b", &[]).goto("exit", &[]),
    ])
}

fn forked(net: &Net) -> Play<'_> {
    let mut play = Play::new(net);
    play.start();
    play.fork("split", &["a", "b"]).unwrap();
    play
}

#[test]
fn a_node_that_is_due_never_starts() {
    let net = beside(&["b"]);
    let mut play = forked(&net);
    assert_eq!(play.start_one(), "a(split)");
    assert_eq!(play.goto("a", "redo"), Ok(String::new()), "nothing of `b` runs, so nothing has to be stopped");
    assert_eq!((play.marking().as_str(), play.start().as_str()), ("redo", "redo(a)"));
}

#[test]
fn a_node_that_runs_is_named_to_be_stopped_and_its_late_outcome_is_stale() {
    let net = beside(&["b"]);
    let mut play = forked(&net);
    play.start();
    let late = play.execution("b");
    let outcome = interlocking_core::route::Step::One(play.alternative("b", 0), play.token_in("b", "c"));
    assert_eq!(play.goto("a", "redo"), Ok("b".into()));
    assert_eq!(play.marking(), "redo");
    assert!(!play.frontier.is_current(late));
    let before = format!("{:?}", play.frontier);
    assert_eq!(play.frontier.complete(late, outcome.clone()), Err(Violation::Stale));
    assert_eq!(format!("{:?}", play.frontier), before, "a late outcome changes nothing");

    // A new entry of the node is another execution; the old one stays stale.
    play.start();
    play.goto("redo", "b").unwrap();
    assert_eq!(play.start(), "b#2(redo)");
    assert_eq!(play.frontier.complete(late, outcome), Err(Violation::Stale));
    play.goto("b", "c").unwrap();
    assert_eq!(play.marking(), "c");
}

#[test]
fn what_is_not_in_the_region_goes_on() {
    let net = beside(&["b"]);
    let mut play = forked(&net);
    play.start();
    play.goto("b", "c").unwrap();
    assert_eq!(play.start(), "c(b)");
    assert_eq!(play.goto("a", "redo"), Ok(String::new()), "`b` holds nothing any more");
    assert_eq!((play.marking().as_str(), play.frontier.running()), ("c redo", 1));
}

#[test]
fn a_star_clears_everything() {
    let net = beside(&["*"]);
    let mut play = forked(&net);
    play.start();
    play.goto("b", "c").unwrap();
    play.start();
    assert_eq!(play.goto("a", "redo"), Ok("c".into()));
    assert_eq!((play.marking().as_str(), play.start().as_str()), ("redo", "redo(a)"));
    assert_eq!(play.frontier.running(), 1);
}

#[test]
fn the_target_may_lie_in_the_region() {
    let net = net([logic("split").fork(&["a", "b"], &[]), logic("a").goto("b", &["b"]), logic("b").goto("exit", &[])]);
    let mut play = forked(&net);
    play.start();
    assert_eq!(play.goto("a", "b"), Ok("b".into()));
    assert_eq!(play.start(), "b#2(a)");

    let mut play = forked(&net);
    play.start_one();
    play.goto("a", "b").unwrap();
    assert_eq!(play.start(), "b(a)", "the first token was never entered with");
}

#[test]
fn a_fork_may_clear_a_region_before_its_branches_start() {
    let net = net([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").fork(&["b", "c"], &["b"]),
        logic("b").goto("exit", &[]),
        logic("c").goto("exit", &[]),
    ]);
    let mut play = forked(&net);
    play.start();
    assert_eq!(play.fork("a", &["b", "c"]), Ok("b".into()));
    assert_eq!(play.start(), "b#2(a) c(a)");
}

/// `a` and `b` fill the join; `cut` clears the regions of its alternatives and ends as `rest`; `more` fills slot `one`
/// again.
fn joined(latched: bool) -> Net {
    let b = if latched { "!b" } else { "b" };
    net([
        logic("split").fork(&["a", "b", "cut"], &[]),
        logic("a").goto("meet", &[]),
        logic("b").goto("meet", &[]),
        logic("cut").goto("one", &["meet.one"]).goto("two", &["meet.two"]).goto("all", &["meet"]),
        logic("one").goto("meet.one", &[]).goto("exit", &[]),
        logic("two").goto("meet.two", &[]).goto("exit", &[]),
        logic("all").goto("a", &[]).goto("exit", &[]),
        join("meet", &[("one", "a"), ("two", b)]).goto("a", &[]).goto("exit", &[]),
    ])
}

/// Both slots filled; `meet` is due, and `cut` runs.
fn full(net: &Net) -> Play<'_> {
    let mut play = Play::new(net);
    play.start();
    play.fork("split", &["a", "b", "cut"]).unwrap();
    play.start();
    play.goto("a", "meet").unwrap();
    play.goto("b", "meet").unwrap();
    play
}

#[test]
fn a_half_filled_join_loses_what_it_has() {
    let net = joined(false);
    let mut play = Play::new(&net);
    play.start();
    play.fork("split", &["a", "b", "cut"]).unwrap();
    play.start();
    play.goto("a", "meet").unwrap();
    play.goto("cut", "all").unwrap();
    assert_eq!(play.marking(), "b all");
    play.start();
    play.goto("b", "meet").unwrap();
    assert_eq!(play.start(), "", "the value that came before the cut is gone");
}

#[test]
fn one_slot_of_a_join_that_is_due_gives_the_others_back() {
    let net = joined(false);
    let mut play = full(&net);
    assert_eq!(play.goto("cut", "one"), Ok(String::new()));
    assert_eq!(play.marking(), "one meet.two");
    assert_eq!(play.start(), "one(cut)", "`meet` is due no more");
    play.goto("one", "meet.one").unwrap();
    assert_eq!(play.start(), "meet(one, b)", "it was never entered before");
}

#[test]
fn one_slot_of_a_join_that_runs_gives_the_others_back() {
    let net = joined(false);
    for (slot, marking, fired) in [("one", "one meet.two", "meet#2(one, b)"), ("two", "two meet.one", "meet#2(a, two)")]
    {
        let mut play = full(&net);
        assert_eq!(play.start(), "meet(a, b)");
        assert_eq!(play.goto("cut", slot), Ok("meet".into()));
        assert_eq!(play.marking(), marking);
        play.start();
        play.goto(slot, &format!("meet.{slot}")).unwrap();
        assert_eq!(play.start(), fired);
        play.goto("meet", "exit").unwrap();
    }
}

#[test]
fn a_slot_that_was_given_back_is_live_at_exit() {
    let net = joined(false);
    let mut play = full(&net);
    play.start();
    play.goto("cut", "one").unwrap();
    play.start();
    assert_eq!(play.goto("one", "exit"), Err(live_at_exit("one", &["meet.two"])));
}

#[test]
fn the_whole_join_gives_nothing_back() {
    let net = joined(false);
    let mut play = full(&net);
    play.start();
    assert_eq!(play.goto("cut", "all"), Ok("meet".into()));
    assert_eq!(play.marking(), "all");
    play.start();
    assert_eq!(play.goto("all", "exit"), Ok(String::new()));
}

/// `meet` has fired once and remembers slot `two`; `a` runs for the second round, `cut` still runs.
fn remembering(net: &Net) -> Play<'_> {
    let mut play = full(net);
    assert_eq!(play.start(), "meet(a, b)");
    play.goto("meet", "a").unwrap();
    assert_eq!(play.start(), "a#2(meet)");
    play
}

#[test]
fn remembered_values_are_cleared_with_the_join() {
    let net = joined(true);
    let mut play = remembering(&net);
    play.goto("cut", "all").unwrap();
    play.goto("a", "meet").unwrap();
    assert_eq!(play.start(), "all(cut)", "`meet` has forgotten slot `two`");
}

#[test]
fn a_remembered_value_is_cleared_with_its_slot() {
    let net = joined(true);
    let mut play = remembering(&net);
    play.goto("cut", "two").unwrap();
    play.goto("a", "meet").unwrap();
    assert_eq!(play.start(), "two(cut)", "`meet` has forgotten slot `two`");
    play.goto("two", "meet.two").unwrap();
    assert_eq!(play.start(), "meet#2(a#2, two)");
}

#[test]
fn a_remembered_value_outlives_the_loss_of_another_slot() {
    let net = joined(true);
    let mut play = remembering(&net);
    play.goto("a", "meet").unwrap();
    assert_eq!(play.start(), "meet#2(a#2, b)");
    assert_eq!(play.goto("cut", "one"), Ok("meet#2".into()));
    assert_eq!(play.marking(), "one", "what is remembered is no token");
    play.start();
    play.goto("one", "meet.one").unwrap();
    assert_eq!(play.start(), "meet#3(one, b)");
}

#[test]
fn losing_the_remembered_value_stops_the_join_that_runs_with_it() {
    let net = joined(true);
    let mut play = remembering(&net);
    play.goto("a", "meet").unwrap();
    play.start();
    assert_eq!(play.goto("cut", "two"), Ok("meet#2".into()));
    assert_eq!(play.marking(), "two meet.one", "the other slot has its value back");
}
