//! The result of a search, in words.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use interlocking_core::naming::snake_case;
use interlocking_core::net::Net;
use interlocking_core::table::NodeKind;

use crate::choices::Choices;
use crate::messages;
use crate::play::Ending;
use crate::recorder::event_nodes;
use crate::route::{Route, RouteIndex, Routes};
use crate::search::MOST_POINTS;

/// The routes of a graph that were taken, with the choices that lead there, and those that were not, with how close a
/// run came and what to do. Displays as text.
pub struct Report {
    net: &'static Net,
    pub(crate) routes: Arc<Routes>,
    excused: Vec<(String, String)>,
    pub(crate) event_nodes: BTreeSet<String>,
    pub(crate) runs: usize,
    /// How many candidate runs were left when the limit was reached.
    pub(crate) left: usize,
    /// Whether a run that was given up could have been varied at more points.
    pub(crate) is_cut: bool,
    pub(crate) taken: Vec<Taken>,
    /// By node: how often it was entered, and the choices of the first run that entered it.
    pub(crate) entered: BTreeMap<String, (u32, Choices)>,
    /// By node: the messages of its failures.
    pub(crate) failed: BTreeMap<String, Vec<String>>,
    pub(crate) bounds: BTreeSet<String>,
    pub(crate) broken: Vec<Broken>,
    /// Required labels that did not occur: node and label.
    pub(crate) missing_labels: Vec<(String, &'static str)>,
    /// By family of points: how many options there are, and which were chosen.
    pub(crate) asked: BTreeMap<String, Asked>,
}

/// A route that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The route.
    pub route: Route,
    /// The number of the first run that took it, from 1.
    pub run: usize,
    /// The choices of that run, for [`replay`](crate::Enumerator::replay).
    pub choices: Choices,
}

/// The first run with an ending of its kind that [is an error](Ending::is_broken), whatever its agents and people do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The number of the run, from 1.
    pub run: usize,
    /// Its choices, for [`replay`](crate::Enumerator::replay).
    pub choices: Choices,
    /// How it ended.
    pub ending: Ending,
}

#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) options: usize,
    pub(crate) chosen: BTreeSet<String>,
}

impl Report {
    pub(crate) fn new(net: &'static Net, routes: Arc<Routes>, excused: Vec<(String, String)>) -> Self {
        let event_nodes = event_nodes(net).map(str::to_owned).collect();
        let (runs, left, is_cut, taken, entered, failed, bounds, broken, missing_labels, asked) = Default::default();
        Self {
            net,
            routes,
            excused,
            event_nodes,
            runs,
            left,
            is_cut,
            taken,
            entered,
            failed,
            bounds,
            broken,
            missing_labels,
            asked,
        }
    }

    /// How many runs were tried.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// The routes that were taken, in the order of the table.
    pub fn taken(&self) -> &[Taken] {
        &self.taken
    }

    /// The routes that were not taken and are not excused.
    pub fn missing(&self) -> Vec<Route> {
        self.missed().map(|index| self.routes.all[index].clone()).collect()
    }

    /// [Required labels](crate::Enumerator::with_labels) that did not occur: node and label.
    pub fn missing_labels(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.missing_labels.iter().map(|(node, label)| (node.as_str(), *label))
    }

    /// Runs whose ending [is an error](Ending::is_broken), one of each kind.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Nodes that exceeded their `visits` or `attempts` without an `exhausted(…)` route, and edges that exceeded their
    /// `times` without one, as `node → target`. The run fails there.
    pub fn bounds_exceeded(&self) -> impl Iterator<Item = &str> {
        self.bounds.iter().map(String::as_str)
    }

    /// The choices of the first run that took a route: `"review → exit"`, or with `->`. `None` if no run took it.
    pub fn choices_of(&self, route: &str) -> Option<&Choices> {
        let index = self.routes.named(route)?;
        self.taken.iter().find(|taken| taken.route == self.routes.all[index]).map(|taken| &taken.choices)
    }

