//! The configuration and the entry points of a search.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use interlocking_agents::faults::Fault;
use interlocking_core::context::{LabelType as _, Labelled};
use interlocking_core::graph::{Asks, Graph, Node, Runs, Stored};
use interlocking_core::net::Nets;
use interlocking_runtime::llm::LLM;
use serde::Serialize;
use serde_json::Value;

use crate::chance::Chance;
use crate::choices::Choices;
use crate::play::{Ending, play};
use crate::report::Report;
use crate::route::{Route, Routes};
use crate::samples::{Sample, Samples};
use crate::search::search;
use crate::settings::Settings;
use crate::trial::Trial;

/// Drives a graph through every route of its table, run by run. The [crate documentation](crate) explains how.
pub struct Enumerator<G: Graph> {
    settings: Settings<G>,
    samples: Samples,
    stalls: bool,
}

/// One run that was replayed.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// How it ended.
    pub ending: Ending,
    /// The routes that it took.
    pub taken: Vec<Route>,
    /// Every point of the run with its option, in order.
    pub chosen: Vec<String>,
    /// The given choices that the run did not make, because there is no such point, or no such option at the point.
    /// There are none for choices from a report, as long as the graph and the samples are the same.
    pub unused: Choices,
}

impl<G: Graph> Enumerator<G> {
    /// How many runs are tried at most by default.
    pub const RUNS: usize = 1_000;
    /// How many answers are generated from a schema at most by default.
    pub const GENERATED: usize = 32;

    /// Tries runs that `stage` prepares, one after the other. Each run must have its own graph, workspaces and other
    /// state, as a run must not see what another run did.
    ///
    /// Time is virtual: a wait for a timer takes no real time.
    ///
    /// # Panics
    ///
    /// If two of the graph and the graphs below it have the same name, by which routes and samples are told apart.
    pub fn new<T: Into<Trial<G>>>(stage: impl Fn(&Chance) -> T + 'static) -> Self {
        let mut names: Vec<&str> = Nets::of::<G>().iter().map(|net| net.table().graph.as_str()).collect();
        names.sort_unstable();
        if let Some([name, _]) = names.array_windows().find(|[one, next]| one == next) {
            panic!("two graphs are called `{name}`, and their routes could not be told apart: rename one");
        }
        let faults = vec![
            Fault::Crash { exit: Some(1), after_events: 1 },
            Fault::BrokenOutput,
            Fault::NoOutput,
            Fault::Refused,
            Fault::PromptTooLong,
            Fault::StepLimit,
        ];
        let settings = Settings {
            stage: Box::new(move |chance| stage(chance).into()),
            excused: Vec::new(),
            labels: Vec::new(),
            runs: Self::RUNS,
            executions: 10_000,
            longest: Duration::from_secs(365 * 24 * 3_600),
            is_virtual: true,
        };
        Self { settings, samples: Samples::new(Self::GENERATED, faults), stalls: true }
    }

    /// Adds a possible answer of the agent of node `N`. Given answers are tried before generated ones.
    ///
    /// # Panics
    ///
    /// If the value is no JSON.
    #[must_use]
    pub fn with_sample<N: LLM>(self, value: &N::Output) -> Self
    where
        N::Output: Serialize,
    {
        self.sample::<N>(value, None)
    }

