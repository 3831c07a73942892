//! The three protocols are sound, and every cancel and latch of V3 is needed.

use crate::protocols;
use expect_test::expect;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Table};
use interlocking_soundness::{Verdict, check};

fn verdict(table: &Table) -> Verdict {
    check(&Net::new(table.clone()).unwrap())
}

#[test]
fn the_protocols_are_sound() {
    for table in [protocols::hybrid(), protocols::v3(), protocols::scout_and_wave()] {
        let found = verdict(&table);
        assert!(matches!(found, Verdict::Sound { .. }), "{}: {found:#?}", table.graph);
    }
}

#[test]
fn every_cancel_and_latch_is_needed() {
    let v3 = protocols::v3();
    let mut mutants = Vec::new();
    for (at, row) in v3.nodes.iter().enumerate().filter(|(_, row)| row.kind != NodeKind::Event) {
        for (nth, goto) in row.goto.iter().enumerate().filter(|(_, goto)| !goto.cancels.is_empty()) {
            let mut mutant = v3.clone();
            mutant.nodes[at].goto[nth].cancels.clear();
            mutants.push((format!("{} → {} without cancels", row.name, goto.to), mutant));
        }
    }
    for table in [v3, protocols::hybrid()] {
        for (at, row) in table.nodes.iter().enumerate() {
            for nth in (0..row.slots.len()).filter(|&nth| row.slots[nth].latched) {
                let mut mutant = table.clone();
                mutant.nodes[at].slots[nth].latched = false;
                mutants.push((format!("{}: {} without its latch", table.graph, row.slots[nth].name), mutant));
            }
        }
    }
    assert_eq!(mutants.len(), 7);
    for (name, mutant) in mutants {
        let found = verdict(&mutant);
        let Verdict::Unsound { violations } = found else { panic!("{name}: {found:?}") };
        assert!(!violations.is_empty(), "{name}");
    }
}

/// Ten branches of nine nodes between a fork and a join; two of them may clear the block and start it again.
fn block() -> Table {
    let mut table = Table::new("Block", "T");
    let heads: Vec<String> = (0..10).map(|branch| format!("b{branch}_0")).collect();
    let mut all: Vec<String> = (0..10).flat_map(|b| (0..9).map(move |n| format!("b{b}_{n}"))).collect();
    all.push("meet".into());
    let logic = |name: &str| NodeRow::new(name, NodeKind::Logic);
    table = table.with(logic("start").entry().goto("split", &[]));
    table = table.with(
        NodeRow::new("split", NodeKind::Fork)
            .fork(&heads.iter().map(String::as_str).collect::<Vec<_>>(), &[])
            .visits(4),
    );
    for branch in 0..10 {
        for nth in 0..9 {
            let next = if nth == 8 { "meet".to_owned() } else { format!("b{branch}_{}", nth + 1) };
            let mut row = logic(&format!("b{branch}_{nth}")).goto(&next, &[]);
            if nth == 4 && branch % 5 == 0 {
                row = row.goto("split", &all.iter().map(String::as_str).collect::<Vec<_>>());
            }
            table = table.with(row);
        }
    }
    let mut meet = NodeRow::new("meet", NodeKind::Join).goto("exit", &[]);
    for branch in 0..10 {
        meet = meet.slot(&format!("s{branch}"), "T", &[&format!("b{branch}_8")], false);
    }
    table.with(meet)
}

#[test]
fn independent_branches_do_not_multiply() {
    let table = block();
    let net = Net::new(table).unwrap();
    let found = check(&net);
    assert!(matches!(found, Verdict::Sound { markings } if markings < 200), "{found:?}");
}

#[test]
fn branches_that_choose_do_not_multiply() {
    let names = |prefix: &str| -> Vec<String> { (0..20).map(|nth| format!("{prefix}{nth}")).collect() };
    let branches: Vec<String> = (0..20).map(|nth| format!("work{nth}|meet.slot{nth}")).collect();
    let logic = |name: &str| NodeRow::new(name, NodeKind::Logic);
    let build = |last: &str| {
        let mut table = Table::new("Optional", "T").with(
            NodeRow::new("split", NodeKind::Fork)
                .entry()
                .fork(&branches.iter().map(String::as_str).collect::<Vec<_>>(), &[]),
        );
        let mut meet = NodeRow::new("meet", NodeKind::Join).goto("exit", &[]);
        for (nth, (work, slot)) in names("work").iter().zip(names("slot")).enumerate() {
            let to = if nth == 19 { last.to_owned() } else { format!("meet.{slot}") };
            table = table.with(logic(work).goto(&to, &[]));
            meet = meet.slot(&slot, "T", &["split", work, "work19"], false);
        }
        table.with(meet)
    };
    let found = verdict(&build("meet.slot19"));
    assert!(matches!(found, Verdict::Sound { .. }), "{found:?}");
    let Verdict::Unsound { violations } = verdict(&build("meet.slot18")) else { panic!("two branches fill one slot") };
    let shortest: Vec<String> = violations.iter().take(2).map(ToString::to_string).collect();
    expect![[r#"
        `work19` can send a second token to `meet.slot18`
        help: entry → split → work19 → meet.slot18, which holds a token already
        help: `split` and `work19` both lead to `meet.slot18`: let them meet in a join before

        `work18` can send a second token to `meet.slot18`
        help: entry → split → {work19, work18} → meet.slot18, which holds a token already (there may be a shorter way)
        help: `work18` and `work19` both lead to `meet.slot18`: let them meet in a join before"#]]
    .assert_eq(&shortest.join("\n\n"));
}

/// Optional loops in a row, each with a budget whose route goes on. A budget is tracked by one bit, which can only
/// add behaviour.
#[test]
fn budgets_do_not_multiply() {
    let logic = |name: String| NodeRow::new(name, NodeKind::Logic);
    let mut table = Table::new("Loops", "T");
    for nth in 0..40 {
        let next = if nth == 39 { "exit".to_owned() } else { format!("step{}", nth + 1) };
        let mut step = logic(format!("step{nth}")).goto(&format!("again{nth}"), &[]).goto(&next, &[]);
        step.entry = nth == 0;
        table = table.with(step);
        let again = logic(format!("again{nth}")).goto(&format!("step{nth}"), &[]);
        table = table.with(again.visits(3).exhausted(&next, &[]));
    }
    let found = verdict(&table);
    assert!(matches!(found, Verdict::Sound { markings } if markings < 2_000), "{found:?}");
}

/// One branch of the block goes back to its start and forgets to clear the others.
#[test]
fn a_wide_graph_is_explained_too() {
    let mut table = block();
    let going_back = table.nodes.iter().position(|row| row.name == "b5_4").unwrap();
    table.nodes[going_back].goto[1].cancels.clear();
    let Verdict::Unsound { violations } = verdict(&table) else { panic!("tokens are doubled") };
    let way = "entry → start → split → b5_0 → b5_1 → b5_2 → b5_3 → b5_4 → split → b0_0, which holds a token already";
    assert!(violations.iter().any(|violation| violation.trace == way && violation.shortest), "{violations:?}");
}
