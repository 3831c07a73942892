//! The order of a run's nodes, from its events.

use interlocking::runtime::Event;
use interlocking::runtime::event::{EventKind, Name, Targets};

/// The starts and ends of nodes, in order.
#[derive(Debug)]
pub(crate) struct Trace(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
struct Step {
    node: Name,
    visit: u32,
    what: What,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    Started,
    /// The node's target.
    Finished(String),
    Failed,
    Cancelled,
}

impl Trace {
    pub(crate) fn new(events: &[Event]) -> Self {
        let steps = events.iter().filter_map(|event| {
            let (node, what) = match &event.kind {
                EventKind::NodeStarted(node) => (node, What::Started),
                EventKind::NodeFinished { node, to, .. } => {
                    let to = match to {
                        Targets::One(place) => place.to_string(),
                        Targets::All(places) => places.join(" and "),
                    };
                    (node, What::Finished(to))
                }
                EventKind::NodeFailed { node, .. } => (node, What::Failed),
                EventKind::NodeCancelled(node) => (node, What::Cancelled),
                _ => return None,
            };
            Some(Step { node: node.node.clone(), visit: node.visit, what })
        });
        Self(steps.collect())
    }

    fn position(&self, node: &str, visit: u32, what: impl Fn(&What) -> bool) -> Option<usize> {
        self.0.iter().position(|step| step.node == node && step.visit == visit && what(&step.what))
    }

    /// The position of a visit's start in the trace; panics if it did not start.
    #[track_caller]
    pub(crate) fn start(&self, node: &str, visit: u32) -> usize {
        self.position(node, visit, |what| *what == What::Started)
            .unwrap_or_else(|| panic!("no {node} {visit}: {self:?}"))
    }

    /// The position of a visit's end in the trace, if it finished.
    pub(crate) fn finished(&self, node: &str, visit: u32) -> Option<usize> {
        self.position(node, visit, |what| matches!(what, What::Finished(..)))
    }

    /// The position of a visit's end in the trace; panics if it did not finish.
    #[track_caller]
    pub(crate) fn finish(&self, node: &str, visit: u32) -> usize {
        self.finished(node, visit).unwrap_or_else(|| panic!("no end of {node} {visit}: {self:?}"))
    }

    /// Whether a visit was cancelled.
    pub(crate) fn was_cancelled(&self, node: &str, visit: u32) -> bool {
        self.position(node, visit, |what| *what == What::Cancelled).is_some()
    }

    /// How often a node was entered.
    pub(crate) fn visits(&self, node: &str) -> usize {
        self.0.iter().filter(|step| step.node == node && step.what == What::Started).count()
    }

    /// Every finished visit, in order: `node → target`.
    pub(crate) fn routes(&self) -> Vec<String> {
        let routes = self.0.iter().filter_map(|step| match &step.what {
            What::Finished(to) => Some(format!("{} → {to}", step.node)),
            _ => None,
        });
        routes.collect()
    }

    /// Whether two visits ran at the same time.
    pub(crate) fn overlap(&self, one: (&str, u32), other: (&str, u32)) -> bool {
        let both_started = self.start(one.0, one.1).max(self.start(other.0, other.1));
        let first_finished = self.finish(one.0, one.1).min(self.finish(other.0, other.1));
        both_started < first_finished
    }

    /// The visits that started directly after `position`, with nothing but other starts in between.
    pub(crate) fn started_at_once_after(&self, position: usize) -> Vec<&str> {
        let after = self.0[position + 1..].iter().take_while(|step| step.what == What::Started);
        after.map(|step| &*step.node).collect()
    }
}
