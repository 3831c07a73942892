//! Tables at the edges of the rules: messages that bound themselves, ends by a failure, budgets beside unbounded cycles,
//! wide forks, tables that exceed a limit.

use crate::compare::all_paths_hold;
use crate::hand_made::{event, join, logic, table};
use crate::hard_tables::both_say;
use crate::protocols;
use interlocking_core::net::Net;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Table};
use interlocking_soundness::{DEFAULT_LIMIT, Rule, Verdict, Violation, check, check_within};

fn verdict(table: &Table) -> Verdict {
    check(&Net::new(table.clone()).unwrap())
}

fn rules(table: &Table) -> Vec<Rule> {
    match verdict(table) {
        Verdict::Unsound { violations } => violations.into_iter().map(|violation| violation.rule).collect(),
        other => panic!("nothing is wrong: {other:?}"),
    }
}

#[test]
fn messages_take_no_token_from_each_other_nor_from_beside_the_graph() {
    let again = |name: &str| event(name).goto("a", &["*"]).visits(1);
    let start = || logic("a").goto("exit", &[]).spawn("adviser");
    let adviser = || NodeRow::new("adviser", NodeKind::Advisory);
    let witness = || NodeRow::new("witness", NodeKind::Observer);
    both_say(&table([start(), again("one"), again("other"), adviser(), witness()]), "sound");
    let ends = |name: &str| event(name).resume().visits(3).exhausted("exit", &["*"]);
    both_say(&table([start(), ends("one"), ends("other"), adviser()]), "sound");
    let mut v3 = protocols::v3();
    let mut second = v3.node("rebaser").unwrap().clone();
    second.name = "second".into();
    v3.nodes.push(second);
    assert!(matches!(verdict(&v3), Verdict::Sound { .. }));
    // Without a bound of its own, each of the two is a cycle.
    let endless = |name: &str| event(name).goto("a", &["a"]);
    both_say(&table([start(), endless("one"), again("other"), adviser()]), "UnboundedCycle");
}

#[test]
fn a_message_too_many_ends_a_run_unless_it_has_a_route() {
    let watch = |message: NodeRow| {
        table([logic("a").goto("b", &[]).goto("exit", &[]), logic("b").goto("b", &[]).unbounded(), message])
    };
    let once = || event("message").goto("exit", &["a"]).visits(1);
    both_say(&watch(once()), "sound");
    // Its route redirects from `a`, which has no token: the run goes on unchanged.
    both_say(&watch(once().exhausted("exit", &["a"])), "NoWayOut");
    both_say(&watch(once().exhausted("exit", &["b"])), "sound");
}

#[test]
fn nothing_is_said_of_what_a_message_does_once_a_run_is_stuck() {
    // The message finds a token only when the run is stuck.
    both_say(
        &table([
            logic("start").goto("meet.start", &[]),
            join("meet", &["start", "b"]).goto("exit", &[]),
            logic("b").goto("meet.b", &[]),
            event("message").resume().goto("twice", &["meet.start"]).visits(1),
            logic("twice").fork(&["b", "b"], &[]),
        ]),
        r#"stuck at {"meet"} in 1"#,
    );
}

/// Stages one after another, each of which may be repeated a limited number of times.
fn stages(count: usize, last: NodeRow) -> Table {
    let mut table = Table::new("Stages", "T");
    for nth in 0..count {
        let next = if nth + 1 == count { last.name.clone() } else { format!("stage{}", nth + 1) };
        let (stage, fix) = (format!("stage{nth}"), format!("fix{nth}"));
        let mut row = logic(&stage).goto(&next, &[]).goto(&fix, &[]);
        row.entry = nth == 0;
        table = table.with(row).with(logic(&fix).goto(&stage, &[]).visits(3));
    }
    table.with(last)
}

