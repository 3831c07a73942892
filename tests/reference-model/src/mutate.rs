//! Every table that differs from a given one in one edge, source, branch, budget, cancel or latch.

use interlocking_core::table::{Goto, NodeKind, NodeRow, Quorum, Table, Target};
use std::fmt::Arguments;

/// A table with one changed row, and a description of the change.
pub struct Mutant {
    /// A description of the change.
    pub what: String,
    at: usize,
    row: NodeRow,
}

impl Mutant {
    /// `table` with the changed row.
    pub fn of(self, table: &Table) -> Table {
        let mut table = table.clone();
        table.nodes[self.at] = self.row;
        name_sources(&mut table, self.at);
        table
    }
}

/// Adds the node at `at` to the sources of each slot that is among its targets.
pub fn name_sources(table: &mut Table, at: usize) {
    let source = table.nodes[at].name.clone();
    let targets: Vec<Target> = table.nodes[at].targets().cloned().collect();
    for target in targets {
        let join = table.nodes.iter_mut().find(|row| row.name == target.node);
        let slot = join.and_then(|row| row.slots.iter_mut().find(|slot| Some(&slot.name) == target.slot.as_ref()));
        if let Some(slot) = slot.filter(|slot| !slot.sources.contains(&source)) {
            slot.sources.push(source.clone());
        }
    }
}

/// All mutants of `table`; [`Net::new`](interlocking_core::net::Net::new) may refuse some.
pub fn mutants(table: &Table) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    each(table, &mut |at, what, change| {
        let mut row = table.nodes[at].clone();
        change(&mut row);
        let what = format!("{}: {what}", row.name);
        assert_ne!(row, table.nodes[at], "{what}");
        mutants.push(Mutant { what, at, row });
    });
    mutants
}

/// Makes only the mutant of `table` whose index `pick` chooses, given their number; `None` if there is none.
pub fn one(table: &Table, pick: impl FnOnce(usize) -> usize) -> Option<Table> {
    let mut many = 0;
    each(table, &mut |_, _, _| many += 1);
    if many == 0 {
        return None;
    }
    let (picked, mut nth, mut mutant) = (pick(many), 0, table.clone());
    each(table, &mut |at, _, change| {
        if nth == picked {
            change(&mut mutant.nodes[at]);
            name_sources(&mut mutant, at);
        }
        nth += 1;
    });
    Some(mutant)
}

/// Changes a row of a table into that of a mutant.
type Change<'c> = &'c dyn Fn(&mut NodeRow);

