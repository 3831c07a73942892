//! A run: its settings, and its start.

pub(crate) mod executed;
pub(crate) mod release;
pub(crate) mod start_error;
pub(crate) mod report;
pub(crate) mod start;
pub(crate) mod claims;
pub(crate) mod execute;
pub mod outcome;
pub(crate) mod prepare;
pub(crate) mod prior_usage;
pub(crate) mod resume;
pub(crate) mod section_rules;
pub(crate) mod settings;
pub(crate) mod table_change;

use crate::cancel::CancelToken;
use crate::clock::Clock;
use crate::event::{Both, EventSink};
use crate::journal::{By, Journal, Record};
use crate::limits::allowance::Allowance;
use crate::limits::budget::Budgets;
use crate::limits::provider::Backoff;
use crate::limits::shared::SharedLimits;
use crate::roles::{Player, Roles};
use crate::run::outcome::Report;
use crate::run::prepare::Begin;
pub use crate::run::section_rules::UnfitSection;
#[doc(hidden)]
pub use crate::run::settings::Injected;
use crate::run::settings::Settings;
pub use crate::run::start_error::StartError;
use crate::workspaces::Workspaces;
use interlocking_agents::backends::{RoleBindings, RoleBindingsError};
use interlocking_agents::{IntoAgent, LostSession, Nudges};
use interlocking_core::failure::NodeError;
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A run of a graph, to be started or to be resumed.
///
/// Nothing is required but the graph, and an agent for every role that its table names.
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::runtime::Budgets;
/// use std::time::Duration;
///
/// #[derive(Graph, Default)]
/// #[graph(output = u32)]
/// struct Doubling {
///     #[node(entry, input = u32, goto(double, exit), attempts = 5)]
///     double: LogicNode<Double>,
/// }
///
/// #[derive(Default)]
/// struct Double;
/// impl LogicHandler<doubling::double> for Double {
///     async fn run(&self, number: u32, cx: &mut Cx<'_, doubling::double>) -> Route<doubling::double> {
///         if number < 100 { goto!(cx, self, number * 2) } else { goto!(cx, doubling::exit, number) }
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let run = Run::new(Doubling::default())
///         .with_id(RunId::new("first")?)
///         .with_budgets(Budgets::unlimited().with_wall_time(Duration::from_secs(60)));
///     match run.start(30).await?.outcome {
///         Outcome::Finished(number) => assert_eq!(number, 120),
///         Outcome::Failed(failure) => return Err(failure.to_string().into()),
///         other => return Err(format!("it is {}", other.name()).into()),
///     }
///     Ok(())
/// }
/// ```
pub struct Run<G: Graph> {
    graph: Arc<G>,
    settings: Settings,
}

impl<G: Graph> Run<G> {
    /// A run of `graph` with a journal in memory, and no agents, workspaces or observers.
    pub fn new(graph: G) -> Self {
        Self::from_arc(Arc::new(graph))
    }

    /// The same for a graph that several runs share.
    pub fn from_arc(graph: Arc<G>) -> Self {
        Self { graph, settings: Settings::new(RunId::DEFAULT) }
    }

    /// Names the run. Without a name it is `run`, which is enough for a journal that holds no other.
    #[must_use]
    pub fn with_id(mut self, id: RunId) -> Self {
        self.settings.run = id;
        self
    }