#[test]
fn budgets_beside_a_cycle_without_one_do_not_multiply() {
    let talk = || NodeRow::new("talk", NodeKind::Human).goto("talk", &[]).goto("exit", &[]);
    for last in [talk().visits(9), talk().unbounded()] {
        let found = verdict(&stages(10, last));
        assert!(matches!(found, Verdict::Sound { markings } if markings < 50), "{found:?}");
    }
    // The exit is reachable only until `talk` is entered, so it matters which budgets are spent.
    let found = rules(&stages(3, NodeRow::new("talk", NodeKind::Human).goto("talk", &[]).unbounded()));
    assert_eq!(found, [Rule::ExitUnreachable]);
    let ends = |last: NodeRow| {
        let mut table = stages(3, last);
        table.nodes[0].goto.push(Goto::new("exit", &[]));
        table
    };
    both_say(&ends(NodeRow::new("talk", NodeKind::Human).goto("talk", &[]).unbounded()), "NoWayOut");
    // A budget without a route ends the run, which counts as a way out.
    let back = NodeRow::new("talk", NodeKind::Human).goto("stage0", &[]).unbounded();
    both_say(&ends(back), "sound");
}

#[test]
fn ways_out_that_only_budgets_open_are_seen() {
    let last = |tired: NodeRow| {
        table([
            logic("a").goto("b", &[]).goto("exit", &[]),
            logic("b").goto("tired", &[]).unbounded(),
            tired.goto("b", &[]).visits(2),
        ])
    };
    both_say(&last(logic("tired")), "sound");
    both_say(&last(logic("tired").exhausted("exit", &[])), "sound");
    both_say(&last(logic("tired").exhausted("exit", &["*"])), "sound");
    both_say(&last(logic("tired").exhausted("b", &[])), "NoWayOut");
}

/// A number of branches, each of which works or is skipped; the first brings its result to the second's slot.
fn optional(count: usize) -> Table {
    let branches: Vec<String> = (0..count).map(|nth| format!("work{nth}|meet.slot{nth}")).collect();
    let branches: Vec<&str> = branches.iter().map(String::as_str).collect();
    let mut table =
        Table::new("Optional", "T").with(NodeRow::new("split", NodeKind::Fork).entry().fork(&branches, &[]));
    let mut meet = NodeRow::new("meet", NodeKind::Join).goto("exit", &[]);
    for nth in 0..count {
        let slot = format!("slot{}", nth.max(1));
        table = table.with(logic(&format!("work{nth}")).goto(&format!("meet.{slot}"), &[]));
        let work = if nth == 1 { vec!["split", "work0", "work1"] } else { vec!["split"] };
        meet = meet.slot(&format!("slot{nth}"), "T", &work, false);
        let own = format!("work{nth}");
        meet.slots[nth].sources.push(own);
    }
    table.with(meet)
}

#[test]
fn a_wide_fork_is_told_as_a_narrow_one() {
    let found = |count: usize| {
        let mut rules = rules(&optional(count));
        rules.retain(|rule| matches!(rule, Rule::DoubleToken { .. }));
        rules.sort();
        rules
    };
    let (narrow, wide) = (found(6), found(7));
    assert_eq!(narrow, wide);
    assert_eq!(narrow.len(), 2, "{narrow:?}");
    // With more branches than can be explored without reductions, no more is reported either.
    assert!(found(20).iter().all(|rule| narrow.contains(rule)));
}

#[test]
fn a_fork_of_any_width_is_looked_at() {
    // A branch that begins anew clears the slot that it would have filled, and not itself: the two ways of a branch
    // differ.
    let build = |count: usize, last: &str| {
        let mut table = optional(count);
        let all: Vec<String> = (0..count).map(|nth| format!("work{nth}")).chain(["meet".to_owned()]).collect();
        table.nodes[0] = table.nodes[0].clone().visits(2);
        for nth in 0..count {
            let others = all.iter().filter(|name| **name != format!("work{nth}")).cloned().collect();
            let slot = format!("meet.slot{nth}");
            let next = if nth + 1 == count { last } else { &slot };
            let row = &mut table.nodes[1 + nth];
            row.goto = vec![Goto::new(next, &[]), Goto::of("split".into(), others)];
        }
        Net::new(table).unwrap()
    };
    assert!(matches!(check(&build(8, "meet.slot7")), Verdict::Sound { .. }));
    assert_eq!(check(&build(15, "meet.slot14")), Verdict::Undecided { limit: DEFAULT_LIMIT });
    assert!(matches!(check_within(&build(15, "meet.slot14"), 100_000), Verdict::Sound { .. }));
    let Verdict::Unsound { violations } = check(&build(15, "exit")) else { panic!("the others are live") };
    let early = |one: &Violation| matches!(&one.rule, Rule::LiveAtExit { from, .. } if from == "work14");
    assert!(violations.iter().any(early), "{violations:?}");
}

