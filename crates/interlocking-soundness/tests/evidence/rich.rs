//! Tables with features that the common generator seldom makes: several events, advisories and observers, unbounded cycles
//! beside budgets, routes to the exit that leave something live, budgets without a route, and forks with many combinations.

use interlocking_core::net::Net;
use interlocking_core::table::{Fork, Goto, NodeKind, NodeRow, Table, Target, Visits};
use interlocking_reference_model::generate::{self, Dice};
use interlocking_reference_model::mutate;

/// The table of `seed`; one that [`Net::new`] accepts.
pub(crate) fn table(seed: u64) -> Table {
    let mut dice = Dice::new(seed ^ 0x51c4);
    loop {
        let mut table = match dice.below(10) {
            0..3 => optional_branches(&mut dice),
            _ => generate::table(dice.below(1 << 40) as u64),
        };
        for change in [budgets, routes, beside, widen] {
            if dice.percent(60) {
                change(&mut dice, &mut table);
            }
        }
        for _ in 0..[0, 0, 1, 1, 2][dice.below(5)] {
            if let Some(mutant) = mutate::one(&table, |many| dice.below(many)) {
                table = if Net::new(mutant.clone()).is_ok() { mutant } else { table };
            }
        }
        if Net::new(table.clone()).is_ok() {
            return table;
        }
    }
}

fn takes_tokens(row: &NodeRow) -> bool {
    !matches!(row.kind, NodeKind::Event | NodeKind::Advisory | NodeKind::Observer)
}

/// The region of a redirect, a route or a way back: mostly small.
fn region(dice: &mut Dice, table: &Table) -> Vec<String> {
    if dice.percent(30) {
        return vec!["*".to_owned()];
    }
    let rows: Vec<&NodeRow> = table.nodes.iter().filter(|row| takes_tokens(row)).collect();
    let one = |dice: &mut Dice| match *dice.pick(&rows) {
        row if !row.slots.is_empty() && dice.percent(50) => format!("{}.{}", row.name, dice.pick(&row.slots).name),
        row => row.name.clone(),
    };
    (0..1 + dice.below(3)).map(|_| one(dice)).collect()
}

fn target(dice: &mut Dice, table: &Table) -> Target {
    dice.pick(&mutate::all_targets(table)).clone()
}

/// Gives bounds to some nodes; others stay unbounded.
fn budgets(dice: &mut Dice, table: &mut Table) {
    for row in table.nodes.iter_mut().filter(|row| takes_tokens(row)) {
        match dice.below(10) {
            0 | 1 => row.visits = Some(Visits::Unbounded),
            2 | 3 => row.visits = Some(Visits::AtMost(1 + dice.below(2) as u32)),
            _ => {}
        }
    }
}

/// Gives routes to budgets: mostly to the exit, and seldom with everything cleared.
fn routes(dice: &mut Dice, table: &mut Table) {
    for at in 0..table.nodes.len() {
        if !takes_tokens(&table.nodes[at]) || !matches!(table.nodes[at].visits, Some(Visits::AtMost(_))) {
            continue;
        }
        let cancels = if dice.percent(30) { Vec::new() } else { region(dice, table) };
        let to = if dice.percent(60) { Target::from("exit") } else { target(dice, table) };
        table.nodes[at].exhausted = dice.percent(70).then_some(Goto::of(to, cancels));
        mutate::name_sources(table, at);
    }
}

/// Events, advisories and observers, several of each.
fn beside(dice: &mut Dice, table: &mut Table) {
    for nth in 0..dice.below(4) {
        let mut event = NodeRow::new(format!("event{nth}"), NodeKind::Event);
        event.resume = dice.percent(60);
        let redirects = usize::from(!event.resume) + dice.below(2);
        event.goto = (0..redirects).map(|_| Goto::of(target(dice, table), region(dice, table))).collect();
        event.visits = match dice.below(10) {
            0 => None,
            1 => Some(Visits::Unbounded),
            _ => Some(Visits::AtMost(1 + dice.below(2) as u32)),
        };
        if matches!(event.visits, Some(Visits::AtMost(_))) && dice.percent(50) {
            let to = if dice.percent(60) { Target::from("exit") } else { target(dice, table) };
            event.exhausted = Some(Goto::of(to, region(dice, table)));
        }
        table.nodes.push(event);
        mutate::name_sources(table, table.nodes.len() - 1);
    }
    for (kind, name) in [(NodeKind::Advisory, "adviser"), (NodeKind::Observer, "witness")] {
        for nth in 0..dice.below(3) {
            let name = format!("{name}{nth}");
            let from = dice.below(table.nodes.len());
            if kind == NodeKind::Advisory && takes_tokens(&table.nodes[from]) {
                table.nodes[from].spawn.push(name.clone());
            }
            table.nodes.push(NodeRow::new(name, kind));
        }
    }
}

/// Gives a fork so many targets that it has more than 64 combinations.
fn widen(dice: &mut Dice, table: &mut Table) {
    let forks: Vec<usize> = (0..table.nodes.len()).filter(|&at| table.nodes[at].fork.is_some()).collect();
    if forks.is_empty() {
        return;
    }
    let at = *dice.pick(&forks);
    let combinations = |fork: &Fork| fork.branches.iter().map(Vec::len).product::<usize>();
    let mut targets = mutate::all_targets(table);
    targets.retain(|target| !target.is_exit());
    for _ in 0..40 {
        let (target, chance) = (dice.pick(&targets).clone(), dice.below(1 << 16));
        let Some(fork) = &mut table.nodes[at].fork else { return };
        if combinations(fork) > 64 {
            break;
        }
        let nth = chance % fork.branches.len();
        if !fork.branches[nth].contains(&target) {
            fork.branches[nth].push(target);
        }
    }
    mutate::name_sources(table, at);
}

/// Four branches, each of which works in one of two ways or is skipped, and sometimes restarts all of them.
fn optional_branches(dice: &mut Dice) -> Table {
    let mut table = Table::new("Optional", "T");
    let mut split = NodeRow::new("split", NodeKind::Fork).entry().visits(2);
    let mut meet = NodeRow::new("meet", NodeKind::Join);
    let mut branches = Vec::new();
    let mut works = Vec::new();
    for nth in 0..4 {
        let names = [format!("a{nth}"), format!("b{nth}")];
        let slot = format!("s{nth}");
        meet = meet.slot(&slot, "T", &["split", &names[0], &names[1]], false);
        branches.push(format!("{}|meet.{slot}|{}", names[0], names[1]));
        for name in names {
            let row = NodeRow::new(name, NodeKind::Logic).goto(&format!("meet.{slot}"), &[]);
            works.push(if dice.percent(20) { row.goto("exit", &["*"]) } else { row });
        }
    }
    split = split.fork(&branches.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let all: Vec<String> = works.iter().map(|row| row.name.clone()).chain(["meet".to_owned()]).collect();
    for row in &mut works {
        if dice.percent(25) {
            // A way back sometimes omits a branch from what it cancels.
            let cancels = all.iter().filter(|_| dice.percent(93)).cloned().collect();
            row.goto.push(Goto::of("split".into(), cancels));
        }
    }
    meet = meet.goto("exit", &[]);
    table.nodes = [vec![split, if dice.percent(30) { meet.goto("split", &[]) } else { meet }], works].concat();
    table
}
