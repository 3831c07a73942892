//! Ten thousand tables whose nodes work in workspaces, compared with the brute force like the others. No table breaks a rule of
//! tokens, so that only nodes that work at the same time matter.

use crate::compare::{Compared, is_sound};
use crate::hand_made::{event, join, logic, table};
use crate::hard_tables::both_say;
use crate::mutations::compare_all;
use crate::rich;
use crate::sweep::{compare_all_of, selected, share_of};
use interlocking_core::net::Net;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Table};
use interlocking_reference_model::explore::Broken;
use interlocking_reference_model::generate::{self, Dice};
use interlocking_reference_model::mutate;
use interlocking_reference_model::quorums::with_quorums;
use interlocking_reference_model::writers;
use interlocking_soundness::{Rule, Verdict, check, check_within};
use std::ops::Range;

/// The most states of a table that is compared.
const STATES: usize = 3000;

/// The table of `seed`, from the common generator, that of rich tables, or that of joins with a quorum. Its nodes work in
/// workspaces.
fn shared(seed: u64) -> Table {
    let mut dice = Dice::new(seed ^ 0x5a9e);
    loop {
        let number = dice.below(1 << 40) as u64;
        let mut table = match dice.below(10) {
            0..6 => generate::table(number),
            6..8 => rich::table(number),
            _ => with_quorums(number),
        };
        if !is_sound(&table) {
            continue;
        }
        let many = 1 + dice.below(3);
        for row in &mut table.nodes {
            give_workspace(&mut dice, row, many);
        }
        if !writers::all(&table).is_empty() {
            return table;
        }
    }
}

/// Gives most nodes a workspace, and exclusive turns to some of those that can take them.
fn give_workspace(dice: &mut Dice, row: &mut NodeRow, many: usize) {
    if !dice.percent(70) {
        return;
    }
    row.workspace = Some(["desk", "bench", "attic"][dice.below(many)].to_owned());
    row.read_only = dice.percent(10);
    let waits = matches!(row.kind, NodeKind::Map | NodeKind::Human | NodeKind::Observer);
    if !waits && dice.percent(35) {
        row.exclusive = Some(["one", "two"][dice.below(2)].to_owned());
    }
}

fn sweep(seeds: Range<u64>) {
    let many = selected(seeds.clone()).count();
    // Tables in which two nodes that change one workspace never work at the same time, although they take no turns.
    let mut apart = 0;
    let compared = compare_all_of(seeds, STATES, shared, |table, explored| {
        let shared = explored.broken.keys().filter(|rule| matches!(rule, Broken::SharedWorkspace { .. }));
        apart += usize::from(shared.count() < writers::all(table).len());
    });
    report(&compared, apart);
    assert!(compared.tables >= share_of(2_500) && compared.too_large * 25 <= many, "{compared:?}");
    let shared = compared.broken["shared workspace"];
    assert!(shared * 4 > compared.tables && compared.share(compared.sound) > 0.25, "{compared:?}");
    assert!(apart * 2 > compared.tables, "{apart} of {compared:?}");
}

#[expect(clippy::print_stderr, reason = "the measured shares, for whoever asks with --nocapture")]
fn report(compared: &Compared, apart: usize) {
    eprintln!("{compared:?}\nwith writers that are never at work at once: {apart}");
}

#[test]
fn first_quarter_of_workspaces() {
    sweep(0..2_800);
}

#[test]
fn second_quarter_of_workspaces() {
    sweep(2_800..5_600);
}

#[test]
fn third_quarter_of_workspaces() {
    sweep(5_600..8_400);
}

#[test]
fn last_quarter_of_workspaces() {
    sweep(8_400..11_200);
}

fn at(name: &str) -> NodeRow {
    logic(name).workspace("desk")
}

/// Two branches, with nodes before and after them.
fn branches(one: NodeRow, other: NodeRow) -> Table {
    table([
        at("split").fork(&["one", "other"], &[]),
        one.goto("meet", &[]),
        other.goto("meet", &[]),
        join("meet", &["one", "other"]).workspace("desk").goto("last", &[]),
        at("last").goto("exit", &[]),
    ])
}