    /// Asserts that every route was taken except the excused ones, that no excused route was taken, that every required
    /// label occurred, and that no run's ending [is an error](Ending::is_broken).
    ///
    /// # Panics
    ///
    /// Otherwise, with the report.
    #[track_caller]
    pub fn assert_all_routes(&self) {
        let all = self.missed().next().is_none() && self.unneeded().next().is_none();
        assert!(all && self.missing_labels.is_empty() && self.broken.is_empty(), "{self}");
    }

    fn is_taken(&self, route: &Route) -> bool {
        self.taken.iter().any(|taken| taken.route == *route)
    }

    fn excuse(&self, route: &Route) -> Option<&str> {
        let name = route.to_string();
        self.excused.iter().find(|(excused, _)| *excused == name).map(|(_, reason)| reason.as_str())
    }

    fn missed(&self) -> impl Iterator<Item = RouteIndex> {
        let missing = |route: &&(RouteIndex, &Route)| !self.is_taken(route.1) && self.excuse(route.1).is_none();
        self.routes.all.iter().enumerate().filter(move |route| missing(&route)).map(|(index, _)| index)
    }

    /// Excuses of routes that were taken.
    fn unneeded(&self) -> impl Iterator<Item = &(String, String)> {
        self.excused.iter().filter(|(name, _)| self.taken.iter().any(|taken| taken.route.to_string() == *name))
    }

    /// How close a run came to a route.
    fn nearest(&self, index: RouteIndex) -> String {
        let route = &self.routes.all[index];
        let node = &route.from;
        let Some((times, choices)) = self.entered.get(node) else { return self.way_to(index) };
        let ways = self.taken.iter().filter(|taken| taken.route.from == *node);
        let ways: Vec<_> = ways.map(|taken| format!("`{}`", taken.route.to)).collect();
        let ways = if ways.is_empty() { "nowhere".to_owned() } else { format!("to {}", ways.join(", ")) };
        let mut said =
            format!("`{node}` ran {}, first with {choices}, and went {ways}", counted(*times as usize, "time"));
        if let Some(messages) = self.failed.get(node) {
            let last = messages.last().and_then(|message| message.lines().next()).unwrap_or_default();
            said.push_str(&format!("; it failed {}, at last: {last}", counted(messages.len(), "time")));
        }
        said
    }

    /// The path to a node that was never entered, from a node that was.
    fn way_to(&self, index: RouteIndex) -> String {
        let node = &self.routes.all[index].from;
        if self.event_nodes.contains(node) {
            return format!("no message came to `{node}`");
        }
        let mut due: VecDeque<(&str, Vec<&Route>)> =
            self.entered.keys().map(|node| (node.as_str(), Vec::new())).collect();
        let mut known: BTreeSet<&str> = due.iter().map(|(node, _)| *node).collect();
        while let Some((at, way)) = due.pop_front() {
            if at == node {
                let way: Vec<_> = way.iter().map(|route| format!("`{route}`")).collect();
                return format!("`{node}` was never entered: the way there is {}", way.join(", then "));
            }
            for route in self.routes.all.iter().filter(|route| route.from == at) {
                if known.insert(route.target()) {
                    due.push_back((route.target(), way.iter().copied().chain([route]).collect()));
                }
            }
        }
        format!("`{node}` was never entered")
    }

