//! The settings of all trials.

use std::time::Duration;

use interlocking_core::graph::Graph;

use crate::chance::Chance;
use crate::route::Route;
use crate::trial::Trial;

/// The settings of all trials.
pub(crate) struct Settings<G: Graph> {
    pub(crate) stage: Stage<G>,
    /// Routes that need not be taken, each with the reason.
    pub(crate) excused: Vec<(String, String)>,
    /// Labels that must occur in some run: node and label.
    pub(crate) labels: Vec<(String, &'static str)>,
    /// How many runs are tried at most.
    pub(crate) runs: usize,
    /// How many executions a run may have.
    pub(crate) executions: u32,
    /// How long a run may take.
    pub(crate) longest: Duration,
    /// Whether time is virtual: it advances only when all tasks wait.
    pub(crate) is_virtual: bool,
}

impl<G: Graph> Settings<G> {
    pub(crate) fn is_excused(&self, route: &Route) -> bool {
        let name = route.to_string();
        self.excused.iter().any(|(excused, _)| *excused == name)
    }
}

/// The function that prepares a trial.
pub(crate) type Stage<G> = Box<dyn Fn(&Chance) -> Trial<G>>;
