//! The tables of a seed: sound ones of the generator that the evidence for soundness uses, with what a run has beside its
//! tokens added.

use interlocking_core::net::Net;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Quorum, Table, Visits};
use interlocking_reference_model::edge_budgets::{EDGES, give_budgets};
use interlocking_reference_model::generate::{self, Dice};
use interlocking_reference_model::mutate;
use interlocking_reference_model::quorums::give_quorums;
use interlocking_soundness::{DEFAULT_LIMIT, Verdict, check, decide};

/// The most nodes that a table has: as many as there are markers.
pub(crate) const NODES: usize = 14;

/// How long a node with a timeout may take, in milliseconds.
pub(crate) const TIMEOUT_MS: u64 = 2_000;

/// The table of the run, and that of its children.
pub(crate) fn tables(seed: u64) -> [Table; 2] {
    let mut dice = Dice::new(seed ^ 0x7a_b1e5);
    let mut parent = sound(&mut dice, 2, 0);
    let child = sound(&mut dice, 1, 1);
    if !child.nodes.iter().any(|row| matches!(row.kind, NodeKind::Human | NodeKind::Event)) {
        let_sections_exclude(&mut Dice::new(seed ^ 0x5e_c710), &mut parent);
    }
    [parent, child]
}

/// Lets some graph nodes take turns, and others with them. Their child graphs wait for nobody outside.
fn let_sections_exclude(dice: &mut Dice, table: &mut Table) {
    for row in &mut table.nodes {
        let percent = match row.kind {
            NodeKind::Graph => 70,
            NodeKind::Map | NodeKind::Human | NodeKind::Observer => 0,
            _ => 30,
        };
        row.exclusive = dice.percent(percent).then(|| "turn".to_owned());
    }
}

/// A sound table of at least so many nodes; those of children are small.
fn sound(dice: &mut Dice, least: usize, level: usize) -> Table {
    loop {
        let seed = dice.below(1 << 40) as u64;
        let mut table = generate::table(seed);
        // From dice of their own, so that the other tables are what they would be without.
        let mut budgets = Dice::new(seed ^ 0xb0d6);
        if budgets.percent(40) && give_budgets(&mut budgets, &mut table) > EDGES {
            continue;
        }
        if table.nodes.len() < least || level == 1 && table.nodes.len() > 6 {
            continue;
        }
        // The generator has shapes too that the derive refuses before it asks whether they are sound.
        let leads_nowhere = |row: &NodeRow| row.kind == NodeKind::Event && !row.resume && row.goto.is_empty();
        if table.nodes.iter().any(leads_nowhere) {
            continue;
        }
        let mut table = furnished(dice, table, level);
        let mut own = Dice::new(seed ^ 0x9_0b5);
        let_maps_go_on(&mut own, &mut table);
        let_messages_add_items(&mut own, &mut table);
        let_messages_be_lost(&mut Dice::new(seed ^ 0x1_0057), &mut table);
        if !is_sound(&table) {
            continue;
        }
        let table_of_all = table.clone();
        give_quorums(&mut Dice::new(seed ^ 0x10_1a5), &mut table);
        if !is_sound(&table) {
            table = table_of_all;
        }
        if dice.percent(50) {
            routed(dice, &mut table);
        }
        if level == 1 {
            // They may always fail, and are no loop then.
            let graphs = table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Graph);
            graphs.for_each(|row| row.failed = Some(Goto::new("exit", &["*"])));
        }
        if is_sound(&table) {
            return housed(&mut Dice::new(seed ^ 0x91_ace), table);
        }
    }
}

/// The table with workspaces; of two nodes that could change one at once, the one to blame works nowhere.
fn housed(dice: &mut Dice, table: Table) -> Table {
    if dice.percent(50) {
        return table;
    }
    let mut housed = table.clone();
    for row in housed.nodes.iter_mut().filter(|row| row.kind != NodeKind::Observer) {
        if dice.percent(60) {
            row.workspace = Some(["desk", "bench"][dice.below(2)].to_owned());
            row.read_only = dice.percent(20);
        }
    }
    loop {
        match check(&Net::new(housed.clone()).unwrap()) {
            Verdict::Sound { .. } => return housed,
            Verdict::Undecided { .. } => return table,
            Verdict::Unsound { violations } => {
                for row in housed.nodes.iter_mut().filter(|row| violations.iter().any(|one| one.blame == row.name)) {
                    (row.workspace, row.read_only) = (None, false);
                }
            }
        }
    }
}

/// A table that gets routes of failures is sound without them, too: nobody may ever fail.
fn is_sound(table: &Table) -> bool {
    // What is wrong, and where, is no matter here.
    Net::new(table.clone()).is_ok_and(|net| matches!(decide(&net, DEFAULT_LIMIT, 0), Verdict::Sound { .. }))
}

