//! Runs: their settings, start, resume and retry.

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
pub(crate) mod recursion_rule;
pub(crate) mod section_rules;
pub(crate) mod settings;
pub(crate) mod table_change;

use crate::cancel::CancelToken;
use crate::clock::Clock;
use crate::event::{Both, EventSink};
use crate::journal::{By, Claim, Journal, Record};
use crate::limits::allowance::Allowance;
use crate::limits::budget::Budgets;
use crate::limits::provider::Backoff;
use crate::limits::shared::SharedLimits;
use crate::roles::{Player, Roles};
#[doc(hidden)]
pub use crate::run::claims::claim_ended;
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

/// A run of a graph, to be started, resumed or retried.
///
/// It needs only the graph, and an agent for every role that the graph's table names.
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

    /// Like [`new`](Self::new), for a graph that several runs share.
    pub fn from_arc(graph: Arc<G>) -> Self {
        Self { graph, settings: Settings::new(RunId::DEFAULT) }
    }

    /// Names the run. The default name is `run`, which suffices for a journal with a single run.
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

    /// Lets `agent` play every role that is not bound to another agent.
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

    /// Binds roles as `bindings` says, and replaces earlier bindings of these roles; see [`Roles::bind_all`].
    ///
    /// # Errors
    ///
    /// [`RoleBindingsError`] with everything that is wrong with `bindings`.
    pub fn with_role_bindings(mut self, bindings: &RoleBindings) -> Result<Self, RoleBindingsError> {
        self.settings.options_mut().roles.bind_all::<G>(bindings)?;
        Ok(self)
    }

    /// Sets where the workspaces that the table names are.
    #[must_use]
    pub fn with_workspaces(mut self, workspaces: Arc<dyn Workspaces>) -> Self {
        self.settings.options_mut().workspaces = workspaces;
        self
    }

    /// Lets the run start where the isolation that its table demands cannot be kept, with as much isolation as there is. An
    /// [event](crate::EventKind::IsolationUnkept) tells each demand that is not kept.
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

    /// Records nothing. Handlers then cannot read the entry value and the inputs of other nodes, and the run cannot be resumed.
    #[must_use]
    pub fn without_journal(mut self) -> Self {
        self.settings.record_in(None);
        self
    }

    /// Sends events to `sink`, in addition to the sinks that were given before.
    ///
    /// A [`channel`](crate::event::channel()) gives events as a stream. Your own [`EventSink`] gets them as calls.
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
            Some(earlier) => Arc::new(Both(earlier, sink)),
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

    /// Takes the time from `clock`, for example from a [`TokioClock`](crate::clock::TokioClock) in tests with paused time.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.settings.set_clock(clock);
        self
    }

    /// Sets how long the exit waits for advisory nodes and observers; the default is a minute. A later result is recorded, and
    /// sent as an event, as an addendum (HY-257).
    #[must_use]
    pub fn with_report_deadline(mut self, deadline: Duration) -> Self {
        self.settings.options_mut().report_deadline = deadline;
        self
    }

    /// Lets the run wait in this process when it needs an answer from a person to go on. Otherwise it stops as
    /// [`Outcome::Waiting`](crate::Outcome::Waiting). A waiting run receives answers as they are posted to its journal.
    #[must_use]
    pub fn with_wait_for_people(mut self) -> Self {
        self.settings.options_mut().awaits_people = true;
        self
    }

    /// Allows resuming a run that was executed under another routing table than the present one: `migrate` gets the table that
    /// the run was started with and the run's records, and returns the records that the run would have under the present table.
    ///
    /// The records begin under the table that the run was started with. An [`Entry::Resumed`](crate::journal::Entry::Resumed) that
    /// names a table begins the records under that table. If the last of these tables is the present one, the records from that
    /// entry on are not given to `migrate`. So a run that was started and is resumed under the present table still needs a
    /// migration if it was resumed under another table in between.
    ///
    /// It is called only where one of the tables differs from the present one. The recorded history is not changed, so the
    /// migration is needed at every resume of the run.
    #[must_use]
    pub fn with_migration(
        mut self,
        migrate: impl Fn(&Table, Vec<Record>) -> Result<Vec<Record>, NodeError> + Send + Sync + 'static,
    ) -> Self {
        self.settings.options_mut().migration = Some(Arc::new(migrate));
        self
    }

    /// Limits what the run and its child runs may use together. By default nothing is limited.
    #[must_use]
    pub fn with_budgets(mut self, budgets: Budgets) -> Self {
        let before = self.settings.allowance();
        let allowance = before.replaced(budgets, before.backoff());
        self.settings.own_allowance(allowance, "budgets");
        self
    }

    /// Sets how often and for how long the run and its child runs wait for providers that fail.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        let before = self.settings.allowance();
        let allowance = before.replaced(before.budgets(), backoff);
        self.settings.own_allowance(allowance, "a backoff");
        self
    }

    /// Lets the run share limits with other runs. Each of these runs keeps its own budgets.
    #[must_use]
    pub fn with_shared_limits(mut self, limits: &SharedLimits) -> Self {
        let before = self.settings.allowance();
        let allowance = Allowance::within(before.budgets(), before.backoff(), limits);
        self.settings.own_allowance(allowance, "limits");
        self
    }

    /// Lets the run share budgets, a backoff and limits with other runs that have the same allowance, in place of its own.
    /// Setting budgets, a backoff or limits of its own after that is a [`StartError::SharedAllowance`].
    ///
    /// The limits are those that the allowance was created [within](Allowance::within); a [`Service`](crate::service::Service)
    /// does not replace them by its own.
    ///
    /// When a run is resumed, what it had used before counts towards the allowance. Each call is counted once, also if it was
    /// made under the same allowance.
    #[must_use]
    pub fn with_allowance(mut self, allowance: Allowance) -> Self {
        self.settings.share_allowance(&allowance);
        self
    }

    /// Whether the run was given an allowance that it shares with others.
    pub(crate) fn shares_allowance(&self) -> bool {
        self.settings.shared_allowance().is_some()
    }

    /// Sets when agents are reminded to decide. [`Player::nudges`] sets it for one role.
    #[must_use]
    pub fn with_nudges(mut self, nudges: Nudges) -> Self {
        self.settings.options_mut().nudges = nudges;
        self
    }

    /// Sets what happens to a turn whose session its agent has lost. By default the turn fails. [`Player::lost_session`] sets it
    /// for one role.
    ///
    /// This does not apply to a session that the run itself continues after a node was interrupted: if the agent has lost that
    /// session, the node's turn starts as its handler asked for it.
    #[must_use]
    pub fn with_lost_sessions(mut self, lost: LostSession) -> Self {
        self.settings.options_mut().lost_session = lost;
        self
    }

    /// Gives the run its claim in the journal, which the caller has: no other executor comes in between. For command lines.
    #[doc(hidden)]
    #[must_use]
    pub fn with_claim(mut self, claim: Claim) -> Self {
        self.settings.claim = Some(Box::new(claim));
        self
    }

    /// Makes executions fail that would have succeeded, where their table has a route for failures. For testing kits.
    #[doc(hidden)]
    #[must_use]
    pub fn with_injected_failures(
        mut self,
        inject: impl Fn(&RunId, &By) -> Option<Injected> + Send + Sync + 'static,
    ) -> Self {
        self.settings.options_mut().injection = Some(Arc::new(inject));
        self
    }

    /// Gives graph nodes results as JSON, in place of running their child graphs. For testing kits.
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
    /// Dropping the future stops the run where it is: its nodes are dropped, and agents kill the programs that they started.
    /// With a journal that outlives the process, the run can then be [resumed](Self::resume).
    ///
    /// # Errors
    ///
    /// [`StartError`] where the run lacks something that the table names, or the journal has a run of that name. Nothing was done
    /// then. Later failures are in the report's [`Outcome`](crate::Outcome).
    pub fn start(self, entry: G::Entry) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        start::start(self.graph, self.settings, entry)
    }

    /// Resumes a run where its records end: after a crash, a suspension, or a person's answer.
    ///
    /// Finished node executions are not repeated. Interrupted ones are, with their agents' sessions continued and their
    /// workspaces reset to the last recorded commits. If the run has ended, this returns its outcome and does nothing.
    ///
    /// If the run was dropped in this process a moment ago, this first waits until its pending writes are recorded. It also waits
    /// for child runs that have ended and whose late work goes on for an [addendum](Self::with_report_deadline), as the calls of
    /// that work count.
    ///
    /// Before it starts anything, this looks for programs that a killed executor has left on this system, and
    /// [ends](interlocking_agents::program::end_abandoned) them, unless the journal belongs to this process alone.
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
    /// [`StartError`] where there is no such run, another executor has it, programs that a killed executor left cannot be ended,
    /// the graph's table differs from the one that the run was started with, or the records cannot be read. Nothing was done
    /// then.
    pub fn resume(self) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        Box::pin(execute::execute(self.graph, Box::new(self.settings), Begin::Again))
    }

    /// Resumes a failed run where it failed, once the cause of the failure is removed.
    ///
    /// The run continues like a run that was interrupted there and is [resumed](Self::resume): the failed node starts again, as
    /// the same visit and attempt, and so do the executions that were under way at that time. The agents' sessions of these nodes
    /// continue, and [effects](crate::RunContext::once) that were done are not repeated. What was used up before counts. An
    /// earlier request to cancel the run is void.
    ///
    /// If a map node failed, its children that had failed continue where they failed, and children that ended with the run
    /// continue where they were. Children that a user cancelled stay cancelled.
    ///
    /// This waits for late work of the run and its child runs that still goes on in this process.
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
