//! For each rule by which one node depends on another: a table on which the reduced search goes wrong without
//! that rule.

use crate::hand_made::{event, join, logic, table};
use crate::hard_tables::both_say;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Table};
use interlocking_soundness::{Verdict, check};

#[test]
fn a_message_depends_on_who_clears_where_it_redirects_from() {
    // Once `clean` has cleared the slot of `hurry`, `hurry` can do nothing.
    both_say(
        &table([
            logic("split").fork(&["clean", "desk.split"], &[]),
            logic("end").goto("exit", &[]),
            logic("clean").goto("end", &["desk.split"]),
            join("desk", &["hurry", "split"]).goto("end", &[]),
            event("hurry").goto("desk.hurry", &["desk.split"]).visits(2),
        ]),
        "end exits early in 4",
    );
}

#[test]
fn a_message_that_can_do_nothing_depends_on_who_leads_to_where_it_redirects_from() {
    // `stop` ends the run early only if `meet` has restarted `split`, and `end` has not yet ended the run.
    both_say(
        &table([
            logic("split").fork(&["end", "meet.split"], &[]).visits(2),
            logic("end").goto("exit", &[]),
            join("meet", &["split"]).goto("split", &[]),
            event("stop").goto("exit", &["split"]),
        ]),
        "split doubles end in 3; end exits early in 2; stop exits early in 3",
    );
}

#[test]
fn a_message_waits_for_a_join_with_a_latched_slot_that_runs() {
    // `hurry` comes from `work` when `meet` has ended; the search must try it before `work` ends.
    both_say(
        &table([
            logic("split").fork(&["work", "meet.each", "meet.once"], &[]),
            logic("work").goto("rest", &[]),
            logic("rest").goto("exit", &["*"]),
            NodeRow::new("meet", NodeKind::Join)
                .slot("each", "T", &["split"], false)
                .slot("once", "T", &["split"], true)
                .goto("end", &[]),
            logic("end").goto("exit", &["*"]),
            event("hurry").goto("end", &["work", "meet.once"]).visits(1),
        ]),
        "hurry doubles end in 3",
    );
}

#[test]
fn clearing_everything_depends_on_who_enters_what_counts_its_visits() {
    // The work of `work` is cleared, but `check` was entered: the second time it may be exhausted.
    both_say(
        &table([
            logic("split").fork(&["begin", "work"], &[]),
            logic("begin").goto("again", &["work", "check"]).goto("end", &[]),
            logic("work").goto("check", &[]),
            logic("again").fork(&["check", "end"], &[]),
            logic("end").goto("exit", &["*"]),
            logic("check").goto("exit", &["*"]).visits(1).exhausted("exit", &[]),
        ]),
        "check exits early in 5",
    );
}

#[test]
fn a_way_through_what_clears_everything_is_as_short_as_any() {
    both_say(
        &table([
            logic("split").fork(&["a", "b"], &[]).visits(1),
            logic("a").goto("split", &["*"]),
            logic("b").goto("split", &[]).visits(1).exhausted("exit", &[]),
        ]),
        "split doubles a in 3; b exits early in 4",
    );
}

#[test]
fn clearing_everything_is_not_all_that_is_tried() {
    both_say(
        &table([logic("split").fork(&["a", "b"], &[]), logic("a").goto("b", &["b"]), logic("b").goto("exit", &[])]),
        "b exits early in 2",
    );
}

#[test]
fn clearing_everything_waits_for_nobody() {
    // Eight branches, each of which may end all others: it is enough to explore one after the other.
    let names: Vec<String> = (0..8).map(|nth| format!("b{nth}")).collect();
    let build = |gives_up: &dyn Fn(NodeRow) -> NodeRow| {
        let heads: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut table = Table::new("Branches", "T").with(logic("split").entry().fork(&heads, &[]));
        table.nodes.extend(names.iter().map(|name| gives_up(logic(name).goto(&format!("meet.{name}"), &[]))));
        let meet = join("meet", &heads).goto("last", &[]);
        Net::new(table.with(meet).with(logic("last").goto("exit", &[]))).unwrap()
    };
    let to_exit = build(&|row| row.goto("exit", &["*"]));
    let to_last = build(&|row| {
        let all = names.iter().map(String::as_str).chain(["meet"]);
        let others: Vec<&str> = all.filter(|name| *name != row.name).collect();
        row.goto("last", &others)
    });
    for net in [to_exit, to_last] {
        let found = check(&net);
        assert!(matches!(found, Verdict::Sound { markings } if markings < 20), "{found:?}");
    }
}
