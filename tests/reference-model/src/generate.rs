//! Random tables from a seed: either composed of matching blocks and then disturbed, or noise.

use crate::mutate;
use interlocking_core::net::Net;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Table, Target};

/// The largest number of nodes in a table.
pub const NODES: usize = 12;

/// A small random number generator that gives the same numbers on all platforms (SplitMix64).
pub struct Dice(u64);

impl Dice {
    /// A generator that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    /// True with a probability of `chance` percent.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// A random element.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// The table of `seed`, which [`Net::new`] accepts.
pub fn table(seed: u64) -> Table {
    let mut dice = Dice::new(seed);
    if dice.percent(15) {
        return noise(&mut dice);
    }
    let mut table = composed(&mut dice);
    while table.nodes.len() > NODES || table.nodes.len() < 2 + dice.below(4) {
        table = composed(&mut dice);
    }
    for _ in 0..[0, 0, 0, 0, 1, 1, 1, 1, 2, 3][dice.below(10)] {
        let Some(mutant) = mutate::one(&table, |many| dice.below(many)) else { break };
        if Net::new(mutant.clone()).is_ok() {
            table = mutant;
        }
    }
    table
}

/// Nested blocks. Without disturbances the table is mostly sound.
fn composed(dice: &mut Dice) -> Table {
    let size = 2 + dice.below(NODES - 3);
    let mut table = block(dice, size);
    beside(dice, &mut table.nodes);
    table
}

/// Nested blocks in one of about `size` nodes, one after the other or side by side.
pub fn block(dice: &mut Dice, size: usize) -> Table {
    let mut blocks = Blocks { dice, rows: Vec::new(), left: size, scope: Vec::new() };
    let entry = blocks.block("exit", None);
    if blocks.rows.iter().any(|row| row.name == entry && row.kind == NodeKind::Join) {
        unreachable!("a block begins with a node");
    }
    let mut rows = blocks.rows;
    for row in rows.iter_mut().filter(|row| row.name == entry) {
        row.entry = true;
    }
    let mut table = Table::new("Generated", "T");
    table.nodes = rows;
    table
}

/// Events, advisories and observers.
fn beside(dice: &mut Dice, rows: &mut Vec<NodeRow>) {
    let plain: Vec<String> = rows.iter().filter(|row| row.kind != NodeKind::Join).map(|row| row.name.clone()).collect();
    if dice.percent(30) && rows.len() < NODES {
        let mut event = NodeRow::new("event", NodeKind::Event);
        event.resume = dice.percent(50);
        for _ in 0..1 + usize::from(dice.percent(20)) {
            let redirect = redirect(dice, rows, &plain);
            event.goto.push(redirect);
        }
        if dice.percent(90) {
            event = event.visits(1 + dice.below(2) as u32);
            event.exhausted = match dice.below(10) {
                0..4 => None,
                4..8 => Some(Goto::new("exit", &["*"])),
                _ => Some(redirect(dice, rows, &plain)),
            };
        }
        rows.push(event);
    }
    if dice.percent(20) && rows.len() < NODES {
        let at = dice.below(rows.len());
        if dice.percent(90) {
            rows[at].spawn.push("advisory".into());
        }
        let advisory = NodeRow::new("advisory", NodeKind::Advisory);
        rows.push(if dice.percent(70) { advisory.agent("adviser") } else { advisory });
    }
    if dice.percent(10) && rows.len() < NODES {
        rows.push(NodeRow::new("observer", NodeKind::Observer));
    }
}

/// A redirect of a message: mostly from everywhere, so that no token is left behind.
fn redirect(dice: &mut Dice, rows: &[NodeRow], plain: &[String]) -> Goto {
    let to: &String = dice.pick(plain);
    match dice.below(10) {
        0..6 => Goto::new(to, &["*"]),
        6 => Goto::new("exit", &["*"]),
        7 => Goto::new(to, &[to]),
        _ => Goto::new(to, &[to, &dice.pick(rows).name]),
    }
}

struct Blocks<'d> {
    dice: &'d mut Dice,
    rows: Vec<NodeRow>,
    /// The number of nodes that may still be added.
    left: usize,
    /// The first nodes of blocks to which a branch may go back, each with what must be cancelled for that.
    scope: Vec<(String, Vec<String>)>,
}