#[test]
fn who_follows_each_other_may_share_a_workspace_and_branches_may_not() {
    both_say(&branches(at("one"), at("other")), r#"SharedWorkspace { nodes: {"one", "other"} }"#);
    both_say(&branches(at("one"), logic("other")), "sound");
    both_say(&branches(at("one"), logic("other").workspace("bench")), "sound");
    both_say(&branches(at("one"), at("other").read_only()), "sound");
    both_say(&branches(at("one").exclusive("x"), at("other").exclusive("x")), "sound");
    let shared = r#"SharedWorkspace { nodes: {"one", "other"} }"#;
    both_say(&branches(at("one").exclusive("x"), at("other").exclusive("y")), shared);
    both_say(&branches(at("one").exclusive("x"), at("other")), shared);
}

#[test]
fn who_waits_for_others_has_the_workspace_meanwhile() {
    let waits = |kind| NodeRow::new("other", kind).workspace("desk");
    for kind in [NodeKind::Map, NodeKind::Graph, NodeKind::Human] {
        both_say(&branches(at("one"), waits(kind)), r#"SharedWorkspace { nodes: {"one", "other"} }"#);
        both_say(&branches(at("one"), waits(kind).read_only()), "sound");
    }
}

/// Without a search, the places that may be marked together are known only roughly, as if every edge could be spent. Only a
/// search shows that `late` comes after `other` has ended, as long as `work` goes on only once.
#[test]
fn a_pair_that_only_a_search_tells_apart() {
    let rows = |meet: NodeRow| {
        table([
            logic("split").fork(&["work", "other"], &[]),
            logic("work").edge(Goto::new("meet", &[]).times(1).exhausted(Goto::new("late", &[]))),
            at("other").goto("meet", &[]),
            meet.goto("late", &[]),
            at("late").goto("exit", &["*"]),
        ])
    };
    let meet = || join("meet", &["work", "other"]);
    both_say(&rows(meet()), "sound");
    both_say(&rows(meet().goto("split", &[]).visits(2)), r#"SharedWorkspace { nodes: {"late", "other"} }"#);
}

#[test]
fn who_works_beside_the_graph_shares_its_workspace_with_nobody() {
    let with = |advisory: NodeRow, last: NodeRow| {
        table([at("first").spawn("hint").goto("last", &[]), last.goto("exit", &[]), advisory])
    };
    let hint = || NodeRow::new("hint", NodeKind::Advisory).workspace("desk");
    let last = || logic("last").workspace("bench");
    let itself = r#"SharedWorkspace { nodes: {"hint"} }"#;
    let and_first = r#"SharedWorkspace { nodes: {"first", "hint"} }"#;
    both_say(&with(hint(), last()), &format!("{and_first}; {itself}"));
    both_say(&with(hint().visits(1), last()), and_first);
    both_say(&with(hint().read_only(), last()), "sound");
    let elsewhere = || NodeRow::new("hint", NodeKind::Advisory).workspace("attic");
    both_say(&with(elsewhere(), last()), itself);
    both_say(&with(elsewhere().exclusive("hint"), last()), "sound");
    both_say(&with(elsewhere().visits(1), last()), "sound");
    let turns = table([
        at("first").exclusive("desk").spawn("hint").goto("exit", &[]),
        hint().exclusive("desk"),
        event("note").resume().workspace("desk").exclusive("desk"),
    ]);
    both_say(&turns, "sound");
    let mut mail = turns;
    mail.nodes[2].exclusive = None;
    both_say(&mail, r#"SharedWorkspace { nodes: {"hint", "note"} }"#);
}

/// While an event node works, only nodes that wait are running: in CON-149 it works on a branch on which children land.
#[test]
fn an_event_node_works_where_others_wait() {
    let children = NodeRow::new("other", NodeKind::Map).workspace("desk");
    let mut with = branches(logic("one"), children);
    with.nodes.push(event("rebase").resume().workspace("desk"));
    both_say(&with, "sound");
}

#[test]
fn every_mutant_is_told_right() {
    let one = branches(at("one").exclusive("desk"), at("other").exclusive("desk"));
    both_say(&one, "sound");
    let compared = compare_all(&one, mutate::mutants(&one));
    assert_eq!(compared.broken["shared workspace"], 2, "without either's name: {compared:?}");
    let other = branches(at("one"), logic("other").workspace("desk").read_only());
    let compared = compare_all(&other, mutate::mutants(&other));
    assert!(compared.broken["shared workspace"] >= 1, "{compared:?}");
}

/// `width` branches of three nodes, whose middle nodes work in one workspace, by turns or not.
fn wide(width: usize, by_turns: bool) -> Net {
    let name = |step: char, branch: usize| format!("{step}{branch}");
    let firsts: Vec<String> = (0..width).map(|branch| name('a', branch)).collect();
    let lasts: Vec<String> = (0..width).map(|branch| name('c', branch)).collect();
    let mut wide = Table::new("Wide", "T");
    wide.nodes.push(logic("split").entry().fork(&firsts.iter().map(String::as_str).collect::<Vec<_>>(), &[]));
    for branch in 0..width {
        let middle = at(&name('b', branch)).goto(&name('c', branch), &[]);
        wide.nodes.extend([
            logic(&name('a', branch)).goto(&name('b', branch), &[]),
            if by_turns { middle.exclusive("desk") } else { middle },
            logic(&name('c', branch)).goto("meet", &[]),
        ]);
    }
    wide.nodes.push(join("meet", &lasts.iter().map(String::as_str).collect::<Vec<_>>()).goto("exit", &[]));
    Net::new(wide).unwrap()
}

#[test]
fn among_many_branches_each_pair_is_found_by_a_shortest_way() {
    let Verdict::Unsound { violations } = check(&wide(9, false)) else { panic!("nine branches in one workspace") };
    assert_eq!(violations.len(), 9 * 8 / 2);
    for violation in violations {
        assert!(matches!(violation.rule, Rule::SharedWorkspace { .. }), "{violation:?}");
        assert!(violation.shortest && violation.path.len() == 3, "{violation:?}");
    }
    let Verdict::Unsound { violations } = check(&wide(30, false)) else { panic!("thirty") };
    assert_eq!(violations.len(), 50, "no more than fifty are told");
    assert!(matches!(check(&wide(30, true)), Verdict::Sound { .. }));
}

/// Pairs that only a search can tell apart, such as `late` and each of `many` nodes before `meet`, are searched for together:
/// that costs no more than a search for one pair.
#[test]
fn many_pairs_that_never_meet_cost_one_search() {
    let many = 96;
    let names: Vec<String> = (0..many).map(|nth| format!("step{nth}")).collect();
    let mut table = Table::new("Late", "T")
        .with(logic("split").entry().fork(&["work", "step0"], &[]))
        .with(logic("work").edge(Goto::new("meet", &[]).times(1).exhausted(Goto::new("late", &[]))));
    for (nth, name) in names.iter().enumerate() {
        table.nodes.push(at(name).goto(names.get(nth + 1).map_or("meet", String::as_str), &[]));
    }
    let last = names.last().unwrap();
    let table = table.with(join("meet", &["work", last]).goto("late", &[])).with(at("late").goto("exit", &["*"]));
    let verdict = check_within(&Net::new(table).unwrap(), 10 * many);
    assert!(matches!(verdict, Verdict::Sound { .. }), "{verdict:?}");
}

/// If the search reaches its limit, the table is not reported as sound.
#[test]
fn what_is_not_looked_for_is_not_decided() {
    let rows = |at: fn(&str) -> NodeRow| {
        let rows = table([
            logic("split").fork(&["work", "one"], &[]),
            logic("work").edge(Goto::new("meet", &[]).times(1).exhausted(Goto::new("late", &[]))),
            at("one").goto("two", &[]),
            at("two").goto("three", &[]),
            at("three").goto("meet", &[]),
            join("meet", &["work", "three"]).goto("late", &[]),
            at("late").goto("exit", &["*"]),
        ]);
        Net::new(rows).unwrap()
    };
    let is_sound = |net: &Net, limit| matches!(check_within(net, limit), Verdict::Sound { .. });
    let (nowhere, here) = (rows(logic), rows(at));
    let enough = (1..100).find(|&limit| is_sound(&nowhere, limit)).unwrap();
    assert_eq!(check_within(&here, enough), Verdict::Undecided { limit: enough });
    assert!(is_sound(&here, 100));
    // A pair that is found is reported, even if the search for the others is incomplete.
    let both = Net::new(branches(at("one"), at("other"))).unwrap();
    assert!((1..100).all(|limit| !is_sound(&both, limit)));
}