    /// Lets `agent` play `role`.
    ///
    /// ```
    /// use interlocking::agents::ScriptedAgent;
    /// use interlocking::prelude::*;
    ///
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct Subject(String);
    ///
    /// impl interlocking::runtime::llm::Prompt for Subject {
    ///     fn render(&self) -> Result<String, NodeError> {
    ///         Ok(format!("Write a line about {}.", self.0))
    ///     }
    /// }
    ///
    /// #[derive(Graph)]
    /// #[graph(output = String)]
    /// struct Poet {
    ///     // The role is called like the node, unless its row says `agent = "…"`.
    ///     #[node(entry, input = Subject, output = String, goto(exit))]
    ///     write: LLMNode,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let writer = ScriptedAgent::parse("writer.toml", r#"turn = [{ output_json = '"It rains."' }]"#)?;
    /// let run = Run::new(Poet { write: LLMNode(PassOn) }).with_agent("write", writer);
    /// assert_eq!(run.start(Subject("rain".to_owned())).await?.outcome.finished().as_deref(), Some("It rains."));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_agent(mut self, role: impl Into<String>, agent: impl IntoAgent) -> Self {
        self.settings.options_mut().roles.bind(role, Player::new(agent.into_agent()));
        self
    }

    /// Lets `agent` play every role that nobody else plays.
    #[must_use]
    pub fn with_agent_for_others(mut self, agent: impl IntoAgent) -> Self {
        self.settings.options_mut().roles.bind_others(Player::new(agent.into_agent()));
        self
    }

    /// Replaces all bindings of roles.
    #[must_use]
    pub fn with_roles(mut self, roles: Roles) -> Self {
        self.settings.options_mut().roles = roles;
        self
    }

    /// Binds roles as `bindings` says, in place of who plays them now; see [`Roles::bind_all`].
    ///
    /// # Errors
    ///
    /// [`RoleBindingsError`] with everything that is wrong with what was said.
    pub fn with_role_bindings(mut self, bindings: &RoleBindings) -> Result<Self, RoleBindingsError> {
        self.settings.options_mut().roles.bind_all::<G>(bindings)?;
        Ok(self)
    }

    /// Says where the named workspaces are.
    #[must_use]
    pub fn with_workspaces(mut self, workspaces: Arc<dyn Workspaces>) -> Self {
        self.settings.options_mut().workspaces = workspaces;
        self
    }

    /// Lets the run go on where the isolation that its table demands cannot be kept: with as much as
    /// there is. What it goes without is told as an [event](crate::EventKind::IsolationUnkept).
    #[must_use]
    pub fn with_weaker_isolation(mut self) -> Self {
        self.settings.options_mut().accepts_weaker_isolation = true;
        self
    }

    /// Records the run in `journal`.
    #[must_use]
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.settings.record_in(Some(journal));
        self
    }

    /// Records nothing. Handlers then cannot ask for the entry value and the inputs of other nodes, and the run cannot be
    /// resumed.
    #[must_use]
    pub fn without_journal(mut self) -> Self {
        self.settings.record_in(None);
        self
    }

    /// Tells `sink` what happens, in addition to the sinks that the run was given before.
    ///
    /// Events come as a stream, or as calls of an [`EventSink`] of one's own:
    ///
    /// ```
    /// use interlocking::prelude::*;
    /// use interlocking::runtime::event::channel;
    ///
    /// # #[derive(Graph, Default)]
    /// # #[graph(output = u32)]
    /// # struct Doubling {
    /// #     #[node(entry, input = u32, goto(double, exit), attempts = 5)]
    /// #     double: LogicNode<Double>,
    /// # }
    /// # #[derive(Default)]
    /// # struct Double;
    /// # impl LogicHandler<doubling::double> for Double {
    /// #     async fn run(&self, number: u32, cx: &mut Cx<'_, doubling::double>) -> Route<doubling::double> {
    /// #         if number < 100 { goto!(cx, self, number * 2) } else { goto!(cx, doubling::exit, number) }
    /// #     }
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sink, mut events) = channel();
    /// let run = Run::new(Doubling::default()).with_events(sink);
    /// let watch = async {
    ///     let mut told = 0;
    ///     while let Some(event) = events.next().await {
    ///         println!("{:?}", event.kind);
    ///         told += 1;
    ///     }
    ///     told
    /// };
    /// let (report, told) = tokio::join!(run.start(30), watch);
    /// assert!(report?.outcome.finished().is_some() && told > 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.settings.sink = Some(match self.settings.sink.take() {
            Some(told) => Arc::new(Both(told, sink)),
            None => sink,
        });
        self
    }

    /// Stops the run when `cancel` is cancelled.
    ///
    /// ```
    /// use interlocking::prelude::*;
    /// use interlocking::runtime::CancelToken;
    /// use std::time::Duration;
    ///
    /// #[derive(Graph)]
    /// #[graph(output = ())]
    /// struct Guard {
    ///     #[node(entry, input = (), goto(exit))]
    ///     watch: LogicNode<Watch>,
    /// }
    ///
    /// struct Watch;
    /// impl LogicHandler<guard::watch> for Watch {
    ///     async fn run(&self, _: (), cx: &mut Cx<'_, guard::watch>) -> Route<guard::watch> {
    ///         std::future::pending::<()>().await;
    ///         goto!(cx, guard::exit, ())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let cancel = CancelToken::new();
    /// let run = Run::new(Guard { watch: LogicNode(Watch) }).with_cancel(cancel.clone());
    /// let stop = async {
    ///     tokio::time::sleep(Duration::from_millis(10)).await;
    ///     cancel.cancel();
    /// };
    /// let (report, ()) = tokio::join!(run.start(()), stop);
    /// assert_eq!(report?.outcome, Outcome::Cancelled);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancelToken) -> Self {
        self.settings.cancel = Some(cancel);
        self
    }

    /// Tells the time by `clock`; a [`TokioClock`](crate::clock::TokioClock) for tests with paused time.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.settings.set_clock(clock);
        self
    }

    /// Lets the exit wait so long for what works beside the graph, advisory nodes and observers; a minute unless said
    /// otherwise. What comes later is recorded, and told to whoever watches, as an addendum (HY-257).
    #[must_use]
    pub fn with_report_deadline(mut self, deadline: Duration) -> Self {
        self.settings.options_mut().report_deadline = deadline;
        self
    }

    /// Lets the run stay in this process when only people can take it further, in place of ending as
    /// [`Outcome::Waiting`](crate::Outcome::Waiting): answers that are posted to its journal are then received as they come.
    #[must_use]
    pub fn with_wait_for_people(mut self) -> Self {
        self.settings.options_mut().awaits_people = true;
        self
    }

    /// Takes a run up under another routing table than the one it was started with: `migrate` is given that table and the
    /// run's records, and gives the records that the run would have under the present one.
    ///
    /// Asked only where the tables differ. The recorded history stays as it is, so the migration is needed for as long as
    /// the run is.
    #[must_use]
    pub fn with_migration(
        mut self,
        migrate: impl Fn(&Table, Vec<Record>) -> Result<Vec<Record>, NodeError> + Send + Sync + 'static,
    ) -> Self {
        self.settings.options_mut().migration = Some(Arc::new(migrate));
        self
    }

    /// Limits what the run may use, its child runs included; nothing is limited unless it is said.
    #[must_use]
    pub fn with_budgets(mut self, budgets: Budgets) -> Self {
        let before = self.settings.allowance();
        let allowance = before.replaced(budgets, before.backoff());
        self.settings.own_allowance(allowance, "budgets");
        self
    }

    /// Says how often, and for how long, the run puts up with a provider that fails, its child runs included.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        let before = self.settings.allowance();
        let allowance = before.replaced(before.budgets(), backoff);
        self.settings.own_allowance(allowance, "a backoff");
        self
    }

    /// Lets the run share limits with others that have budgets of their own, as this one keeps its own.
    #[must_use]
    pub fn with_shared_limits(mut self, limits: &SharedLimits) -> Self {
        let before = self.settings.allowance();
        let allowance = Allowance::within(before.budgets(), before.backoff(), limits);
        self.settings.own_allowance(allowance, "limits");
        self
    }

    /// Lets the run share budgets and waits with others that have the same allowance, in place of its own. Budgets and a backoff of its
    /// own that are given after that are a [`StartError::SharedAllowance`].
    ///
    /// What a run that is resumed had used before counts, and each call once: those of an execution that had the same allowance do
    /// already.
    #[must_use]
    pub fn with_allowance(mut self, allowance: Allowance) -> Self {
        self.settings.share_allowance(&allowance);
        self
    }

    /// Says when agents are reminded to decide; [`Player::nudges`] says it for one role.
    #[must_use]
    pub fn with_nudges(mut self, nudges: Nudges) -> Self {
        self.settings.options_mut().nudges = nudges;
        self
    }

    /// Says what becomes of a turn whose session its agent has lost; [`Player::lost_session`] says it for one role. It fails
    /// unless said so.
    ///
    /// A session in which the run itself goes on with a node that was interrupted is no matter of this: if that is lost, the node's
    /// turn is run as its handler wanted it.
    #[must_use]
    pub fn with_lost_sessions(mut self, lost: LostSession) -> Self {
        self.settings.options_mut().lost_session = lost;
        self
    }

    /// Lets executions fail that would not have, where their table says where they go then; for testing kits.
    #[doc(hidden)]
    #[must_use]
    pub fn with_injected_failures(
        mut self,
        inject: impl Fn(&RunId, &By) -> Option<Injected> + Send + Sync + 'static,
    ) -> Self {
        self.settings.options_mut().injection = Some(Arc::new(inject));
        self
    }

    /// Lets graph nodes go on with results, as JSON, in place of a run of their child; for testing kits.
    #[doc(hidden)]
    #[must_use]
    pub fn with_child_results(
        mut self,
        results: impl Fn(&RunId, &By) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.settings.options_mut().child_results = Some(Arc::new(results));
        self
    }

    /// Runs the graph from `entry` to its end.
    ///
    /// Dropping the future stops the run where it stands: nodes that wait are dropped, and agents kill what they started.
    /// With a journal that outlives the process it can then be [resumed](Self::resume).
    ///
    /// # Errors
    ///
    /// [`StartError`] where the run lacks something that the table names, or the journal has a run of that name: nothing
    /// was done then. What goes wrong later is in the report's [`Outcome`](crate::Outcome).
    pub fn start(self, entry: G::Entry) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        start::start(self.graph, self.settings, entry)
    }

    /// Takes a run up where its journal ends: after a crash, a suspension, or a person's answer.
    ///
    /// What has finished is not done again. What was under way is, with its agent's session continued and its workspace put
    /// back to the commit that the journal knows. Of a run that has ended, gives the outcome again and does nothing.
    ///
    /// A run of this process that was dropped a moment ago is waited for: what was being written for it is written before anybody
    /// reads its journal. So is what was given up at the end of a child run, and works on for its
    /// [addendum](Self::with_report_deadline): what that uses up is on the bill.
    ///
    /// Before anything is started, it is looked for what programs of an executor that was killed have left on this system, and that
    /// is [ended](interlocking_agents::program::end_abandoned); unless the journal is of this process alone.
    ///
    /// ```
    /// use interlocking::prelude::*;
    /// use interlocking::runtime::{Budgets, MemoryJournal};
    /// use std::sync::Arc;
    ///
    /// # #[derive(Graph, Default)]
    /// # #[graph(output = u32)]
    /// # struct Doubling {
    /// #     #[node(entry, input = u32, goto(double, exit), attempts = 5)]
    /// #     double: LogicNode<Double>,
    /// # }
    /// # #[derive(Default)]
    /// # struct Double;
    /// # impl LogicHandler<doubling::double> for Double {
    /// #     async fn run(&self, number: u32, cx: &mut Cx<'_, doubling::double>) -> Route<doubling::double> {
    /// #         if number < 100 { goto!(cx, self, number * 2) } else { goto!(cx, doubling::exit, number) }
    /// #     }
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // In a program that outlives its process, a `SqliteJournal` with feature `sqlite`.
    /// let journal = Arc::new(MemoryJournal::new());
    /// let run = || Run::new(Doubling::default()).with_id(RunId::DEFAULT).with_journal(journal.clone());
    ///
    /// assert_eq!(run().start(30).await?.outcome.finished(), Some(120));
    /// // It has ended: the same again, and nothing is done.
    /// assert_eq!(run().resume().await?.outcome.finished(), Some(120));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StartError`] where there is no such run, another executor works on it, what a killed one left cannot be ended, the graph's table is another than the one
    /// it was started with, or what is recorded cannot be read: nothing was done then.
    pub fn resume(self) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        Box::pin(execute::execute(self.graph, Box::new(self.settings), Begin::Again))
    }

    /// Takes a run that has failed up again, where it did: once what made it fail is put right.
    ///
    /// It goes on as a run that was interrupted there [is resumed](Self::resume): the node that failed begins again, as the same visit
    /// and attempt, and so does what was under way beside it. An agent's session of such a node goes on, and
    /// [effects](crate::RunContext::once) that it has done are not done again. What it had used up counts. A wish that the run
    /// ends, sent before, is void.
    ///
    /// If what failed is a map node, its children that had failed go on where they did, and those that ended with the run where
    /// they stood; children that somebody had cancelled stay so.
    ///
    /// What was given up at the run's end, or a child's, and still works in this process, is waited for.
    ///
    /// A retry may fail like any run, and be retried.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume), and [`StartError::NotFailed`] where the run has not failed.
    pub fn retry(self) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        Box::pin(execute::execute(self.graph, Box::new(self.settings), Begin::Retry))
    }
}

impl<G: Graph> fmt::Debug for Run<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let graph = &G::net().table().graph;
        f.debug_struct("Run")
            .field("graph", graph)
            .field("id", &self.settings.run)
            .field("roles", &self.settings.options().roles)
            .finish()
    }
}