impl Blocks<'_> {
    /// Adds a block that ends at `next`, and gives its first node. `inner` names the join whose slot ends the
    /// branch.
    fn block(&mut self, next: &str, inner: Option<&str>) -> String {
        let choice = match self.left {
            0 | 1 => 0,
            2 | 3 => self.dice.below(70),
            _ => 14 + self.dice.below(110),
        };
        match choice {
            0..20 => self.step(next, inner),
            20..35 => self.sequence(next, inner),
            35..50 => self.choice(next, inner),
            50..60 => self.retry(next),
            60..70 => self.redo(next, inner),
            _ => self.parallel(next, inner),
        }
    }

    fn fresh(&mut self) -> NodeRow {
        let kinds = [NodeKind::Logic, NodeKind::Logic, NodeKind::Llm, NodeKind::Llm, NodeKind::Human, NodeKind::Map];
        self.left = self.left.saturating_sub(1);
        let row = NodeRow::new(format!("n{}", self.rows.len()), *self.dice.pick(&kinds));
        // Reserves its place in the table; `set` sets the content.
        self.rows.push(row.clone());
        row
    }

    fn set(&mut self, row: NodeRow) -> String {
        let name = row.name.clone();
        let at = self.rows.iter().position(|found| found.name == name).unwrap();
        self.rows[at] = row;
        name
    }

    fn bounded(&mut self, row: NodeRow) -> NodeRow {
        let row = row.visits(1 + self.dice.below(3) as u32);
        if self.dice.percent(50) { row.exhausted("exit", &["*"]) } else { row }
    }

    fn step(&mut self, next: &str, inner: Option<&str>) -> String {
        let mut row = self.fresh().goto(next, &[]);
        if self.dice.percent(if inner.is_some() { 25 } else { 10 }) {
            row = row.goto("exit", &["*"]);
        }
        // Cancels what runs beside it and begins again.
        if let Some((first, cancelled)) = self.scope.last().cloned().filter(|_| self.dice.percent(20)) {
            let mut cancels: Vec<&str> = cancelled.iter().map(String::as_str).collect();
            cancels.push(inner.unwrap());
            row = row.goto(&first, &cancels);
            row = if self.dice.percent(80) { self.bounded(row) } else { row };
        }
        self.set(row)
    }

    fn sequence(&mut self, next: &str, inner: Option<&str>) -> String {
        let second = self.block(next, inner);
        self.block(&second, inner)
    }

    fn choice(&mut self, next: &str, inner: Option<&str>) -> String {
        let row = self.fresh();
        let one = self.block(next, inner);
        let other = if self.dice.percent(50) && self.left > 0 { self.block(next, inner) } else { next.to_owned() };
        self.set(row.goto(&one, &[]).goto(&other, &[]))
    }

    fn retry(&mut self, next: &str) -> String {
        let row = self.fresh();
        let name = row.name.clone();
        let mut row = row.goto(&name, &[]).goto(next, &[]);
        row = if self.dice.percent(70) { row.attempts(1 + self.dice.below(3) as u32) } else { self.bounded(row) };
        if row.exhausted.is_none() && self.dice.percent(40) {
            row = row.exhausted(if self.dice.percent(60) { "exit" } else { next }, &[]);
        }
        if row.exhausted.as_ref().is_some_and(|goto| goto.to.is_exit() && goto.cancels.is_empty()) {
            row = row.exhausted("exit", &["*"]);
        }
        self.set(row)
    }

    /// A block, a judge, and a way back.
    fn redo(&mut self, next: &str, inner: Option<&str>) -> String {
        let judge = self.fresh();
        let name = judge.name.clone();
        let body = self.block(&name, inner);
        // Sometimes the judge never accepts.
        if self.dice.percent(8) {
            self.set(judge.goto(&body, &[]).unbounded());
            return body;
        }
        let mut row = judge.goto(next, &[]).goto(&body, &[]);
        row = match self.dice.below(20) {
            0 => row,
            1..5 => row.unbounded(),
            _ => self.bounded(row),
        };
        self.set(row);
        body
    }

    /// A fork and its join. The join may start one branch again if the others' slots are latched.
    fn parallel(&mut self, next: &str, inner: Option<&str>) -> String {
        let mut fork = self.fresh();
        fork.kind = if self.dice.percent(50) { NodeKind::Fork } else { fork.kind };
        let mut join = self.fresh();
        join.kind = NodeKind::Join;
        join.name = format!("j{}", &join.name[1..]);
        let at = self.rows.len() - 1;
        self.rows[at].name.clone_from(&join.name);
        let width = 2 + usize::from(self.dice.percent(25));
        let again = self.dice.percent(35);
        let mut branches = Vec::new();
        let mut firsts = Vec::new();
        for branch in 0..width {
            let slot = format!("{}.{}", join.name, ["a", "b", "c"][branch]);
            let before = self.rows.len();
            // The last branch may restart what the others have begun.
            let begun: Vec<String> = self.rows[at + 1..].iter().map(|row| row.name.clone()).collect();
            let restarts = branch + 1 == width && self.dice.percent(60);
            if restarts {
                self.scope.push((fork.name.clone(), begun));
            }
            let first = self.block(&slot, Some(&join.name));
            if restarts {
                self.scope.pop();
            }
            let sources: Vec<String> = self.rows[before..].iter().map(|row| row.name.clone()).collect();
            let mut sources: Vec<&str> = sources.iter().map(String::as_str).collect();
            let skip = self.dice.percent(20);
            if skip {
                sources.push(&fork.name);
            }
            join = join.slot(["a", "b", "c"][branch], "T", &sources, again && branch > 0);
            branches.push(if skip { format!("{first}|{slot}") } else { first.clone() });
            firsts.push(first);
        }
        let branches: Vec<&str> = branches.iter().map(String::as_str).collect();
        let name = self.set(fork.fork(&branches, &[]));
        join = join.goto(next, &[]);
        if again {
            join = join.goto(&firsts[0], &[]);
            join = if self.dice.percent(85) { self.bounded(join) } else { join };
        }
        if inner.is_some() && self.dice.percent(15) {
            join = join.goto("exit", &["*"]);
        }
        self.set(join);
        name
    }
}

