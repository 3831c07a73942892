//! Compares a verdict with the result of the brute force.

use crate::replay;
use Amiss::NotShortest;
use interlocking_core::net::Net;
use interlocking_core::table::{Fork, NodeKind, Table};
use interlocking_reference_model::cycles;
use interlocking_reference_model::explore::{self, Broken, Explored, explore};
use interlocking_reference_model::mutate;
use interlocking_reference_model::rules::Budgets;
use interlocking_soundness::{DEFAULT_LIMIT, Rule, Step, Verdict, Violation, check, decide};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Counts of what was compared.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    pub(crate) tables: usize,
    pub(crate) sound: usize,
    /// The table has too many states for the brute force, but the brute force can take the check's paths, and these break
    /// the rules.
    pub(crate) shown_by_paths: usize,
    /// Not compared: the table has too many states for the brute force.
    pub(crate) too_large: usize,
    pub(crate) states: usize,
    /// How many tables break each rule.
    pub(crate) broken: BTreeMap<&'static str, usize>,
    /// Compared only by whether some rule is broken: wide forks, with too many markings to find the shortest paths.
    pub(crate) wide: usize,
    /// Paths replayed by the brute force, and those of them that the frontier can take in its order of starts.
    pub(crate) paths: usize,
    pub(crate) event_paths: usize,
    pub(crate) frontier_paths: usize,
    /// Paths found by a search directed at the violation.
    pub(crate) directed: usize,
}

impl Compared {
    pub(crate) fn share(&self, count: usize) -> f64 {
        count as f64 / self.tables as f64
    }
}

/// Compares; gives the brute force's result, unless the table is too large.
pub(crate) fn compare(table: &Table, limit: usize, compared: &mut Compared) -> Result<Option<Explored>, String> {
    let Some(explored) = explore(table, Budgets::OneBit, limit) else {
        let shown = paths_hold(table)?;
        compared.shown_by_paths += usize::from(shown);
        compared.too_large += usize::from(!shown);
        return Ok(None);
    };
    let net = Net::new(table.clone()).unwrap();
    let found = match found(&net) {
        Ok(found) => found,
        Err(NotShortest(found)) if is_wide(table) => {
            both_find(&found, &explored)?;
            paths_are_taken(table, &found)?;
            compared.wide += 1;
            return Ok(Some(explored));
        }
        Err(why) => return Err(why.to_string()),
    };
    let (rules, expected): (BTreeSet<&Broken>, BTreeSet<&Broken>) =
        (found.keys().collect(), explored.broken.keys().collect());
    if rules != expected {
        let (more, less) = (rules.difference(&expected), expected.difference(&rules));
        let (more, less): (Vec<_>, Vec<_>) = (more.collect(), less.collect());
        return Err(format!("the check alone finds {more:?}, the brute force alone {less:?}"));
    }
    let (rules, unbudgeted) = (LazyCell::new(|| replay::rules(table)), LazyCell::new(|| replay::unbudgeted(table)));
    for (rule, path) in found.iter().filter(|(rule, _)| rule.has_way()) {
        let steps = explored.broken[rule] as usize;
        if path.len() != steps {
            return Err(format!("{rule:?}: the check takes {} steps, the brute force {steps}: {path:?}", path.len()));
        }
        if path.is_empty() {
            continue;
        }
        if !replay::by_brute_force(&rules, path, rule) {
            return Err(format!("{rule:?}: no schedule takes this path there: {path:?}"));
        }
        compared.paths += 1;
        // The frontier has no events.
        let is_event = |step: &Step| table.node(&step.node).is_some_and(|row| row.kind == NodeKind::Event);
        if path.iter().any(is_event) {
            compared.event_paths += 1;
        } else {
            compared.frontier_paths += usize::from(replay::on_the_frontier(&unbudgeted, &rules, path, rule));
        }
    }
    compared.directed += directed(&net, &explored)?;
    compared.tables += 1;
    compared.states += explored.states;
    compared.sound += usize::from(explored.broken.is_empty());
    let names: BTreeSet<&str> = explored.broken.keys().map(name).collect();
    names.into_iter().for_each(|name| *compared.broken.entry(name).or_default() += 1);
    Ok(Some(explored))
}

/// Whether a table that [`Net::new`] accepts is sound: by brute force, or by the check if the table is too large.
pub(crate) fn is_sound(table: &Table) -> bool {
    const STATES: usize = 3000;
    let by_check = |net: &Net| matches!(check(net), Verdict::Sound { .. });
    Net::new(table.clone()).is_ok_and(|net| explore::is_sound(table, STATES).unwrap_or_else(|| by_check(&net)))
}

/// Whether the check gives paths to broken rules; an error if a path does not lead to its rule.
fn paths_hold(table: &Table) -> Result<bool, String> {
    let net = Net::new(table.clone()).unwrap();
    let Verdict::Unsound { mut violations } = check(&net) else { return Ok(false) };
    violations.retain(|violation| violation.shortest);
    let found = by_rule(&net, violations).map_err(|why| why.to_string())?;
    paths_are_taken(table, &found)?;
    Ok(found.keys().any(Broken::ends_the_run))
}

