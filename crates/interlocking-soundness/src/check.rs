//! The check: search once with the reductions; if a rule is broken, search again for the shortest ways to it.

use crate::goal::Goal;
use crate::model::{Model, Role};
use crate::search::{Broken, Found, Order, Search, Taken};
use crate::stubborn::Dependencies;
use crate::together::{Together, mark_total};
use crate::verdict::{Rule, Verdict, Violation};
use crate::{cycles, remedy, trace};
use interlocking_core::bits::Bits;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Visits};

/// How many markings [`check`] looks at before it gives up.
pub const DEFAULT_LIMIT: usize = 20_000;

/// How many of them it looks at without reductions, to find all that is wrong and the shortest ways to it.
const EXPLAIN_LIMIT: usize = 5_000;

/// Decides whether every run of a graph ends well, looking at no more than [`DEFAULT_LIMIT`] markings.
pub fn check(net: &Net) -> Verdict {
    check_within(net, DEFAULT_LIMIT)
}

/// The same, looking at no more than `limit` markings.
pub fn check_within(net: &Net, limit: usize) -> Verdict {
    decide(net, limit, limit.min(EXPLAIN_LIMIT))
}

/// The same, looking at no more than `explain` markings without reductions; for tests of what is left without them.
#[doc(hidden)]
pub fn decide(net: &Net, limit: usize, explain: usize) -> Verdict {
    let check = Check::new(net, limit, explain, false);
    let mut violations: Vec<Violation> = cycles::unbounded(net).into_iter().map(|cycle| check.cycle(&cycle)).collect();
    let search = check.search(Order::Stubborn, limit);
    if !search.found.is_empty() {
        violations.extend(check.explain(&search));
    } else if search.complete && !check.model.too_wide {
        let ends_by_budget = !search.reached_exit && check.has_final_routes();
        let without_end = if check.model.unbounded { search.without_end() } else { Vec::new() };
        violations.extend(check.never_runs(&search.ran));
        let reaches_exit = search.reached_exit
            || (ends_by_budget && Check::new(net, limit, explain, true).search(Order::Stubborn, limit).reached_exit);
        if !reaches_exit {
            violations.push(check.violation(Rule::ExitUnreachable));
        } else if !without_end.is_empty() {
            violations.push(check.no_way_out(&search, &without_end));
        }
        if violations.is_empty() {
            return Verdict::Sound { markings: search.states() };
        }
    }
    if violations.is_empty() { Verdict::Undecided { limit } } else { Verdict::Unsound { violations } }
}

struct Check<'n> {
    model: Model<'n>,
    together: Together,
    dependencies: Dependencies,
    limit: usize,
    explain: usize,
}

impl<'n> Check<'n> {
    fn new(net: &'n Net, limit: usize, explain: usize, every_budget: bool) -> Self {
        let mut model = Model::new(net, every_budget);
        let together = Together::of(&model);
        mark_total(&mut model, &together);
        let dependencies = Dependencies::of(&model, &together, true);
        Self { model, together, dependencies, limit, explain }
    }

    fn search(&self, order: Order<'_>, limit: usize) -> Search<'_, 'n> {
        Search::run(&self.model, &self.dependencies, order, limit)
    }

    /// All broken rules of tokens, each with a shortest way to it.
    fn explain(&self, reduced: &Search<'_, 'n>) -> Vec<Violation> {
        let full = self.search(Order::Everything, self.explain);
        let mut list: Vec<(Violation, usize)> = Vec::new();
        for found in full.found.iter().filter(|found| minimal(found, &full.found)) {
            list.push((self.token_rule(&full, found, true), full.path(found.state).len()));
        }
        let missed = |found: &&Found| !full.complete && !full.found.iter().any(|known| known.broken == found.broken);
        // Every order that can change the length of a way.
        let exact = Dependencies::of(&self.model, &self.together, false);
        let mut left = self.limit.min(EXPLAIN_LIMIT);
        for found in reduced.found.iter().filter(missed).filter(|found| minimal(found, &reduced.found)) {
            let goal = Goal::new(found.broken.clone());
            let mut explained = None;
            for (dependencies, is_shortest) in [(&exact, true), (&self.dependencies, false)] {
                let search = Search::run(&self.model, dependencies, Order::Towards(&goal), left / 4);
                left = left.saturating_sub(search.states());
                if let Some(found) = search.found.iter().find(|found| goal.is(&found.broken)) {
                    let length = search.path(found.state).len();
                    explained = Some((self.token_rule(&search, found, is_shortest), length));
                    break;
                }
            }
            list.push(
                explained.unwrap_or_else(|| (self.token_rule(reduced, found, false), reduced.path(found.state).len())),
            );
        }
        list.sort_by_key(|(_, length)| *length);
        list.into_iter().map(|(violation, _)| violation).collect()
    }