/// Random edges between random nodes.
fn noise(dice: &mut Dice) -> Table {
    let kinds = [NodeKind::Logic, NodeKind::Llm, NodeKind::Join, NodeKind::Join];
    let mut rows: Vec<NodeRow> = Vec::new();
    for index in 0..2 + dice.below(7) {
        let kind = if index == 0 { NodeKind::Logic } else { *dice.pick(&kinds) };
        rows.push(NodeRow::new(format!("n{index}"), kind));
    }
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    for row in rows.iter_mut().filter(|row| row.kind == NodeKind::Join) {
        let sources: Vec<&str> = names.iter().map(String::as_str).collect();
        let latched = [dice.percent(30), dice.percent(40)];
        let mut filled = row.clone().slot("a", "T", &sources, latched[0]);
        if dice.percent(80) || latched[0] {
            filled = filled.slot("b", "T", &sources, latched[1] && !latched[0]);
        }
        *row = filled;
    }
    rows[0].entry = true;
    let mut table = Table::new("Noise", "T");
    table.nodes = rows.clone();
    let targets = mutate::all_targets(&table);
    let mut regions = vec!["*".to_owned()];
    regions.extend(names.iter().cloned());
    regions.extend(targets.iter().skip(1).map(Target::to_string));
    let cancels = |dice: &mut Dice| -> Vec<String> {
        let many = [0, 0, 0, 1, 2][dice.below(5)];
        (0..many).map(|_| dice.pick(&regions).clone()).collect()
    };
    for row in &mut table.nodes {
        for _ in 0..1 + dice.below(2) {
            let (to, cancels) = (dice.pick(&targets).to_string(), cancels(dice));
            *row = row.clone().goto(&to, &cancels.iter().map(String::as_str).collect::<Vec<_>>());
        }
        if dice.percent(40) {
            let branches: Vec<String> = (0..2 + dice.below(2))
                .map(|_| {
                    let choices: Vec<String> =
                        (0..1 + dice.below(2)).map(|_| dice.pick(&targets).to_string()).collect();
                    choices.join("|")
                })
                .collect();
            let cancels = cancels(dice);
            let branches: Vec<&str> = branches.iter().map(String::as_str).collect();
            *row = row.clone().fork(&branches, &cancels.iter().map(String::as_str).collect::<Vec<_>>());
        }
        if dice.percent(50) {
            *row = row.clone().visits(1 + dice.below(3) as u32);
        }
        if dice.percent(20) && row.kind != NodeKind::Join {
            *row = row.clone().attempts(1 + dice.below(3) as u32);
        }
        if dice.percent(30) {
            let (to, cancels) = (dice.pick(&targets).to_string(), cancels(dice));
            *row = row.clone().exhausted(&to, &cancels.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
    table
}
