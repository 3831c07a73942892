//! How a run is set up: its name, agents, workspaces, journal, events, limits.

use crate::cancel::CancelToken;
use crate::clock::Clock;
use crate::event::{Both, EventSink};
use crate::journal::{By, Claim, Journal, Record};
use crate::limits::allowance::Allowance;
use crate::limits::budget::Budgets;
use crate::limits::provider::Backoff;
use crate::limits::shared::SharedLimits;
use crate::roles::{Player, Roles};
use crate::run::Run;
use crate::run::settings::Injected;
use crate::workspaces::Workspaces;
use interlocking_agents::backends::{RoleBindings, RoleBindingsError};
use interlocking_agents::{IntoAgent, LostSession, Nudges};
use interlocking_core::failure::NodeError;
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use std::sync::Arc;
use std::time::Duration;

impl<G: Graph> Run<G> {
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
    /// Setting budgets, a backoff or limits of its own after that is a
    /// [`StartError::SharedAllowance`](crate::run::StartError::SharedAllowance).
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
    /// In a fork and its child runs, the turn runs in a fresh session, whatever is set: the session was the other run's.
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
}
