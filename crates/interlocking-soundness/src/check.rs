//! The check: it searches once with the reductions. If a rule is broken, or the search is incomplete, it searches again
//! for the shortest paths to the violations.

use crate::effort::Effort;
use crate::goal::Goal;
use crate::model::{KeptBudgets, Model, Role};
use crate::search::{Broken, Found, Order, Search};
use crate::stubborn::Dependencies;
use crate::together::{Together, mark_total};
use crate::verdict::{Rule, Verdict, Violation};
use crate::{cycles, late, remedy, trace, writers};
use interlocking_core::bits::Bits;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Visits};
use std::collections::BTreeSet;

/// How many markings [`check`] visits before it gives up.
pub const DEFAULT_LIMIT: usize = 20_000;

/// How many markings the search without reductions visits, to find all violations and the shortest paths to them.
const EXPLAIN_LIMIT: usize = 5_000;

/// How many markings the check visits for all pairs of nodes that share a workspace together, before it searches for
/// each pair alone.
const TOGETHER_LIMIT: usize = 2_000;

/// The most violations that are reported for one table, separately for cycles, tokens and shared workspaces.
const MAX_VIOLATIONS: usize = 50;

/// Decides whether every run of a graph ends without a violation. Visits at most [`DEFAULT_LIMIT`] markings.
pub fn check(net: &Net) -> Verdict {
    check_within(net, DEFAULT_LIMIT)
}

/// The same as [`check`], with at most `limit` markings. Where the markings are large it may visit fewer, so that time
/// and memory are bounded for every table. How many it visits depends only on the table and the limit.
pub fn check_within(net: &Net, limit: usize) -> Verdict {
    decide(net, limit, limit.min(EXPLAIN_LIMIT))
}

/// The same as [`check_within`], with at most `explain` markings in searches without reductions; for tests.
#[doc(hidden)]
pub fn decide(net: &Net, limit: usize, explain: usize) -> Verdict {
    let efforts = [Effort::of(limit.max(DEFAULT_LIMIT)), Effort::of(EXPLAIN_LIMIT)];
    let limits = Limits { markings: limit, explain, effort: &efforts[0], explaining: &efforts[1] };
    let mut violations: Vec<Violation> =
        cycles::unbounded(net, MAX_VIOLATIONS).into_iter().map(|cycle| unbounded_cycle(net, &cycle)).collect();
    let found = Check::new(net, limits, KeptBudgets::NotFinal).and_then(|check| check.decide(&mut violations));
    match found {
        _ if !violations.is_empty() => Verdict::Unsound { violations },
        Some(markings) => Verdict::Sound { markings },
        None => Verdict::Undecided { limit },
    }
}

#[derive(Clone, Copy)]
struct Limits<'l> {
    markings: usize,
    explain: usize,
    effort: &'l Effort,
    /// For the searches that explain violations, or an incomplete search.
    explaining: &'l Effort,
}

/// Whether two nodes that change one workspace ever run at the same time.
enum Meeting {
    Found(Violation),
    Never,
    Undecided,
}

struct Check<'n> {
    model: Model<'n>,
    together: Together,
    dependencies: Dependencies,
    limits: Limits<'n>,
}

impl<'n> Check<'n> {
    /// `None` where the preparation for the search exceeds the effort.
    fn new(net: &'n Net, limits: Limits<'n>, kept: KeptBudgets) -> Option<Self> {
        let mut model = Model::new(net, kept);
        let together = Together::of(&model, limits.effort)?;
        mark_total(&mut model, &together);
        let dependencies = Dependencies::of(&model, &together, limits.effort, true)?;
        Some(Self { model, together, dependencies, limits })
    }