/// The table with timeouts, memories, and all that works beside a graph.
fn furnished(dice: &mut Dice, mut table: Table, level: usize) -> Table {
    table.graph = ["Parent", "Child"][level].into();
    let tells: Vec<String> = table
        .nodes
        .iter()
        .filter(|row| !matches!(row.kind, NodeKind::Advisory | NodeKind::Observer))
        .map(|row| row.name.clone())
        .collect();
    if dice.percent(20) && table.nodes.len() < NODES && table.node("observer").is_none() {
        table.nodes.push(NodeRow::new("observer", NodeKind::Observer));
    }
    if dice.percent(15) && table.nodes.len() < NODES && table.node("advisory").is_none() {
        table.nodes.push(NodeRow::new("advisory", NodeKind::Advisory));
        let at = dice.below(tells.len());
        table.nodes[at].spawn.push("advisory".into());
    }
    let shares = dice.percent(30);
    for row in &mut table.nodes {
        match row.kind {
            NodeKind::Llm => *row = row.clone().llm("Asking", "Said"),
            NodeKind::Event if dice.percent(40) => *row = row.clone().llm("Asking", "Said"),
            // A graph node always has a child, so those of a child often go too deep.
            NodeKind::Map if dice.percent([45, 15][level]) => {
                row.kind = NodeKind::Graph;
                *row = row.clone().graph("Child").depth(2);
            }
            NodeKind::Map => {
                *row = row.clone().map("Child").depth(2);
                if dice.percent(50) {
                    *row = row.clone().concurrency(1 + dice.below(2) as u32);
                } else {
                    *row = row.clone().adopt();
                }
            }
            NodeKind::Human => *row = row.clone().asks("u64", "u64"),
            NodeKind::Advisory => {
                row.report = dice.percent(80).then(|| "u64".to_owned());
                if dice.percent(50) {
                    *row = row.clone().llm("Asking", "Said");
                }
                row.visits = dice.percent(30).then(|| Visits::AtMost(1 + dice.below(2) as u32));
            }
            NodeKind::Observer => {
                row.observes = (0..1 + dice.below(3)).map(|_| dice.pick(&tells).clone()).collect();
                row.observes.sort();
                row.observes.dedup();
                *row = row.clone().report("Sum").memory("observer", "Sum");
            }
            _ => {}
        }
        if !matches!(row.kind, NodeKind::Map | NodeKind::Graph | NodeKind::Human | NodeKind::Observer) {
            if dice.percent(40) {
                row.timeout_ms = Some(TIMEOUT_MS);
            }
            if row.kind != NodeKind::Advisory && dice.percent(if shares { 50 } else { 10 }) {
                let group = if shares && dice.percent(70) { "shared" } else { &row.name.clone() };
                *row = row.clone().memory(group, "Sum");
            }
        }
    }
    table
}

/// Lets some maps wait for fewer than all of their children.
fn let_maps_go_on(dice: &mut Dice, table: &mut Table) {
    for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Map) {
        row.quorum = match dice.below(10) {
            0..3 => Some(Quorum::AtLeast(1 + dice.below(2) as u32)),
            3..5 => Some(Quorum::Enough),
            _ => None,
        };
    }
}

/// Lets some messages add items to a map.
fn let_messages_add_items(dice: &mut Dice, table: &mut Table) {
    let maps: Vec<_> = table.nodes.iter().filter(|row| row.kind == NodeKind::Map).map(|row| row.name.clone()).collect();
    for row in table.nodes.iter_mut().filter(|row| row.resume && !maps.is_empty()) {
        if dice.percent(80) {
            row.adds_to.push(dice.pick(&maps).clone());
        }
    }
}

/// Lets some messages be lost that come while nobody waits for them.
fn let_messages_be_lost(dice: &mut Dice, table: &mut Table) {
    for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Event) {
        row.transient = (!row.goto.is_empty() || !row.adds_to.is_empty()) && dice.percent(40);
    }
}

/// Gives some nodes a way on for when they fail, or take too long: one that they have anyhow, or the exit, mostly.
fn routed(dice: &mut Dice, table: &mut Table) {
    let targets = mutate::all_targets(table);
    for at in 0..table.nodes.len() {
        let row = &table.nodes[at];
        if matches!(row.kind, NodeKind::Event | NodeKind::Advisory | NodeKind::Observer) {
            continue;
        }
        let own = row.goto.clone();
        let route = |dice: &mut Dice| match dice.below(10) {
            0..4 if !own.is_empty() => dice.pick(&own).clone(),
            4..6 => Goto::of(dice.pick(&targets).clone(), vec!["*".to_owned()]),
            _ => Goto::new("exit", &["*"]),
        };
        let failed = dice.percent(40).then(|| route(dice));
        let timed_out = (row.timeout_ms.is_some() && dice.percent(50)).then(|| route(dice));
        (table.nodes[at].failed, table.nodes[at].timed_out) = (failed, timed_out);
        mutate::name_sources(table, at);
    }
}
