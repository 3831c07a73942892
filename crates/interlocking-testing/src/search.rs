//! The search: which runs are tried, and in which order.
//!
//! A run is determined by its choices. The first run has none, so every point has its default. Each run shows its
//! points of choice. For each other option at a point, there is a candidate run that is the same up to the point and
//! takes that option there. All possible runs can be reached in this way. The search prefers
//!
//! 1. an option of a node that no run has chosen yet: answers before messages before failures;
//! 2. then a candidate near a route that was not taken, by steps in the table from the choosing node to the route's
//!    source;
//! 3. among options that took the same routes when they were first tried, one before the others.
//!
//! Candidates from whose node the table has no path to such a route come after all others. They may lead there too: the
//! node may run in a child of the same graph, or set what a concurrent node reads.
//!
//! A run that is given up may have any number of points. Only its first [`MOST_POINTS`] are varied.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use interlocking_core::graph::Graph;

use crate::chance::{Point, Sort};
use crate::choices::Choices;
use crate::play::{ENDS, Ending, Played, play};
use crate::report::{Broken, Report, Taken};
use crate::route::{RouteIndex, Routes};
use crate::samples::Samples;
use crate::settings::Settings;

/// A run that could be tried.
struct Candidate {
    choices: Choices,
    /// The family of the point at which it differs.
    family: String,
    label: String,
    sort: Sort,
}

/// An option that was chosen.
struct Tried {
    /// The routes of the first run that chose it.
    taken: Vec<RouteIndex>,
    /// How many options of its family had taken the same routes before.
    alike: usize,
}

/// The order of candidates, see the [module](self): whether it is without a path, then 1, 2 and 3, then the number of
/// its choices.
type Rank = (bool, u8, usize, usize, usize);

/// At how many points a run that is given up is varied.
pub(crate) const MOST_POINTS: usize = 100;

struct Search<'r> {
    routes: &'r Routes,
    wanted: HashSet<RouteIndex>,
    /// Labels that have not occurred yet.
    missing_labels: Vec<(String, &'static str)>,
    taken: BTreeMap<RouteIndex, (usize, Choices)>,
    /// By family and option.
    tried: HashMap<String, HashMap<String, Tried>>,
    candidates: Vec<Candidate>,
    known: HashSet<Choices>,
    report: Report,
}

pub(crate) fn search<G: Graph>(settings: &Settings<G>, samples: &Arc<Samples>) -> Report {
    let routes = Arc::new(Routes::of(G::net()));
    let excused: HashSet<_> = settings.excused.iter().filter_map(|(name, _)| routes.named(name)).collect();
    let report = Report::new(G::net(), routes.clone(), settings.excused.clone());
    let mut search = Search {
        wanted: (0..routes.all.len()).filter(|route| !excused.contains(route)).collect(),
        missing_labels: settings.labels.clone(),
        routes: &routes,
        taken: BTreeMap::new(),
        tried: HashMap::new(),
        candidates: Vec::new(),
        known: HashSet::from([Choices::none()]),
        report,
    };
    let mut next = Some(Choices::none());
    while let Some(choices) = next.take() {
        let played = play(settings, &routes, samples, choices.clone());
        search.absorb(played, &choices);
        if search.wanted.is_empty() && search.missing_labels.is_empty() {
            break;
        }
        next = search.next();
        if search.report.runs >= settings.runs && next.is_some() {
            search.report.left = search.candidates.len() + 1;
            break;
        }
    }
    search.finish()
}

impl Search<'_> {
    /// Records the results of a run.
    fn absorb(&mut self, played: Played, choices: &Choices) {
        self.report.runs += 1;
        let run = self.report.runs;
        let Played { points, seen, ending } = played;
        for &route in &seen.taken {
            self.wanted.remove(&route);
            self.taken.entry(route).or_insert_with(|| (run, choices.clone()));
        }
        self.missing_labels.retain(|(node, label)| !seen.labels.contains(&(node.clone(), (*label).to_owned())));
        for point in &points {
            let of_family = self.tried.entry(point.family.clone()).or_default();
            if !of_family.contains_key(point.label()) {
                let taken: Vec<_> = seen.taken.iter().copied().collect();
                let alike = of_family.values().filter(|tried| tried.taken == taken).count();
                of_family.insert(point.label().to_owned(), Tried { taken, alike });
            }
            let asked = self.report.asked.entry(point.family.clone()).or_default();
            asked.options = asked.options.max(point.options.len());
            asked.chosen.insert(point.label().to_owned());
        }
        for (node, times) in &seen.entered {
            let entered = self.report.entered.entry(node.clone()).or_insert_with(|| (0, choices.clone()));
            entered.0 += times;
        }
        for (node, message) in seen.failed {
            self.report.failed.entry(node).or_default().push(message);
        }
        self.report.bounds.extend(seen.bounds);
        let varied = if ending == Ending::CutOff { points.len().min(MOST_POINTS) } else { points.len() };
        self.report.is_cut |= points[varied..].iter().any(|point| point.options.len() > 1);
        if ending.is_broken() {
            let known = self.report.broken.iter().any(|broken| broken.ending.to_string() == ending.to_string());
            if !known {
                self.report.broken.push(Broken { run, choices: choices.clone(), ending });
            }
        }
        self.branch(&points[..varied]);
    }

    /// Adds the candidates that differ at one of these points.
    fn branch(&mut self, points: &[Point]) {
        let mut before = Choices::none();
        for point in points {
            for (index, option) in point.options.iter().enumerate() {
                if index == point.chosen {
                    continue;
                }
                // A default needs no entry in the choices.
                let choices =
                    if index == point.default { before.clone() } else { before.with(&point.key, &option.label) };
                if self.known.insert(choices.clone()) {
                    let (family, label, sort) = (point.family.clone(), option.label.clone(), option.sort);
                    self.candidates.push(Candidate { choices, family, label, sort });
                }
            }
            if point.chosen != point.default {
                before = before.with(&point.key, point.label());
            }
        }
    }

    /// Removes and returns the best candidate.
    fn next(&mut self) -> Option<Choices> {
        let lacks_label =
            |route: RouteIndex| self.missing_labels.iter().any(|(node, _)| *node == self.routes.all[route].from);
        let distances = self.routes.distances(|route| self.wanted.contains(&route) || lacks_label(route));
        // Only nodes of the graph have a distance. For other families nothing is known: the node after which a message
        // arrives has no influence on where the message leads.
        let nodes: HashSet<&str> = self.routes.all.iter().map(|route| route.from.as_str()).collect();
        let rank = |candidate: &Candidate| -> Rank {
            let Candidate { choices, family, label, sort } = candidate;
            let node = family.strip_suffix(ENDS).unwrap_or(family);
            let distance = distances.get(node).copied();
            let is_apart = distance.is_none() && nodes.contains(node);
            let (tried, alike) = match self.tried.get(family).and_then(|options| options.get(label)) {
                None => (*sort as u8, 0),
                Some(tried) => (3, tried.alike),
            };
            (is_apart, tried, distance.unwrap_or_default(), alike, choices.chosen.len())
        };
        let (best, _) = self.candidates.iter().enumerate().min_by_key(|(_, candidate)| rank(candidate))?;
        Some(self.candidates.remove(best).choices)
    }

    fn finish(self) -> Report {
        let Self { taken, missing_labels, mut report, .. } = self;
        report.missing_labels = missing_labels;
        report.taken = taken
            .into_iter()
            .map(|(route, (run, choices))| Taken { route: report.routes.all[route].clone(), run, choices })
            .collect();
        report
    }
}