/// The same for all paths of a check, the shortest or not.
pub(crate) fn all_paths_hold(table: &Table) -> Result<(), String> {
    let net = Net::new(table.clone()).unwrap();
    let Verdict::Unsound { violations } = check(&net) else { return Err("nothing is wrong".to_owned()) };
    match by_rule(&net, violations) {
        Ok(found) | Err(NotShortest(found)) => paths_are_taken(table, &found),
        Err(why) => Err(why.to_string()),
    }
}

/// Whether some fork has more combinations than the check lists.
fn is_wide(table: &Table) -> bool {
    let combinations = |fork: &Fork| fork.branches.iter().map(Vec::len).product::<usize>();
    table.nodes.iter().filter_map(|row| row.fork.as_ref()).any(|fork| combinations(fork) > 64)
}

/// For paths that may not be the shortest: compares only whether both find some violation.
fn both_find(found: &BTreeMap<Broken, Vec<Step>>, explored: &Explored) -> Result<(), String> {
    match found.is_empty() == explored.broken.is_empty() {
        true => Ok(()),
        false => Err(format!("the check finds {found:?}, the brute force {:?}", explored.broken)),
    }
}

/// Compares whether runs can take all paths to broken rules of tokens.
pub(crate) fn paths_are_taken(table: &Table, found: &BTreeMap<Broken, Vec<Step>>) -> Result<(), String> {
    let rules = replay::rules(table);
    for (rule, path) in found.iter().filter(|(rule, path)| rule.has_way() && !path.is_empty()) {
        if !replay::by_brute_force(&rules, path, rule) {
            return Err(format!("{rule:?}: no schedule takes this path there: {path:?}"));
        }
    }
    Ok(())
}

/// Checks a search that uses reductions only: it finds at least one broken rule, if a rule of tokens is broken, and the
/// path to each rule that it finds is the shortest.
fn directed(net: &Net, explored: &Explored) -> Result<usize, String> {
    let found = match decide(net, DEFAULT_LIMIT, 0) {
        Verdict::Unsound { mut violations } => {
            // The shortest path to a state without a way out needs a complete search.
            violations.retain(|violation| !matches!(violation.rule, Rule::NoWayOut { .. }));
            match by_rule(net, violations) {
                Ok(found) => found,
                Err(NotShortest(found)) if is_wide(net.table()) => {
                    return both_find(&found, explored).map(|()| 0);
                }
                Err(why) => return Err(why.to_string()),
            }
        }
        Verdict::Sound { .. } => BTreeMap::new(),
        Verdict::Undecided { limit } => return Err(format!("undecided after {limit} markings")),
    };
    let found: Vec<_> = found.into_iter().filter(|(rule, _)| rule.has_way()).collect();
    if found.is_empty() && explored.broken.keys().any(Broken::ends_the_run) {
        return Err(format!("the reduced search finds nothing, the brute force {:?}", explored.broken));
    }
    for (rule, path) in &found {
        // The search stops soon after the first violation, and may not reach the states in which fewer joins wait.
        if let Broken::Stuck { joins } = rule
            && !explored.broken.contains_key(rule)
            && explored
                .broken
                .keys()
                .any(|other| matches!(other, Broken::Stuck { joins: fewer } if fewer.is_subset(joins)))
        {
            continue;
        }
        let steps = explored.broken.get(rule).copied();
        if steps != Some(path.len() as u32) {
            return Err(format!(
                "directed to {rule:?} it takes {} steps, the brute force {steps:?}: {path:?}",
                path.len()
            ));
        }
    }
    Ok(found.len())
}

/// Why a verdict is not compared rule by rule.
enum Amiss {
    /// The verdict contradicts itself.
    Wrong(String),
    /// Some path is not marked as the shortest.
    NotShortest(BTreeMap<Broken, Vec<Step>>),
}

impl From<String> for Amiss {
    fn from(why: String) -> Self {
        Self::Wrong(why)
    }
}

impl fmt::Display for Amiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(why) => f.write_str(why),
            NotShortest(found) => write!(f, "not the shortest paths: {found:?}"),
        }
    }
}

/// The rules of a verdict, each with its path.
fn found(net: &Net) -> Result<BTreeMap<Broken, Vec<Step>>, Amiss> {
    let violations = match check(net) {
        Verdict::Sound { .. } => Vec::new(),
        Verdict::Unsound { violations } if violations.is_empty() => {
            return Err("unsound, but nothing is wrong".to_owned().into());
        }
        Verdict::Unsound { violations } => violations,
        Verdict::Undecided { limit } => return Err(format!("undecided after {limit} markings").into()),
    };
    by_rule(net, violations)
}

