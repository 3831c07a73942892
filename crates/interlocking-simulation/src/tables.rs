//! The tables of a seed: sound tables of the generator that the evidence for soundness uses, extended with features
//! beside tokens, such as memory, agents and timeouts.

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

/// Makes some graph nodes exclusive, and other nodes with them. Their child graphs wait for nothing outside.
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

/// A sound table of at least `least` nodes; tables of children are small.
fn sound(dice: &mut Dice, least: usize, level: usize) -> Table {
    loop {
        let seed = dice.below(1 << 40) as u64;
        let mut table = generate::table(seed);
        // Separate dice, so that all other choices stay the same.
        let mut budgets = Dice::new(seed ^ 0xb0d6);
        if budgets.percent(40) && give_budgets(&mut budgets, &mut table) > EDGES {
            continue;
        }
        if table.nodes.len() < least || level == 1 && table.nodes.len() > 6 {
            continue;
        }
        // The generator also makes shapes that the derive refuses before it checks soundness.
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
            // A graph node at the deepest level fails, and with this route that causes no loop.
            let graphs = table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Graph);
            graphs.for_each(|row| row.failed = Some(Goto::new("exit", &["*"])));
        }
        if is_sound(&table) {
            return housed(&mut Dice::new(seed ^ 0x91_ace), table);
        }
    }
}

/// Adds workspaces; of two nodes that could change the same workspace at once, the blamed node gets none.
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

/// Whether a table is sound. A table with routes of failures must be sound without them, too: possibly no node ever
/// fails.
fn is_sound(table: &Table) -> bool {
    // The violations do not matter here, so none is explained.
    Net::new(table.clone()).is_ok_and(|net| matches!(decide(&net, DEFAULT_LIMIT, 0), Verdict::Sound { .. }))
}

/// Adds timeouts, memories, agents, children and nodes beside the graph.
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
            // A graph node always starts a child, so graph nodes in a child graph often nest too deep.
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

/// Gives some maps a quorum.
fn let_maps_go_on(dice: &mut Dice, table: &mut Table) {
    for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Map) {
        row.quorum = match dice.below(10) {
            0..3 => Some(Quorum::AtLeast(1 + dice.below(2) as u32)),
            3..5 => Some(Quorum::Enough),
            _ => None,
        };
    }
}

/// Lets some event nodes add items to a map.
fn let_messages_add_items(dice: &mut Dice, table: &mut Table) {
    let maps: Vec<_> = table.nodes.iter().filter(|row| row.kind == NodeKind::Map).map(|row| row.name.clone()).collect();
    for row in table.nodes.iter_mut().filter(|row| row.resume && !maps.is_empty()) {
        if dice.percent(80) {
            row.adds_to.push(dice.pick(&maps).clone());
        }
    }
}

/// Makes some event nodes transient.
fn let_messages_be_lost(dice: &mut Dice, table: &mut Table) {
    for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Event) {
        row.transient = (!row.goto.is_empty() || !row.adds_to.is_empty()) && dice.percent(40);
    }
}

/// Gives some nodes routes for failures and timeouts: mostly to one of their own targets, or to the exit.
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