    /// The same, with an action in the node's workspace before the agent answers, for handlers that look at the
    /// workspace.
    ///
    /// # Panics
    ///
    /// If the value is no JSON.
    #[must_use]
    pub fn with_sample_doing<N: LLM>(
        self,
        value: &N::Output,
        deed: impl Fn(&Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self
    where
        N::Output: Serialize,
    {
        self.sample::<N>(value, Some(Arc::new(deed)))
    }

    /// Adds a possible answer of a person to node `N`.
    ///
    /// # Panics
    ///
    /// If the value is no JSON.
    #[must_use]
    pub fn with_answer<N: Asks>(self, answer: &N::Answer) -> Self {
        self.sample::<N>(&Stored(answer), None)
    }

    /// Adds a possible result of the child of graph node `N`. With any given result, the node's children are not run:
    /// each result is tried instead. A failure of the child is tried by the node's `failed` route.
    ///
    /// # Panics
    ///
    /// If the value is no JSON.
    #[must_use]
    pub fn with_result<N: Runs>(self, result: &<N::Child as Graph>::Output) -> Self {
        self.sample::<N>(&Stored(result), None)
    }

    /// Requires that node `N` sets each label of `T`, an enum with `#[derive(Labels)]`, in some run. The report lists
    /// missing labels like routes that were not taken.
    #[must_use]
    pub fn with_labels<N: Node<Graph = G>, T: Labelled<N>>(mut self) -> Self {
        let node = G::net().name(N::INDEX);
        self.settings.labels.extend(T::Type::ALL.iter().map(|label| (node.to_owned(), label.name())));
        self
    }

    /// Adds a possible message to event node `N` from outside, at any moment. Without a call of this method there are
    /// none. A run has at most two messages, or as many as an `exhausted(…)` route takes that belongs to an event node with
    /// messages and is not excused. A route that takes more than ten does not count.
    ///
    /// # Panics
    ///
    /// If the value is no JSON.
    #[must_use]
    pub fn with_message<N: Node>(mut self, message: &N::Input) -> Self
    where
        N::Input: Serialize,
    {
        let net = N::Graph::net();
        self.samples.add_message(&net.table().graph, net.name(N::INDEX), json(message));
        self
    }

    /// Limits the answers that are generated from each schema; 0 for none.
    #[must_use]
    pub fn with_generated(mut self, most: usize) -> Self {
        self.samples.generated = most;
        self
    }

    /// Sets the faults of agents; an empty list for none. A fault applies to all calls of a turn.
    #[must_use]
    pub fn with_faults(mut self, faults: impl Into<Vec<Fault>>) -> Self {
        self.samples.faults = faults.into();
        self.stalls = false;
        self
    }

    /// Limits the number of runs. There is always one.
    #[must_use]
    pub fn with_runs(mut self, most: usize) -> Self {
        self.settings.runs = most;
        self
    }

    /// Aborts a run after this many executions of nodes; 10,000 by default.
    #[must_use]
    pub fn with_executions(mut self, most: u32) -> Self {
        self.settings.executions = most;
        self
    }

    /// Uses real time, and aborts a run after `longest`. This is for graphs whose handlers wait for programs or other
    /// machines, during which virtual time would run out.
    #[must_use]
    pub fn in_real_time(mut self, longest: Duration) -> Self {
        self.settings.is_virtual = false;
        self.settings.longest = longest;
        self
    }

    /// Excuses a route that cannot be taken: `"review → exit"`, as a report shows it, or with `->`. The report lists an
    /// excused route that is taken after all.
    ///
    /// # Panics
    ///
    /// If the table has no such route.
    #[must_use]
    #[expect(clippy::panic, reason = "shared with tests: what is wrong shall end them")]
    pub fn with_excused_route(mut self, route: &str, reason: impl Into<String>) -> Self {
        let routes = Routes::of(G::net());
        let Some(index) = routes.named(route) else {
            let names: String = routes.all.iter().map(|route| format!("\n  {route}")).collect();
            panic!("`{}` has no route `{route}`; its routes are{names}", G::net().table().graph);
        };
        self.settings.excused.push((routes.all[index].to_string(), reason.into()));
        self
    }

    /// Tries runs until every route was taken, no candidate is left, or the limit of runs is reached.
    ///
    /// # Panics
    ///
    /// Inside a runtime: call it from a plain `#[test]`.
    pub fn explore(mut self) -> Report {
        self.settle_faults();
        let samples = Arc::new(std::mem::take(&mut self.samples));
        search(&self.settings, &samples)
    }

    /// Repeats one run, for instance one from a [`Report`].
    ///
    /// # Panics
    ///
    /// Inside a runtime: call it from a plain `#[test]`.
    pub fn replay(mut self, choices: &Choices) -> Replayed {
        self.settle_faults();
        let (routes, samples) = (Arc::new(Routes::of(G::net())), Arc::new(std::mem::take(&mut self.samples)));
        let played = play(&self.settings, &routes, &samples, choices.clone());
        let taken = played.seen.taken.iter().map(|&route| routes.all[route].clone()).collect();
        let is_made =
            |key: &str, label: &str| played.points.iter().any(|point| point.key == key && point.label() == label);
        let unused = choices.chosen.iter().filter(|(key, label)| !is_made(key, label));
        let unused = Choices { chosen: unused.map(|(key, label)| (key.clone(), label.clone())).collect() };
        let chosen = played.points.iter().map(|point| point.shown()).collect();
        Replayed { ending: played.ending, taken, chosen, unused }
    }

    /// Adds silent agents to the default faults if time is virtual: in real time, each silence takes a minute or more.
    fn settle_faults(&mut self) {
        if std::mem::take(&mut self.stalls) && self.settings.is_virtual {
            self.samples.faults.push(Fault::Stall { after_events: 1 });
        }
    }

    fn sample<N: Node>(mut self, value: &impl Serialize, deed: Option<crate::samples::Deed>) -> Self {
        let net = N::Graph::net();
        let node = (net.table().graph.clone(), net.name(N::INDEX).to_owned());
        self.samples.given.entry(node).or_default().push(Sample { value: json(value), deed });
        self
    }
}

#[expect(clippy::expect_used, reason = "shared with tests: what is wrong shall end them")]
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("a sample is JSON")
}