fn by_rule(net: &Net, violations: Vec<Violation>) -> Result<BTreeMap<Broken, Vec<Step>>, Amiss> {
    let mut found: BTreeMap<Broken, Vec<Step>> = BTreeMap::new();
    let are_shortest = violations.iter().all(|violation| violation.shortest);
    for violation in violations {
        let rule = match violation.rule {
            Rule::DoubleToken { from, place } => Broken::DoubleToken { from, place },
            Rule::LiveAtExit { from, .. } => Broken::LiveAtExit { from },
            Rule::StarvedJoin { join, .. } => Broken::Stuck { joins: BTreeSet::from([join]) },
            Rule::Deadlock { joins, .. } if joins.len() == 1 => {
                return Err(format!("one join is starved, not deadlocked: {joins:?}").into());
            }
            Rule::Deadlock { joins, .. } => Broken::Stuck { joins: joins.into_iter().collect() },
            Rule::UnboundedCycle { nodes } => {
                let mut nodes = nodes;
                let first = net.table().nodes.iter().position(|row| nodes.contains(&row.name)).unwrap();
                let first = nodes.iter().position(|name| *name == net.table().nodes[first].name).unwrap();
                nodes.rotate_left(first);
                if !cycles::unbounded(net.table()).contains(&nodes) {
                    return Err(format!("no cycle without a budget: {nodes:?}").into());
                }
                Broken::UnboundedCycle
            }
            Rule::NeverRuns { node } => Broken::NeverRuns { node },
            Rule::SharedWorkspace { nodes, .. } => Broken::SharedWorkspace { nodes: nodes.into_iter().collect() },
            Rule::ExitUnreachable => Broken::ExitUnreachable,
            Rule::NoWayOut { .. } => Broken::NoWayOut,
            other => return Err(format!("a rule that the brute force does not have: {other:?}").into()),
        };
        if rule.has_way() && found.contains_key(&rule) {
            return Err(format!("twice: {rule:?}").into());
        }
        found.insert(rule, violation.path);
    }
    if found.keys().any(Broken::ends_the_run) {
        found.retain(|rule, _| rule.ends_the_run() || *rule == Broken::UnboundedCycle);
    }
    if found.contains_key(&Broken::ExitUnreachable) {
        found.remove(&Broken::NoWayOut);
    }
    if are_shortest { Ok(found) } else { Err(NotShortest(found)) }
}

fn name(rule: &Broken) -> &'static str {
    match rule {
        Broken::DoubleToken { .. } => "double token",
        Broken::LiveAtExit { .. } => "live at exit",
        Broken::Stuck { joins } if joins.len() == 1 => "starved join",
        Broken::Stuck { .. } => "deadlock",
        Broken::SharedWorkspace { .. } => "shared workspace",
        Broken::UnboundedCycle => "unbounded cycle",
        Broken::NeverRuns { .. } => "never runs",
        Broken::ExitUnreachable => "exit unreachable",
        Broken::NoWayOut => "no way out",
    }
}

/// A table derived from `table`, as small as possible, that is still `wrong`, as JSON.
pub(crate) fn smallest(mut table: Table, wrong: &dyn Fn(&Table) -> bool) -> String {
    let ok = |table: &Table| Net::new(table.clone()).is_ok() && wrong(table);
    while let Some(smaller) = smaller(&table).into_iter().find(ok) {
        table = smaller;
    }
    serde_json::to_string(&table).unwrap()
}

/// All tables with one thing removed or reduced.
fn smaller(table: &Table) -> Vec<Table> {
    let mut all = Vec::new();
    for at in 0..table.nodes.len() {
        let mut without = table.clone();
        let gone = without.nodes.remove(at).name;
        for row in &mut without.nodes {
            let is_gone = |name: &String| name.split('.').next() == Some(&gone);
            row.goto.retain(|goto| goto.to.node != gone);
            row.spawn.retain(|name| *name != gone);
            for goto in &mut row.goto {
                goto.exhausted = goto.exhausted.take().filter(|route| route.to.node != gone);
                goto.exhausted.iter_mut().for_each(|route| route.cancels.retain(|name| !is_gone(name)));
            }
            for route in [&mut row.exhausted, &mut row.timed_out, &mut row.failed] {
                *route = route.take().filter(|goto| goto.to.node != gone);
            }
            let routes = row.exhausted.iter_mut().chain(&mut row.timed_out).chain(&mut row.failed);
            row.goto.iter_mut().chain(routes).for_each(|goto| goto.cancels.retain(|name| !is_gone(name)));
            row.slots.iter_mut().for_each(|slot| slot.sources.retain(|name| *name != gone));
            row.cancels.retain(|name| !is_gone(name));
            if let Some(fork) = &mut row.fork {
                fork.cancels.retain(|name| !is_gone(name));
                fork.branches.iter_mut().for_each(|choices| choices.retain(|choice| choice.node != gone));
                fork.branches.retain(|choices| !choices.is_empty());
            }
        }
        all.push(without);
    }
    let mutants = mutate::mutants(table).into_iter().filter(|mutant| mutant.what.contains("without"));
    all.extend(mutants.map(|mutant| mutant.of(table)));
    all
}
