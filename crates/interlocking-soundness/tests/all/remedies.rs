//! Messages whose text depends on the graph. The common cases are compile-fail tests of the workspace.

use expect_test::{Expect, expect};
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Table};
use interlocking_soundness::{Verdict, check};

/// Checks the messages for a table with these rows, without violations that follow from others. The first row is the
/// entry.
fn says(rows: impl IntoIterator<Item = NodeRow>, expected: Expect) {
    let mut table = Table::new("Test", "T");
    for row in rows {
        let first = table.nodes.is_empty();
        table = table.with(if first { row.entry() } else { row });
    }
    let Verdict::Unsound { violations } = check(&Net::new(table).unwrap()) else { panic!("nothing is wrong") };
    let roots = violations.iter().filter(|one| !violations.iter().any(|other| one.follows(other)));
    let said: Vec<String> = roots.map(ToString::to_string).collect();
    expected.assert_eq(&said.join("\n\n"));
}

fn logic(name: &str) -> NodeRow {
    NodeRow::new(name, NodeKind::Logic)
}

fn join(name: &str, slots: &[(&str, &[&str])]) -> NodeRow {
    let row = NodeRow::new(name, NodeKind::Join);
    slots.iter().fold(row, |row, (slot, sources)| row.slot(slot, "T", sources, false))
}