    /// Advice on how to reach a route.
    fn advice(&self, index: RouteIndex) -> String {
        let route = &self.routes.all[index];
        if !self.entered.contains_key(&route.from) {
            return match self.event_nodes.contains(&route.from) {
                true => format!("give it one: `.with_message::<{}::{}>(…)`", self.module(), route.from),
                false => "what is said of the way there is to be done first".to_owned(),
            };
        }
        if let Some(taken) = messages::taken_by(self.net, route).filter(|&taken| taken > messages::MOST) {
            let most = messages::MOST;
            return format!(
                "it takes {taken} messages, and a run has at most {most}: excuse it, `.with_excused_route(…)`"
            );
        }
        let (mut due, mut known) = (VecDeque::from([route.from.as_str()]), BTreeSet::from([route.from.as_str()]));
        while let Some(node) = due.pop_front() {
            let kind = self.net.table().node(node).map(|row| (row.kind, row.is_prompted()));
            let method = match kind {
                Some((NodeKind::Human, _)) => Some("with_answer"),
                Some((_, true)) => Some("with_sample"),
                _ => None,
            };
            if let Some(method) = method {
                let asked = self.asked.get(node);
                let tried = asked.map_or_else(
                    || "was never asked".to_owned(),
                    |asked| format!("did {} there are to be tried", of(asked.chosen.len(), asked.options)),
                );
                let module = self.module();
                return match node == route.from {
                    true => {
                        format!("`{node}` {tried}: give an answer that leads there, `.{method}::<{module}::{node}>(…)`")
                    }
                    false => format!(
                        "`{node}`, the nearest before it that is asked, {tried}: give an answer that leads there, \
                         `.{method}::<{module}::{node}>(…)`, or vary what `{}` meets, `Chance`",
                        route.from
                    ),
                };
            }
            let before = self.routes.all.iter().filter(|route| route.target() == node);
            due.extend(before.map(|route| route.from.as_str()).filter(|node| known.insert(node)));
        }
        "nobody who is asked comes before it: it hangs on what the run begins with, `Trial::or`, or on what its handlers meet, `Chance`"
            .to_owned()
    }

    /// The name of the markers' module, as the derive makes it by default. The table does not have the
    /// name that `#[graph(module = …)]` gives instead. A keyword is returned without its `r#`.
    fn module(&self) -> String {
        snake_case(&self.net.table().graph)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (graph, taken, all) = (&self.net.table().graph, self.taken.len(), self.routes.all.len());
        write!(f, "{graph}: {taken} of {all} routes were taken in {}", counted(self.runs, "run"))?;
        match self.left {
            _ if self.missed().next().is_none() && self.missing_labels.is_empty() => writeln!(f)?,
            0 if self.is_cut => writeln!(
                f,
                ", and nothing is left to be tried \
                 (a run that is given up is varied at its first {MOST_POINTS} choices only)"
            )?,
            0 => writeln!(f, ", and nothing is left to be tried")?,
            left => writeln!(f, "; {left} were left to be tried (`.with_runs(…)`)")?,
        }
        let width = self.routes.all.iter().map(|route| route.to_string().chars().count()).max().unwrap_or_default();
        for index in self.missed() {
            writeln!(f, "\nNOT TAKEN: {}", self.routes.all[index])?;
            writeln!(f, "  {}", self.nearest(index))?;
            writeln!(f, "  {}", self.advice(index))?;
        }
        for (node, label) in self.missing_labels() {
            writeln!(f, "\nNOT SAID: `{node}` has never said {label}")?;
        }
        for (name, reason) in self.unneeded() {
            writeln!(f, "\nTAKEN, though excused ({reason}): {name}")?;
        }
        for Broken { run, choices, ending } in &self.broken {
            writeln!(f, "\nBROKEN: run {run}, {choices}\n  {ending}")?;
        }
        writeln!(f)?;
        for Taken { route, run, choices } in &self.taken {
            let name = route.to_string();
            writeln!(f, "taken: {name}{:1$} run {run}, {choices}", "", width - name.chars().count())?;
        }
        for route in self.routes.all.iter().filter(|route| !self.is_taken(route)) {
            if let Some(reason) = self.excuse(route) {
                writeln!(f, "excused: {route} ({reason})")?;
            }
        }
        for node in &self.bounds {
            writeln!(f, "bound exceeded, so that the run failed: {node}")?;
        }
        Ok(())
    }
}

fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn of(some: usize, all: usize) -> String {
    if some >= all { format!("all {all} things that") } else { format!("{some} of the {all} things that") }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