    /// Adds the violations. Returns how many markings were visited, or `None` where a rule of tokens is broken or the
    /// limit was too low.
    fn decide(&self, violations: &mut Vec<Violation>) -> Option<usize> {
        let search = self.search();
        if !search.complete || !search.found.is_empty() {
            violations.extend(self.explain(&search));
            return None;
        }
        violations.extend(self.never_runs(&search.ran));
        let workspaces_are_decided = self.shared_workspaces(violations);
        let mut markings = search.states();
        let mut reached_exit = search.reached_exit;
        if !reached_exit && self.has_final_routes() {
            let every = Check::new(self.model.net, self.limits, KeptBudgets::All)?;
            let search = every.search();
            reached_exit = search.reached_exit;
            markings += search.states();
            if !reached_exit && !search.complete {
                return None;
            }
        }
        if !reached_exit {
            violations.push(self.violation(Rule::ExitUnreachable));
            return Some(markings);
        }
        // Paths that need no exhausted budget may be enough to end every run. If not, an exact search includes the
        // budgets.
        if self.model.unbounded && !search.without_end().is_empty() {
            let exact = Check::new(self.model.net, self.limits, KeptBudgets::AllExactly)?;
            let search = exact.search();
            if !search.complete {
                return None;
            }
            markings += search.states();
            let without_end = search.without_end();
            if !without_end.is_empty() {
                violations.push(exact.no_way_out(&search, &without_end));
            }
        }
        workspaces_are_decided.then_some(markings)
    }

    /// Adds the pairs of nodes that can change one workspace at the same time; false where that is undecided.
    ///
    /// [`Together`] over-approximates, so a search confirms each pair of nodes that take tokens: only a pair that some
    /// run really runs at once is reported.
    fn shared_workspaces(&self, violations: &mut Vec<Violation>) -> bool {
        let Limits { markings, effort, .. } = self.limits;
        let mut found: Vec<Violation> =
            writers::beside_the_graph(self.model.net).into_iter().map(|rule| self.violation(rule)).collect();
        let pairs = writers::pairs(&self.model, &self.together);
        // These dependencies keep the length of paths.
        let exact = (!pairs.is_empty()).then(|| Dependencies::of(&self.model, &self.together, effort, false)).flatten();
        let mut is_decided = pairs.is_empty() || exact.is_some();
        let mut left = markings;
        for (pairs, dependencies) in pairs.into_iter().zip(exact.iter().cycle()) {
            if pairs.len() > 1 && self.none_meets(&pairs, dependencies, &mut left) {
                continue;
            }
            for nodes in pairs {
                if found.len() >= MAX_VIOLATIONS {
                    break;
                }
                match self.meet(nodes, dependencies, &mut left) {
                    Meeting::Found(violation) => found.push(violation),
                    Meeting::Never => {}
                    Meeting::Undecided => is_decided = false,
                }
            }
        }
        found.truncate(MAX_VIOLATIONS);
        violations.append(&mut found);
        is_decided
    }

    /// Whether one search for all of these pairs shows that no run has both nodes of any pair running at once. `false`
    /// decides nothing.
    fn none_meets(&self, pairs: &[[usize; 2]], dependencies: &Dependencies, left: &mut usize) -> bool {
        let goal = Goal::any(pairs.iter().map(|&nodes| Broken::Beside { nodes }));
        let order = Order::Towards(&goal);
        let search = Search::run(&self.model, dependencies, self.limits.effort, order, (*left).min(TOGETHER_LIMIT));
        *left = left.saturating_sub(search.states());
        search.complete && search.found.is_empty()
    }

    /// Whether some run has two nodes running at once, and the shortest path there.
    fn meet(&self, nodes: [usize; 2], dependencies: &Dependencies, left: &mut usize) -> Meeting {
        let effort = self.limits.effort;
        let beside = Broken::Beside { nodes };
        let goal = Goal::any([beside.clone()]);
        let search = Search::run(&self.model, dependencies, effort, Order::Towards(&goal), *left);
        *left = left.saturating_sub(search.states());
        let is_met = |found: &&Found| goal.is(&found.broken) || found.met.as_ref().is_some_and(|met| goal.is(met));
        match search.found.iter().find(is_met) {
            Some(met) if met.is_taken && goal.is(&met.broken) => {
                Meeting::Found(self.token_rule(&search, met, !self.model.has_choices()).0)
            }
            // A path with late choices may be one that no run takes, so a full search without late choices decides.
            Some(_) => {
                let full = Search::run(&self.model, dependencies, effort, Order::Everything, *left);
                *left = left.saturating_sub(full.states());
                match full.nearest(&nodes) {
                    Some(state) => {
                        let found = Found::at(&beside, state);
                        Meeting::Found(self.token_rule(&full, &found, full.complete).0)
                    }
                    None if full.complete => Meeting::Never,
                    None => Meeting::Undecided,
                }
            }
            None if search.complete => Meeting::Never,
            None => Meeting::Undecided,
        }
    }