#[test]
fn what_is_near_is_found_though_the_rest_is_not_decided() {
    // Fourteen branches that clear each other, and `x`, which could send a second token to the place where `y` sends one.
    let names: Vec<String> = (0..14).map(|nth| format!("m{nth}")).collect();
    let mut heads: Vec<&str> = names.iter().map(String::as_str).collect();
    heads.extend(["x", "y"]);
    let mut table = Table::new("Near", "T")
        .with(logic("start").entry().fork(&heads, &[]))
        .with(logic("x").goto("z", &[]))
        .with(logic("y").goto("z", &[]))
        .with(logic("z").goto("z", &[]).goto("exit", &["*"]).attempts(3));
    for (nth, own) in names.iter().enumerate() {
        let next = format!("m{}", (nth + 1) % 14);
        let over = format!("m{}", (nth + 5) % 14);
        let row = logic(own).goto(own, &[&next, "x"]).goto(own, &[&over, "x"]).goto("exit", &["*"]);
        table = table.with(row.visits(2).exhausted(&next, &[&next]));
    }
    let found = check_within(&Net::new(table).unwrap(), 300);
    let Verdict::Unsound { violations } = found else { panic!("{found:?}") };
    let double = Rule::DoubleToken { from: "y".into(), place: "z".into() };
    assert!(violations.iter().any(|one| one.rule == double && one.shortest && one.path.len() == 3), "{violations:?}");
}

#[test]
fn no_more_than_fifty_violations_are_told() {
    let names: Vec<String> = (0..300).map(|nth| format!("b{nth}")).collect();
    let heads: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = Table::new("Wide", "T").with(logic("split").entry().fork(&heads, &[]));
    table.nodes.extend(names.iter().map(|name| logic(name).goto("end", &[])));
    assert_eq!(rules(&table.with(logic("end").goto("exit", &["*"]))).len(), 50);
    let mut loops = Table::new("Loops", "T").with(logic("split").entry().fork(&heads, &[]));
    loops.nodes.extend(names.iter().map(|name| logic(name).goto(name, &[]).goto("exit", &["*"])));
    let cycles = rules(&loops);
    assert_eq!(cycles.iter().filter(|rule| matches!(rule, Rule::UnboundedCycle { .. })).count(), 50);
}

#[test]
fn a_table_too_large_to_look_at_is_not_decided() {
    let mut chain = Table::new("Chain", "T");
    chain.nodes = (0..12_000).map(|nth| logic(&format!("n{nth}")).goto(&format!("n{}", nth + 1), &[])).collect();
    chain.nodes[0].entry = true;
    let chain = chain.with(logic("n12000").goto("exit", &[]));
    assert_eq!(verdict(&chain), Verdict::Undecided { limit: DEFAULT_LIMIT });
}

/// Branches that choose late let others pass that they would block if they chose at once.
#[test]
fn runs_take_the_paths_through_wide_forks() {
    let split = logic("split")
        .fork(&["work|meet.c|work|other.c", "again|more|meet.a|other.c", "split|other.c|back|meet.a|meet.c"], &[]);
    let meet = NodeRow::new("meet", NodeKind::Join)
        .slot("a", "T", &["other", "split"], false)
        .slot("b", "T", &["again"], false)
        .slot("c", "T", &["more", "split"], false);
    let other = NodeRow::new("other", NodeKind::Join)
        .slot("a", "T", &["step"], false)
        .slot("b", "T", &["never"], false)
        .slot("c", "T", &["split"], false);
    let mut wide = Table::new("Wide", "T");
    wide.nodes = vec![
        logic("back").goto("split", &[]),
        split.entry(),
        meet.goto("back", &[]).exhausted("exit", &[]).visits(2),
        NodeRow::new("work", NodeKind::Fork).fork(&["step"], &[]),
        other.goto("meet.a", &[]),
        logic("step").goto("other.a", &[]),
        logic("never").goto("never", &[]),
        logic("again").goto("meet.b", &[]).exhausted("exit", &["work"]),
        logic("more").goto("meet.c", &[]),
        event("message").goto("back", &["*"]).exhausted("work", &["*"]).visits(1),
    ];
    all_paths_hold(&wide).unwrap();
}