/// Calls `visit` with each change that makes a mutant, and the position of its row.
fn each(table: &Table, visit: &mut dyn FnMut(usize, Arguments<'_>, Change<'_>)) {
    let targets = all_targets(table);
    for (at, row) in table.nodes.iter().enumerate() {
        let mut add = |differs: bool, what: Arguments<'_>, change: Change<'_>| {
            if differs {
                visit(at, what, change);
            }
        };
        for (nth, goto) in row.goto.iter().enumerate() {
            add(true, format_args!("without goto {}", goto.to), &|row| {
                row.goto.remove(nth);
            });
            for target in &targets {
                add(*target != goto.to, format_args!("goto {target} instead of {}", goto.to), &|row| {
                    row.goto[nth].to = target.clone()
                });
            }
            if goto.times.is_some() {
                add(true, format_args!("goto {} without times", goto.to), &|row| {
                    (row.goto[nth].times, row.goto[nth].exhausted) = (None, None);
                });
            }
            if let Some(route) = &goto.exhausted {
                add(true, format_args!("goto {} without route", goto.to), &|row| row.goto[nth].exhausted = None);
                for target in &targets {
                    add(*target != route.to, format_args!("goto {} exhausted to {target}", goto.to), &|row| {
                        row.goto[nth].exhausted.as_mut().unwrap().to = target.clone();
                    });
                }
                for (which, name) in route.cancels.iter().enumerate() {
                    add(true, format_args!("goto {} exhausted without cancelling {name}", goto.to), &|row| {
                        row.goto[nth].exhausted.as_mut().unwrap().cancels.remove(which);
                    });
                }
            }
            for (which, name) in goto.cancels.iter().enumerate() {
                add(true, format_args!("goto {} without cancelling {name}", goto.to), &|row| {
                    row.goto[nth].cancels.remove(which);
                });
            }
        }
        if let Some(goto) = &row.exhausted {
            add(true, format_args!("without exhausted route"), &|row| row.exhausted = None);
            for target in &targets {
                add(*target != goto.to, format_args!("exhausted to {target}"), &|row| {
                    row.exhausted = Some(Goto::of(target.clone(), goto.cancels.clone()));
                });
            }
            for (which, name) in goto.cancels.iter().enumerate() {
                add(true, format_args!("exhausted without cancelling {name}"), &|row| {
                    row.exhausted.as_mut().unwrap().cancels.remove(which);
                });
            }
        }
        type RouteOf = fn(&mut NodeRow) -> &mut Option<Goto>;
        let routes: [(&str, RouteOf); 2] = [("timed out", |row| &mut row.timed_out), ("failed", |row| &mut row.failed)];
        for (when, route) in routes {
            let Some(goto) = route(&mut row.clone()).clone() else { continue };
            add(true, format_args!("without a route when {when}"), &|row| *route(row) = None);
            for target in &targets {
                let to = Goto::of(target.clone(), goto.cancels.clone());
                add(*target != goto.to, format_args!("{when} to {target}"), &|row| *route(row) = Some(to.clone()));
            }
            for (which, name) in goto.cancels.iter().enumerate() {
                add(true, format_args!("{when} without cancelling {name}"), &|row| {
                    route(row).as_mut().unwrap().cancels.remove(which);
                });
            }
        }
        if let Some(fork) = &row.fork {
            add(true, format_args!("without fork"), &|row| row.fork = None);
            for (which, name) in fork.cancels.iter().enumerate() {
                add(true, format_args!("fork without cancelling {name}"), &|row| {
                    row.fork.as_mut().unwrap().cancels.remove(which);
                });
            }
            for (branch, choices) in fork.branches.iter().enumerate() {
                if fork.branches.len() > 1 {
                    add(true, format_args!("without branch {branch}"), &|row| {
                        row.fork.as_mut().unwrap().branches.remove(branch);
                    });
                }
                for (nth, choice) in choices.iter().enumerate() {
                    if choices.len() > 1 {
                        add(true, format_args!("branch {branch} without {choice}"), &|row| {
                            row.fork.as_mut().unwrap().branches[branch].remove(nth);
                        });
                    }
                    for target in &targets {
                        add(
                            target != choice,
                            format_args!("branch {branch} to {target} instead of {choice}"),
                            &|row| {
                                row.fork.as_mut().unwrap().branches[branch][nth] = target.clone();
                            },
                        );
                    }
                }
            }
        }
        for (nth, slot) in row.slots.iter().enumerate() {
            if row.slots.len() > 1 {
                add(true, format_args!("without slot {}", slot.name), &|row| {
                    row.slots.remove(nth);
                });
            }
            add(true, format_args!("slot {} latched or no more", slot.name), &|row| row.slots[nth].latched ^= true);
            for (which, source) in slot.sources.iter().enumerate() {
                add(true, format_args!("slot {} without source {source}", slot.name), &|row| {
                    row.slots[nth].sources.remove(which);
                });
            }
        }
        if let Some(Quorum::AtLeast(values)) = row.quorum {
            add(true, format_args!("without quorum"), &|row| {
                (row.quorum, row.cancels) = (None, Vec::new());
                row.slots.iter_mut().for_each(|slot| slot.optional = false);
            });
            for other in [values.saturating_sub(1), values + 1] {
                add(other != values, format_args!("quorum {other} instead of {values}"), &|row| {
                    row.quorum = Some(Quorum::AtLeast(other))
                });
            }
            for (which, name) in row.cancels.iter().enumerate() {
                add(true, format_args!("quorum without cancelling {name}"), &|row| {
                    row.cancels.remove(which);
                });
            }
            for (nth, slot) in row.slots.iter().enumerate() {
                let no_more = if slot.optional { "without optional" } else { "optional" };
                add(true, format_args!("{no_more} slot {}", slot.name), &|row| row.slots[nth].optional ^= true);
            }
        }
        add(row.workspace.is_some(), format_args!("without workspace"), &|row| row.workspace = None);
        let writes = row.workspace.is_some() && !row.read_only;
        add(writes != row.read_only, format_args!("read only or no more"), &|row| row.read_only = writes);
        add(row.exclusive.is_some(), format_args!("without exclusive"), &|row| row.exclusive = None);
        add(row.visits.is_some(), format_args!("without visits"), &|row| row.visits = None);
        add(row.attempts.is_some(), format_args!("without attempts"), &|row| row.attempts = None);
        add(row.resume, format_args!("without resume"), &|row| row.resume = false);
    }
}

/// Every target of a token: joins slot by slot, and also by name.
pub fn all_targets(table: &Table) -> Vec<Target> {
    let mut targets = vec![Target::from("exit")];
    for row in &table.nodes {
        match row.kind {
            NodeKind::Advisory | NodeKind::Observer | NodeKind::Event => {}
            NodeKind::Join => {
                let slot = |slot: &str| Target { node: row.name.clone(), slot: Some(slot.into()) };
                targets.extend(row.slots.iter().map(|found| slot(&found.name)));
            }
            _ => targets.push(row.name.as_str().into()),
        }
    }
    targets
}