#[test]
fn two_branches_of_one_fork_in_one_place() {
    says(
        [logic("a").fork(&["b|c", "c"], &[]), logic("b").goto("exit", &["*"]), logic("c").goto("exit", &["*"])],
        expect![[r#"
            `a` can send a second token to `c`
            help: entry → a → c, which holds a token already
            help: two branches of `a` go to `c`: give each a place of its own"#]],
    );
}

#[test]
fn a_long_region_is_cut_short() {
    let next = |nth: usize| logic(&format!("b{nth}")).goto(&format!("b{}", nth + 1), &[]);
    let rows = [logic("a").fork(&["b0", "c"], &[]).visits(3), logic("c").goto("a", &[]).goto("exit", &["*"])];
    says(
        rows.into_iter().chain((0..8).map(next)).chain([logic("b8").goto("exit", &["*"])]),
        expect![[r#"
            `a` can send a second token to `b0`
            help: entry → a → c → a → b0, which holds a token already
            help: let `c` clear what it leaves behind: `goto(a, cancels(b0, b1, b2, b3, b4, b5, …))`; or go back only after a join"#]],
    );
}

#[test]
fn a_slot_that_is_filled_twice() {
    says(
        [
            logic("a").fork(&["meet.one", "b"], &[]).visits(2),
            logic("b").goto("a", &[]).goto("meet.two", &[]),
            join("meet", &[("one", &["a"]), ("two", &["b"])]).goto("exit", &[]),
        ],
        expect![[r#"
            `a` can send a second token to `meet.one`
            help: entry → a → b → a → meet.one, which holds a token already
            help: let `b` clear what it leaves behind: `goto(a, cancels(meet.one))`; or go back only after a join"#]],
    );
}

#[test]
fn a_slot_that_was_never_filled() {
    says(
        [
            logic("a").goto("meet.one", &[]).fork(&["meet.one", "meet.two"], &[]),
            join("meet", &[("one", &["a"]), ("two", &["a"])]).goto("exit", &[]),
        ],
        expect![[r#"
            join `meet` can wait for ever
            help: entry → a → meet, which still needs `two`
            help: fill `meet.two` on this way too: by a branch of a fork, `fork(a, b | meet.two)`, or by `goto(meet.two)`"#]],
    );
}

#[test]
fn joins_that_wait_beside_each_other() {
    says(
        [
            logic("a").fork(&["left.one", "right.one"], &[]).goto("b", &[]),
            logic("b").fork(&["left.two", "right.two"], &[]),
            join("left", &[("one", &["a"]), ("two", &["b"])]).goto("exit", &["*"]),
            join("right", &[("one", &["a"]), ("two", &["b"])]).goto("exit", &["*"]),
        ],
        expect![[r#"
            joins `left` and `right` can wait for ever
            help: entry → a → {left, right}, which still need `left.two` and `right.two`
            help: fill `left.two` and `right.two` on this way too, by branches of a fork or by a `goto(…)`"#]],
    );
}

#[test]
fn a_join_that_goes_round_by_itself() {
    says(
        [
            logic("a").fork(&["meet.one", "meet.two"], &[]),
            join("meet", &[("one", &["a", "meet"]), ("two", &["a", "meet"])])
                .fork(&["meet.one", "meet.two"], &[])
                .goto("exit", &[]),
        ],
        expect![[r#"
            the cycle meet → meet has no budget: it can go on for ever
            help: bound it: `visits = 3`; or say that it may go on for ever: `visits = unbounded`"#]],
    );
}

#[test]
fn a_cycle_by_a_message_is_bounded_at_the_event() {
    let mail = || NodeRow::new("mail", NodeKind::Event).goto("a", &["*"]);
    let with = |mail: NodeRow| [logic("a").goto("b", &[]).visits(2), logic("b").goto("exit", &[]).visits(2), mail];
    says(
        with(mail()),
        expect![[r#"
            the cycle a → mail → a has no budget: it can go on for ever
            help: bound `mail`: `visits = 3`; or say that it may go on for ever: `visits = unbounded`"#]],
    );
    says(
        with(mail().visits(2).exhausted("a", &["*"])),
        expect![[r#"
            the cycle a → mail → a has no budget: it can go on for ever
            help: let `exhausted(…)` of `mail` lead elsewhere"#]],
    );
}

#[test]
fn the_route_of_a_budget_may_lead_back_for_ever() {
    says(
        [logic("a").goto("a", &[]).goto("exit", &[]).attempts(2).exhausted("a", &[])],
        expect![[r#"
            the cycle a → a has no budget: it can go on for ever
            help: let `exhausted(…)` lead elsewhere"#]],
    );
    let bounded = |name: &str, other: &str| logic(name).goto("exit", &[]).visits(2).exhausted(other, &[]);
    says(
        [bounded("a", "b").goto("b", &[]), bounded("b", "a").goto("a", &[])],
        expect![[r#"
            the cycle a → b → a has no budget: it can go on for ever
            help: let `exhausted(…)` of `a` lead elsewhere"#]],
    );
}

/// Every violation is reported at one node.
#[test]
fn a_cycle_by_a_message_is_told_at_the_event() {
    let table = Table::new("Test", "T").with(logic("a").entry().goto("exit", &[]));
    let table = table.with(NodeRow::new("mail", NodeKind::Event).goto("a", &["*"]));
    let Verdict::Unsound { violations } = check(&Net::new(table).unwrap()) else { panic!("nothing is wrong") };
    assert_eq!(violations.iter().map(|one| one.blame.as_str()).collect::<Vec<_>>(), ["mail"]);
}

#[test]
fn an_exhausted_budget_is_named_in_the_way() {
    says(
        [
            logic("a").fork(&["b", "c"], &[]),
            logic("b").goto("b", &[]).goto("exit", &["*"]).attempts(3).exhausted("exit", &[]),
            logic("c").goto("exit", &["*"]),
        ],
        expect![[r#"
            `b` can go to exit while `c` is still live
            help: entry → a → b → b (exhausted) → exit
            help: let the branches meet in a join before the exit, or let `b` end what is left: `exhausted(exit, cancels(*))`"#]],
    );
}

#[test]
fn the_route_of_a_failure_is_named_in_the_way() {
    let table = |b: NodeRow| [logic("a").fork(&["b", "c"], &[]), b, logic("c").goto("exit", &["*"])];
    says(
        table(logic("b").goto("exit", &["*"]).failed("exit", &[])),
        expect![[r#"
            `b` can go to exit while `c` is still live
            help: entry → a → b (failed) → exit
            help: let the branches meet in a join before the exit, or let `b` end what is left: `failed(exit, cancels(*))`"#]],
    );
    says(
        table(logic("b").goto("exit", &["*"]).timeout_ms(1).timed_out("exit", &[])),
        expect![[r#"
            `b` can go to exit while `c` is still live
            help: entry → a → b (timed out) → exit
            help: let the branches meet in a join before the exit, or let `b` end what is left: `timed_out(exit, cancels(*))`"#]],
    );
    says(
        [
            logic("a").fork(&["b", "c"], &[]).visits(2),
            logic("b").goto("meet", &[]).failed("a", &[]),
            logic("c").goto("meet", &[]),
            join("meet", &[("b", &["b"]), ("c", &["c"])]).goto("exit", &[]),
        ],
        expect![[r#"
            `a` can send a second token to `c`
            help: entry → a → b (failed) → a → c, which holds a token already
            help: let `b` clear what it leaves behind: `failed(a, cancels(c, meet))`; or go back only after a join"#]],
    );
}

#[test]
fn a_message_is_named_in_the_way() {
    says(
        [
            logic("a").goto("b", &[]),
            logic("b").fork(&["c", "d"], &[]),
            logic("c").goto("exit", &["*"]),
            logic("d").goto("exit", &["*"]),
            NodeRow::new("mail", NodeKind::Event).resume().goto("a", &["d"]).visits(3),
        ],
        expect![[r#"
            `b` can send a second token to `c`
            help: entry → a → b → mail (message) → a → b → c, which holds a token already
            help: let `mail` clear what it leaves behind: `goto(a, cancels(d, c))`"#]],
    );
}

#[test]
fn an_advisory_node_that_nobody_starts() {
    says(
        [logic("a").goto("exit", &[]), NodeRow::new("advice", NodeKind::Advisory)],
        expect![[r#"
            node `advice` can never run
            help: nothing that runs spawns it: let a node do that, or take it out"#]],
    );
}

/// V3 without one of its clearings: the remedy asks for exactly the clearing that was removed.
#[test]
fn the_remedy_is_what_v3_has() {
    let v3: Table = serde_json::from_str(include_str!("../../examples/tables/v3.json")).unwrap();
    let mut said = Vec::new();
    for (at, row) in v3.nodes.iter().enumerate().filter(|(_, row)| row.kind != NodeKind::Event) {
        for nth in (0..row.goto.len()).filter(|&nth| !row.goto[nth].cancels.is_empty()) {
            let mut mutant = v3.clone();
            let cancels = std::mem::take(&mut mutant.nodes[at].goto[nth].cancels).join(", ");
            let Verdict::Unsound { violations } = check(&Net::new(mutant).unwrap()) else { panic!("nothing is wrong") };
            said.push(format!("{} → {} without cancels({cancels})", row.name, row.goto[nth].to));
            said.push(violations[0].to_string());
        }
    }
    expect![[r#"
        integrate → scaffold without cancels(write_tests, barrier)
        `scaffold` can go to exit while `write_tests` is still live
        help: entry → scaffold → fork → children → integrate → scaffold → exit
        help: let `integrate` clear what it leaves behind: `goto(scaffold, cancels(write_tests, barrier))`; or go back only after a join
        integrate → exit without cancels(*)
        `integrate` can go to exit while `write_tests` is still live
        help: entry → scaffold → fork → children → integrate → exit
        help: let the branches meet in a join before the exit, or let `integrate` end what is left: `goto(exit, cancels(*))`
        write_tests → scaffold without cancels(children, integrate, barrier)
        `scaffold` can go to exit while `children` is still live
        help: entry → scaffold → fork → write_tests → scaffold → exit
        help: let `write_tests` clear what it leaves behind: `goto(scaffold, cancels(children, integrate, barrier))`; or go back only after a join
        barrier → scaffold without cancels(barrier)
        `barrier` can go to exit while `children` is still live
        help: entry → scaffold → fork → write_tests → barrier → scaffold → fork → write_tests → barrier → exit
        help: let `barrier` clear what it leaves behind: `goto(scaffold, cancels(barrier.merges))`; or go back only after a join
        impl → scaffold without cancels(barrier)
        `barrier` can go to exit while `children` is still live
        help: entry → scaffold → fork → write_tests → barrier → impl → scaffold → fork → write_tests → barrier → exit
        help: let `impl` clear what it leaves behind: `goto(scaffold, cancels(barrier.merges))`; or go back only after a join"#]].assert_eq(&said.join("\n"));
}

/// Two branches, `one` and `other`.
fn branches(one: NodeRow, other: NodeRow) -> [NodeRow; 4] {
    [
        logic("split").fork(&["one", "other"], &[]),
        one.goto("meet", &[]),
        other.goto("meet", &[]),
        join("meet", &[("one", &["one"]), ("other", &["other"])]).goto("exit", &[]),
    ]
}

#[test]
fn who_shares_a_workspace_takes_turns_by_one_name() {
    let desk = |name: &str, exclusive: &str| logic(name).workspace("desk").exclusive(exclusive);
    says(
        branches(logic("one").workspace("desk"), desk("other", "press")),
        expect![[r#"
            `one` and `other` can be at work in workspace `desk` at once, and each may change it
            help: entry → split → {one, other}
            help: let them take turns, `exclusive = "press"` at `one` too; or give each a workspace of its own"#]],
    );
    says(
        branches(desk("one", "pens"), desk("other", "press")),
        expect![[r#"
            `one` and `other` can be at work in workspace `desk` at once, and each may change it
            help: entry → split → {one, other}
            help: let them take turns, by one `exclusive` name for both; or give each a workspace of its own"#]],
    );
}

#[test]
fn who_waits_for_others_takes_no_turns() {
    let children = NodeRow::new("other", NodeKind::Map).workspace("desk");
    says(
        branches(logic("one").workspace("desk"), children),
        expect![[r#"
            `one` and `other` can be at work in workspace `desk` at once, and each may change it
            help: entry → split → {one, other}
            help: `other` waits for others while it is at work, so it takes no turns: give each a workspace of its own, or say `read_only` at who changes nothing"#]],
    );
}

#[test]
fn who_works_beside_the_graph_takes_turns_with_itself() {
    says(
        [
            logic("write").workspace("desk").spawn("hint").goto("exit", &[]),
            NodeRow::new("hint", NodeKind::Advisory).workspace("desk"),
        ],
        expect![[r#"
            `write` and `hint` can be at work in workspace `desk` at once, and each may change it
            help: let them take turns, `exclusive = "desk"` at both; or give each a workspace of its own

            `hint` can be at work in workspace `desk` more than once at a time, and may change it
            help: let it take turns with itself, `exclusive = "desk"`; or let it run once: `visits = 1`"#]],
    );
}

#[test]
fn the_way_to_who_shares_a_workspace_has_what_came_before() {
    let mut rows = branches(logic("one"), logic("other").workspace("desk"));
    rows[1] = logic("one").goto("late", &[]);
    rows[3] = join("meet", &[("one", &["late"]), ("other", &["other"])]).goto("exit", &[]);
    says(
        rows.into_iter().chain([logic("late").workspace("desk").goto("meet", &[])]),
        expect![[r#"
            `other` and `late` can be at work in workspace `desk` at once, and each may change it
            help: entry → split → one → {other, late}
            help: let them take turns, `exclusive = "desk"` at both; or give each a workspace of its own"#]],
    );
}

/// Each cycle of an event is shown to the derive, which reports one.
#[test]
fn a_bound_of_an_event_ends_all_of_its_cycles() {
    let event = NodeRow::new("ev", NodeKind::Event).goto("first", &["*"]);
    let rows =
        [logic("child").goto("first", &[]), logic("first").goto("last", &[]), logic("last").goto("exit", &[]), event];
    let table = rows
        .into_iter()
        .enumerate()
        .fold(Table::new("Test", "T"), |table, (nth, row)| table.with(if nth == 0 { row.entry() } else { row }));
    let Verdict::Unsound { violations } = check(&Net::new(table).unwrap()) else { panic!("nothing is wrong") };
    let [one, other] = &violations[..] else { panic!("{violations:?}") };
    assert!(other.has_remedy_of(one), "{one}\n{other}");
}