    fn search(&self) -> Search<'_, 'n> {
        Search::run(&self.model, &self.dependencies, self.limits.effort, Order::Stubborn, self.limits.markings)
    }

    /// A search without reductions, for the shortest paths.
    fn full_search(&self) -> Search<'_, 'n> {
        let Limits { explain, explaining, .. } = self.limits;
        Search::run(&self.model, &self.dependencies, explaining, Order::Everything, explain)
    }

    /// The broken rules of tokens, those with the shortest paths first.
    fn explain(&self, reduced: &Search<'_, 'n>) -> Vec<Violation> {
        let full = self.full_search();
        let mut list: Vec<(Violation, usize)> = Vec::new();
        for found in full.found.iter().filter(|found| minimal(found, &full.found)).take(MAX_VIOLATIONS) {
            list.push(self.token_rule(&full, found, true));
        }
        let missed = |found: &&Found| !full.complete && !full.found.iter().any(|known| known.broken == found.broken);
        // These dependencies keep the length of paths.
        let exact = Dependencies::of(&self.model, &self.together, self.limits.explaining, false);
        let mut left = self.limits.markings.min(EXPLAIN_LIMIT);
        let missed = reduced.found.iter().filter(missed).filter(|found| minimal(found, &reduced.found));
        for found in missed.take(MAX_VIOLATIONS - list.len()) {
            let goal = Goal::any([found.broken.clone()]);
            let mut explained = None;
            // With late choices, a shorter path may have been missed.
            let is_shortest = !self.model.has_choices();
            for (dependencies, is_shortest) in [(exact.as_ref(), is_shortest), (Some(&self.dependencies), false)] {
                let Some(dependencies) = dependencies else { continue };
                let order = Order::Towards(&goal);
                let search = Search::run(&self.model, dependencies, self.limits.explaining, order, left / 4);
                left = left.saturating_sub(search.states());
                if let Some(found) = search.found.iter().find(|found| goal.is(&found.broken)) {
                    explained = Some(self.token_rule(&search, found, is_shortest));
                    break;
                }
            }
            list.push(explained.unwrap_or_else(|| self.token_rule(reduced, found, false)));
        }
        list.sort_by_key(|(_, length)| *length);
        list.into_iter().map(|(violation, _)| violation).collect()
    }

