//! The search: which runs are tried, and in which order.
//!
//! A run is determined by its choices. The first run has none, so every point has its default. Each run shows its
//! points of choice. For each other option at a point, there is a candidate run that is the same up to the point and
//! takes that option there. All possible runs can be reached in this way. The search prefers
//!
//! 1. an option of a node that no run has chosen yet: answers before messages before failures;
//! 2. then a candidate near a route that was not taken, by steps in the table from the choosing node to the route's
//!    source. A candidate that cannot lead to such a route is not tried;
//! 3. among options that took the same routes when they were first tried, one before the others.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use interlocking_core::graph::Graph;

use crate::chance::{Point, Sort};
use crate::choices::Choices;
use crate::play::{ENDS, Played, play};
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

/// The order of candidates: see the [module](self).
type Rank = (u8, usize, usize, usize);

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
        if ending.is_broken() {
            let known = self.report.broken.iter().any(|broken| broken.ending.to_string() == ending.to_string());
            if !known {
                self.report.broken.push(Broken { run, choices: choices.clone(), ending });
            }
        }
        self.branch(&points);
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

    /// Removes and returns the best candidate; `None` if no candidate could lead to a route that was not taken.
    fn next(&mut self) -> Option<Choices> {
        let lacks_label =
            |route: RouteIndex| self.missing_labels.iter().any(|(node, _)| *node == self.routes.all[route].from);
        let distances = self.routes.distances(|route| self.wanted.contains(&route) || lacks_label(route));
        // The node after which a message arrives has no influence on where the message leads.
        let nodes: HashSet<&str> = self.routes.all.iter().map(|route| route.from.as_str()).collect();
        let rank = |candidate: &Candidate| -> Option<Rank> {
            let Candidate { choices, family, label, sort } = candidate;
            let node = family.strip_suffix(ENDS).unwrap_or(family);
            let depth = choices.chosen.len();
            let distance = match distances.get(node) {
                Some(distance) => *distance,
                // Only nodes of the graph have a distance; for other families nothing is known.
                None if nodes.contains(node) => return None,
                None => 0,
            };
            match self.tried.get(family).and_then(|options| options.get(label)) {
                None => Some((*sort as u8, distance, 0, depth)),
                Some(tried) => Some((3, distance, tried.alike, depth)),
            }
        };
        let ranked = self.candidates.iter().enumerate().filter_map(|(index, one)| Some((rank(one)?, index)));
        let (_, best) = ranked.min()?;
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