    fn token_rule(&self, search: &Search<'_, 'n>, found: &Found, shortest: bool) -> Violation {
        let state = search.state(found.state);
        let name = |index: &usize| self.model.node_name(*index).to_owned();
        let names = |places: &Bits| self.place_names(places);
        let rule = match &found.broken {
            Broken::DoubleToken { from, place } => {
                Rule::DoubleToken { from: name(from), place: self.model.place_name(*place).to_owned() }
            }
            Broken::LiveAtExit { from } => {
                Rule::LiveAtExit { from: name(from), live: found.live.as_ref().map(names).unwrap_or_default() }
            }
            Broken::Stuck { joins } => {
                let missing = joins.iter().flat_map(|&join| {
                    let node = &self.model.nodes[join];
                    node.places.clone().filter(move |&place| !self.model.has_value(node, place, state))
                });
                let missing = missing.map(|place| self.model.place_name(place).to_owned()).collect();
                match &joins[..] {
                    [join] => Rule::StarvedJoin { join: name(join), missing },
                    _ => Rule::Deadlock { joins: joins.iter().map(name).collect(), missing },
                }
            }
        };
        let mut path: Vec<Taken> = search.path(found.state);
        path.extend(found.last);
        let steps = trace::steps(&self.model, &path);
        Violation {
            blame: self.blame(&rule),
            remedy: remedy::of(self.model.net, &rule, &steps),
            trace: trace::in_words(&self.model, &path, &rule),
            path: steps,
            shortest,
            marking: names(&state.marking),
            rule,
        }
    }

    fn violation(&self, rule: Rule) -> Violation {
        let remedy = remedy::of(self.model.net, &rule, &[]);
        let blame = self.blame(&rule);
        Violation { rule, blame, path: Vec::new(), shortest: true, marking: Vec::new(), trace: String::new(), remedy }
    }

    fn cycle(&self, cycle: &[usize]) -> Violation {
        self.violation(Rule::UnboundedCycle {
            nodes: cycle.iter().map(|&index| self.model.node_name(index).to_owned()).collect(),
        })
    }

    /// The nodes that no run comes to. Messages may come at any time or never, and an observer sees what there is.
    fn never_runs(&self, ran: &[bool]) -> Vec<Violation> {
        let rows = &self.model.net.table().nodes;
        let runs = |row: &NodeRow, ran: bool| match row.kind {
            NodeKind::Event => row.resume || !row.goto.is_empty(),
            _ => ran,
        };
        let spawned = |name: &str| {
            rows.iter().zip(ran).any(|(row, &ran)| runs(row, ran) && row.spawn.iter().any(|one| one == name))
        };
        let never = rows.iter().zip(ran).filter(|(row, ran)| match row.kind {
            NodeKind::Observer | NodeKind::Event => false,
            NodeKind::Advisory => !spawned(&row.name),
            _ => !**ran,
        });
        never.map(|(row, _)| self.violation(Rule::NeverRuns { node: row.name.clone() })).collect()
    }

    /// Whether some budget's route ends the run, which the model leaves out.
    fn has_final_routes(&self) -> bool {
        self.model
            .nodes
            .iter()
            .zip(self.model.net.nodes())
            .any(|(node, row)| row.exhausted.is_some() && node.budget.is_none() && node.role != Role::Aside)
    }

    /// Searches without reductions for the shortest way to where no run ends.
    fn no_way_out(&self, reduced: &Search<'_, 'n>, without_end: &[u32]) -> Violation {
        let full = self.search(Order::Everything, self.explain);
        let exact = if full.complete { full.without_end() } else { Vec::new() };
        let (search, states) = if exact.is_empty() { (reduced, without_end) } else { (&full, &exact[..]) };
        let nearest = states.iter().copied().min_by_key(|&at| search.path(at).len()).unwrap_or_default();
        let mut nodes: Vec<usize> = Vec::new();
        for &at in states {
            let places = search.state(at).marking.iter().take_while(|&place| place < self.model.places);
            nodes.extend(places.map(|place| self.model.table_node(self.model.consumer(place))));
        }
        nodes.sort_unstable();
        nodes.dedup();
        let rule =
            Rule::NoWayOut { nodes: nodes.iter().map(|&index| self.model.node_name(index).to_owned()).collect() };
        let path = search.path(nearest);
        Violation {
            path: trace::steps(&self.model, &path),
            trace: trace::in_words(&self.model, &path, &rule),
            marking: self.place_names(&search.state(nearest).marking),
            shortest: !exact.is_empty(),
            ..self.violation(rule)
        }
    }

    fn place_names(&self, places: &Bits) -> Vec<String> {
        let places = places.iter().take_while(|&place| place < self.model.places);
        places.map(|place| self.model.place_name(place).to_owned()).collect()
    }

    /// The node to look at first.
    fn blame(&self, rule: &Rule) -> String {
        let table = self.model.net.table();
        let unbounded = |name: &&String| table.node(name).is_some_and(|row| row.visits == Some(Visits::Unbounded));
        match rule {
            Rule::DoubleToken { from, .. } | Rule::LiveAtExit { from, .. } => from.clone(),
            Rule::StarvedJoin { join, .. } => join.clone(),
            Rule::Deadlock { joins: nodes, .. } | Rule::UnboundedCycle { nodes } => {
                nodes.first().cloned().unwrap_or_default()
            }
            Rule::NeverRuns { node } => node.clone(),
            Rule::NoWayOut { nodes } => nodes.iter().find(unbounded).or(nodes.first()).cloned().unwrap_or_default(),
            Rule::ExitUnreachable => table.entry().map(|row| row.name.clone()).unwrap_or_default(),
        }
    }
}

/// Whether no fewer joins wait somewhere else: with those mended, the others may be as well.
fn minimal(found: &Found, all: &[Found]) -> bool {
    let Broken::Stuck { joins } = &found.broken else { return true };
    !all.iter().any(|other| match &other.broken {
        Broken::Stuck { joins: fewer } => fewer.len() < joins.len() && fewer.iter().all(|join| joins.contains(join)),
        _ => false,
    })
}