    /// The violation, and how many executions lead to it.
    fn token_rule(&self, search: &Search<'_, 'n>, found: &Found, shortest: bool) -> (Violation, usize) {
        let replayed = found.way.as_deref().map(|way| late::state_at_end(&self.model, way));
        let state = replayed.as_ref().unwrap_or_else(|| search.state(found.state));
        let name = |index: &usize| self.model.node_name(*index).to_owned();
        let names = |places: &Bits| self.place_names(places);
        let rule = match &found.broken {
            Broken::DoubleToken { from, place } => {
                Rule::DoubleToken { from: name(from), place: self.model.place_name(*place).to_owned() }
            }
            Broken::LiveAtExit { from } => {
                let live = if found.met.is_some() { None } else { found.live.as_ref() };
                Rule::LiveAtExit { from: name(from), live: names(live.unwrap_or(&state.marking)) }
            }
            Broken::Beside { nodes } => {
                let workspace = self.model.net.table().nodes[nodes[0]].workspace.clone().unwrap_or_default();
                Rule::SharedWorkspace { workspace, nodes: nodes.iter().map(name).collect() }
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
        let path = found.way.clone().unwrap_or_else(|| {
            let mut path = search.path(found.state);
            path.extend(found.last);
            path
        });
        let steps = trace::steps(&self.model, &path);
        let length = steps.len();
        let violation = Violation {
            blame: blame(self.model.net, &rule),
            remedy: remedy::of(self.model.net, &rule, &steps),
            trace: trace::in_words(&self.model, &path, &rule),
            path: steps,
            shortest,
            marking: names(&state.marking),
            rule,
        };
        (violation, length)
    }

    fn violation(&self, rule: Rule) -> Violation {
        of_the_table(self.model.net, rule)
    }

    /// The nodes that no run executes. Event nodes and observers are left out: messages may arrive at any time or
    /// never, and an observer only watches.
    fn never_runs(&self, ran: &[bool]) -> Vec<Violation> {
        let rows = &self.model.net.table().nodes;
        let runs = |row: &NodeRow, ran: bool| match row.kind {
            NodeKind::Event => row.may_stay() || !row.goto.is_empty(),
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

    /// Whether the route of some budget ends the run; the model leaves such routes out.
    fn has_final_routes(&self) -> bool {
        self.model
            .nodes
            .iter()
            .zip(self.model.net.nodes())
            .any(|(node, row)| row.exhausted.is_some() && node.budget.is_none() && node.role != Role::Beside)
            || self.model.has_final_edge_routes()
    }

    /// Searches without reductions for the shortest path to a state from which no run ends.
    fn no_way_out(&self, reduced: &Search<'_, 'n>, without_end: &[u32]) -> Violation {
        let full = self.full_search();
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
        let places: BTreeSet<usize> = places.map(|place| self.model.table_place(place)).collect();
        places.into_iter().map(|place| self.model.place_name(place).to_owned()).collect()
    }
}

/// A violation about the table as a whole, without a path.
fn of_the_table(net: &Net, rule: Rule) -> Violation {
    let (remedy, blame) = (remedy::of(net, &rule, &[]), blame(net, &rule));
    Violation { rule, blame, path: Vec::new(), shortest: true, marking: Vec::new(), trace: String::new(), remedy }
}

fn unbounded_cycle(net: &Net, cycle: &[usize]) -> Violation {
    let nodes = cycle.iter().map(|&index| net.table().nodes[index].name.clone());
    of_the_table(net, Rule::UnboundedCycle { nodes: nodes.collect() })
}

/// The node to look at first.
fn blame(net: &Net, rule: &Rule) -> String {
    let table = net.table();
    let unbounded = |name: &&String| table.node(name).is_some_and(|row| row.visits == Some(Visits::Unbounded));
    match rule {
        Rule::DoubleToken { from, .. } | Rule::LiveAtExit { from, .. } => from.clone(),
        Rule::StarvedJoin { join, .. } => join.clone(),
        Rule::Deadlock { joins, .. } => joins.first().cloned().unwrap_or_default(),
        Rule::UnboundedCycle { nodes } => remedy::event_of(net, nodes).or(nodes.first()).cloned().unwrap_or_default(),
        Rule::NeverRuns { node } => node.clone(),
        Rule::SharedWorkspace { nodes, .. } => nodes.last().cloned().unwrap_or_default(),
        Rule::NoWayOut { nodes } => nodes.iter().find(unbounded).or(nodes.first()).cloned().unwrap_or_default(),
        Rule::ExitUnreachable => table.entry().map(|row| row.name.clone()).unwrap_or_default(),
    }
}

/// Whether no other finding is a deadlock of a proper subset of these joins: fixing the smaller deadlock may fix this
/// one too.
fn minimal(found: &Found, all: &[Found]) -> bool {
    let Broken::Stuck { joins } = &found.broken else { return true };
    !all.iter().any(|other| match &other.broken {
        Broken::Stuck { joins: fewer } => fewer.len() < joins.len() && fewer.iter().all(|join| joins.contains(join)),
        _ => false,
    })
}
