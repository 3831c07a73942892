//! Which runs are tried, and in which order.
//!
//! A run is what its choices make it. The first has none, so everything is chosen by itself. Each run shows the points at which it
//! could have gone otherwise; for each of these, and each other option, there is a run that is the same until then and goes
//! otherwise there. All runs that there are can be reached so, and the search takes first
//!
//! 1. what no run has done yet: an option of a node that was never chosen, answers before messages before failures;
//! 2. then what is near to a route that was not taken: by steps in the table from the node that chooses to the route's source. What
//!    leads to no such route is not tried at all;
//! 3. of options that did the same when they were tried first, one before the others.

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
    /// What is chosen otherwise, where.
    family: String,
    label: String,
    sort: Sort,
}

/// An option that was chosen.
struct Tried {
    /// The routes of the first run in which it was.
    taken: Vec<RouteIndex>,
    /// How many options of its family had done the same before.
    alike: usize,
}

/// The order of candidates: see the [module](self).
type Rank = (u8, usize, usize, usize);

struct Search<'r> {
    routes: &'r Routes,
    wanted: HashSet<RouteIndex>,
    /// Labels that nobody has said.
    unsaid: Vec<(String, &'static str)>,
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
        unsaid: settings.labels.clone(),
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
        if search.wanted.is_empty() && search.unsaid.is_empty() {
            break;
        }
        next = search.next();
        if search.report.runs == settings.runs && next.is_some() {
            search.report.left = search.candidates.len() + 1;
            break;
        }
    }
    search.finish()
}

impl Search<'_> {
    /// Takes in what a run has shown.
    fn absorb(&mut self, played: Played, choices: &Choices) {
        self.report.runs += 1;
        let run = self.report.runs;
        let Played { points, seen, ending } = played;
        for &route in &seen.taken {
            self.wanted.remove(&route);
            self.taken.entry(route).or_insert_with(|| (run, choices.clone()));
        }
        self.unsaid.retain(|(node, label)| !seen.labels.contains(&(node.clone(), (*label).to_owned())));
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

    /// Adds the runs that go otherwise at one of these points.
    fn branch(&mut self, points: &[Point]) {
        let mut before = Choices::none();
        for point in points {
            for (index, option) in point.options.iter().enumerate() {
                if index == point.chosen {
                    continue;
                }
                // What is chosen by itself need not be said.
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

    /// The best candidate, which is one no longer; none if none could lead to a route that was not taken.
    fn next(&mut self) -> Option<Choices> {
        let is_silent = |route: RouteIndex| self.unsaid.iter().any(|(node, _)| *node == self.routes.all[route].from);
        let distances = self.routes.distances(|route| self.wanted.contains(&route) || is_silent(route));
        // A message may come whatever node it comes after, and reaches its own node alone.
        let nodes: HashSet<&str> = self.routes.all.iter().map(|route| route.from.as_str()).collect();
        let rank = |candidate: &Candidate| -> Option<Rank> {
            let Candidate { choices, family, label, sort } = candidate;
            let node = family.strip_suffix(ENDS).unwrap_or(family);
            let depth = choices.chosen.len();
            let distance = match distances.get(node) {
                Some(distance) => *distance,
                // Only nodes of the graph have a place in it: for all others nothing is known.
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
        let Self { taken, unsaid, mut report, .. } = self;
        report.unsaid = unsaid;
        report.taken = taken
            .into_iter()
            .map(|(route, (run, choices))| Taken { route: report.routes.all[route].clone(), run, choices })
            .collect();
        report
    }
}
