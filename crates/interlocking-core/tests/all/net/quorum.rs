//! Joins with a quorum: which rows are refused, and the net of valid ones.

use super::*;
use interlocking_core::table::Quorum;

/// Three slots, the last one optional.
fn meet(quorum: Quorum, cancels: &[&str]) -> NodeRow {
    let row = NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["a"], false).slot("two", "T", &["b"], false);
    row.optional_slot("three", "T", &["c"]).quorum(quorum).cancels(cancels)
}

fn three(meet: NodeRow) -> Table {
    let to = |name: &str, slot: &str| logic(name).goto(&format!("meet.{slot}"), &[]);
    let entry = logic("split").entry().fork(&["a", "b", "c"], &[]);
    table([entry, to("a", "one"), to("b", "two"), to("c", "three"), meet])
}

fn unfit(table: Table, message: Expect) {
    let found = Net::new(table).unwrap_err();
    assert!(matches!(found, NetError::Unfit { .. }), "{found:?}");
    message.assert_eq(&found.to_string());
}

#[test]
fn a_quorum_is_some_of_its_slots() {
    use Quorum::{AtLeast, Enough};
    for (quorum, message) in [
        (AtLeast(0), expect!["node `meet`: a quorum of 0 is reached by nothing: the least is 1"]),
        (
            AtLeast(3),
            expect!["node `meet`: a quorum of 3 is all of its slots, which every join waits for: take it away"],
        ),
        (AtLeast(4), expect!["node `meet`: its 3 slots never come to a quorum of 4"]),
        (Enough, expect!["node `meet`: what is `enough` a map's handler says: give the quorum of a join as a number"]),
    ] {
        unfit(three(meet(quorum, &["*"])), message);
    }
    for values in [1, 2] {
        Net::new(three(meet(AtLeast(values), &["*"]))).unwrap();
    }
}

#[test]
fn a_quorum_clears_what_comes_too_late() {
    let two = |cancels: &[&str]| three(meet(Quorum::AtLeast(2), cancels));
    unfit(
        two(&[]),
        expect![
            "node `meet`: what comes after its quorum would be a second token: say what is cleared then, `cancels(…)`"
        ],
    );
    for own in ["meet", "meet.one"] {
        let found = Net::new(two(&["a", own])).unwrap_err().to_string();
        let expected = format!(
            "node `meet`: its own `cancels` names `{own}`, and when it fires it is cleared whole: leave it out"
        );
        assert_eq!(found, expected);
    }
    assert_eq!(Net::new(two(&["nobody"])).unwrap_err(), unknown("meet", "nobody"));
    let mut without = two(&["*"]);
    without.nodes[4].quorum = None;
    unfit(
        without,
        expect!["node `meet`: only a join with a `quorum` clears something by itself: say `cancels` where it leads on"],
    );
    let mut of_a_map = two(&["*"]);
    of_a_map.nodes[1].cancels = vec!["b".into()];
    unfit(
        of_a_map,
        expect!["node `a`: only a join with a `quorum` clears something by itself: say `cancels` where it leads on"],
    );
    let mut elsewhere = two(&["*"]);
    elsewhere.nodes[1].quorum = Some(Quorum::AtLeast(1));
    unfit(elsewhere, expect!["node `a`: only a map node or a join waits for several: take its `quorum` away"]);
}

#[test]
fn its_slots_hold_what_counts() {
    let mut latched = three(meet(Quorum::AtLeast(2), &["*"]));
    latched.nodes[4].slots[1].latched = true;
    unfit(
        latched,
        expect![
            "node `meet`: slot `two` is latched, and a join with a quorum keeps nothing for later rounds: take `latched` away"
        ],
    );
    let mut optional = three(meet(Quorum::AtLeast(2), &[]));
    optional.nodes[4].quorum = None;
    unfit(
        optional,
        expect!["node `meet`: slot `three` is optional, and nothing counts its values: give the join a `quorum`"],
    );
}

/// Clearing only a part of a join with a quorum could leave it fired with only some of its slots.
#[test]
fn it_is_cleared_whole() {
    let with = |row: NodeRow| {
        let mut table = three(meet(Quorum::AtLeast(2), &["*"]));
        table.nodes.push(row);
        table
    };
    for row in [
        logic("late").goto("exit", &["meet.one"]),
        logic("late").fork(&["a", "exit"], &["a", "meet.one"]),
        logic("late").goto("exit", &[]).failed("exit", &["meet.one"]),
    ] {
        unfit(
            with(row),
            expect!["node `late`: join `meet` has a quorum, so it is cleared whole: `meet` instead of `meet.one`"],
        );
    }
    Net::new(with(logic("late").goto("exit", &["meet"]))).unwrap();
}

#[test]
fn what_a_run_knows_of_it() {
    let net = Net::new(three(meet(Quorum::AtLeast(2), &["*"]))).unwrap();
    assert_eq!(net.quorum_joins(), [4]);
    let quorum = net.node(4).quorum.as_ref().unwrap();
    let names = |places: &interlocking_core::bits::Bits| -> Vec<&str> {
        places.iter().map(|place| net.places()[place].name.as_str()).collect()
    };
    assert_eq!(quorum.values, 2);
    assert_eq!(names(&quorum.clears.places), ["split", "a", "b", "c"], "everything but its own slots");
    assert!(!quorum.clears.nodes.contains(4));
    let optional = net.places().iter().filter(|place| place.optional).map(|place| place.name.as_str());
    assert_eq!(optional.collect::<Vec<_>>(), ["meet.three"]);
    let plain: Vec<bool> = net.alternatives().iter().map(|way| way.plain).collect();
    assert_eq!(plain, [false; 5], "what fills a slot is counted, and no shortcut leads past that");
}
