//! The settings of a run: its own, or those of its parent with a few changes.
//!
//! A service may have many thousands of waiting runs, most of which set almost nothing. So what is seldom set or needed is
//! allocated on demand: the run's tree, its allowance, and everything in [`Options`].

use crate::cancel::CancelToken;
use crate::clock::{Clock, CoarseClock, Elapsed};
use crate::event::EventSink;
use crate::journal::record_writer::RecordWriter;
use crate::journal::{By, Claim, Journal, MemoryJournal, Record};
use crate::limits::allowance::{Allowance, Stopped};
use crate::roles::Roles;
use crate::tree::Tree;
use crate::tree::idle::ChildSlot;
use crate::workspaces::isolation::demands_a_sandbox;
use crate::workspaces::{Directories, RunScope, Workspaces};
use interlocking_agents::{Ledger, LostSession, Nudges};
use interlocking_core::failure::NodeError;
use interlocking_core::net::Net;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use once_cell::race::OnceBox;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

/// Converts the records of a run under another table to records under the present table.
pub(crate) type Migration = Arc<dyn Fn(&Table, Vec<Record>) -> Result<Vec<Record>, NodeError> + Send + Sync>;

/// The settings of a run.
pub(crate) struct Settings {
    pub(crate) run: RunId,
    /// Where the run is recorded.
    pub(crate) journal: Option<Arc<dyn Journal>>,
    /// Whether the run is recorded in its own journal in memory, which is created when the run begins.
    in_memory: bool,
    /// The claim on the run, if the caller has it already.
    pub(crate) claim: Option<Box<Claim>>,
    pub(crate) sink: Option<Arc<dyn EventSink>>,
    /// Stops the run; absent where nothing can stop it.
    pub(crate) cancel: Option<CancelToken>,
    options: Option<Arc<Options>>,
    family: OnceBox<Family>,
}

/// Settings that most runs leave at their defaults.
#[derive(Clone)]
pub(crate) struct Options {
    /// The clock; absent for the default one.
    clock: Option<Arc<dyn Clock>>,
    pub(crate) roles: Roles,
    pub(crate) workspaces: Arc<dyn Workspaces>,
    /// Whether the workspaces are this run's alone, so that it tells them when it has ended.
    pub(crate) owns_workspaces: bool,
    /// Whether the run goes on where its workspaces do not give the isolation that its table demands.
    pub(crate) accepts_weaker_isolation: bool,
    /// How long the exit waits for advisory nodes and observers.
    pub(crate) report_deadline: Duration,
    /// Whether the run waits in this process when it needs an answer from a person to go on.
    pub(crate) awaits_people: bool,
    pub(crate) migration: Option<Migration>,
    pub(crate) nudges: Nudges,
    pub(crate) lost_session: LostSession,
    /// Whether the root run is a fork. A session that its agents do not know is one of the other run, so it is begun anew.
    pub(crate) is_fork: bool,
    /// Chooses the executions that are made to fail.
    pub(crate) injection: Option<Injection>,
    /// Gives results of child graphs that are not run.
    pub(crate) child_results: Option<ChildResults>,
}

/// Returns the result of a graph node's child as JSON, in place of running the child. For tests.
pub(crate) type ChildResults = Arc<dyn Fn(&RunId, &By) -> Option<String> + Send + Sync>;

/// Chooses executions that are made to fail, of those with an outcome and with a route for failures. For tests.
pub(crate) type Injection = Arc<dyn Fn(&RunId, &By) -> Option<Injected> + Send + Sync>;

/// How an execution is made to fail.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// Its handler returns an error.
    Failure,
    /// It times out.
    Timeout,
}

/// The options of a run that sets none.
static UNSET: LazyLock<Options> = LazyLock::new(|| Options {
    clock: None,
    roles: Roles::new(),
    workspaces: Arc::new(Directories::new()),
    owns_workspaces: false,
    accepts_weaker_isolation: false,
    report_deadline: Settings::REPORT_DEADLINE,
    awaits_people: false,
    migration: None,
    nudges: Nudges::DEFAULT,
    lost_session: LostSession::Fail,
    is_fork: false,
    injection: None,
    child_results: None,
});

/// What a run shares with its tree of runs, and its position in the tree.
#[derive(Default)]
struct Family {
    allowance: OnceLock<Allowance>,
    tree: OnceLock<Arc<Tree>>,
    /// The depth below the root run; 0 for the root run.
    depth: u32,
    /// Of a child run: its slot among its siblings.
    child_slot: Option<Arc<ChildSlot>>,
    /// Of a child run: when the root run began.
    began: Option<Elapsed>,
    /// Whether the allowance was given as one that runs share.
    is_shared: bool,
    /// What the run was given of its own after an allowance that it shares.
    contradiction: Option<&'static str>,
    /// Of a child run: what stops the root run, if anything can.
    cancels_root: Option<CancelToken>,
    /// Of a child run: whether the table of one of its parents demands a sandbox.
    parents_demand_a_sandbox: bool,
}

impl Settings {
    /// The default for how long the exit waits for advisory nodes and observers.
    pub(crate) const REPORT_DEADLINE: Duration = Duration::from_secs(60);

    pub(crate) fn new(run: RunId) -> Self {
        let (journal, claim, sink, cancel, options, family) = Default::default();
        Self { run, journal, in_memory: true, claim, sink, cancel, options, family }
    }

    /// The settings of a child run with this allowance and slot. `net` is that of this run; `began` is when the root run
    /// began.
    pub(crate) fn of_child(&self, net: &Net, began: Elapsed, allowance: Allowance, child_slot: Arc<ChildSlot>) -> Self {
        let (depth, tree) = (self.depth() + 1, self.tree().clone());
        let (allowance, tree) = (allowance.into(), tree.into());
        let cancels_root = match depth {
            1 => self.cancel.clone(),
            _ => self.family().cancels_root.clone(),
        };
        let (child_slot, began) = (Some(child_slot), Some(began));
        let parents_demand_a_sandbox = self.parents_demand_a_sandbox() || demands_a_sandbox(net);
        let family = Family {
            allowance,
            tree,
            depth,
            child_slot,
            began,
            cancels_root,
            parents_demand_a_sandbox,
            ..Family::default()
        };
        Self {
            run: self.run.clone(),
            journal: self.journal.clone(),
            in_memory: self.in_memory,
            claim: None,
            sink: self.sink.clone(),
            // A token of its own, because a child is also stopped with its map node.
            cancel: Some(self.cancel.as_ref().map(CancelToken::child).unwrap_or_default()),
            options: self.options.clone(),
            family: OnceBox::with_value(Box::new(family)),
        }
    }

    /// Records the run in `journal`, or does not record it.
    pub(crate) fn record_in(&mut self, journal: Option<Arc<dyn Journal>>) {
        (self.journal, self.in_memory) = (journal, false);
    }

    /// Whether the run is recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        self.in_memory || self.journal.is_some()
    }

    /// The journal, if the run is recorded. Creates the journal in memory where that is used.
    pub(crate) fn opened_journal(&mut self) -> Option<Arc<dyn Journal>> {
        if std::mem::take(&mut self.in_memory) {
            self.journal = Some(Arc::new(MemoryJournal::new()));
        }
        self.journal.clone()
    }

    /// Whether any option was set.
    pub(crate) fn sets_options(&self) -> bool {
        self.options.is_some()
    }

    pub(crate) fn options(&self) -> &Options {
        self.options.as_deref().unwrap_or(&UNSET)
    }

    #[inline]
    pub(crate) fn child_results(&self) -> Option<&ChildResults> {
        self.options.as_ref()?.child_results.as_ref()
    }

    pub(crate) fn injection(&self) -> Option<&Injection> {
        self.options.as_ref()?.injection.as_ref()
    }

    /// The options, to be changed. They are allocated where none was set.
    pub(crate) fn options_mut(&mut self) -> &mut Options {
        Arc::make_mut(self.options.get_or_insert_with(|| Arc::new(UNSET.clone())))
    }

    /// Whether the workspaces are this run's alone.
    pub(crate) fn owns_workspaces(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.owns_workspaces)
    }

    /// Gives the run workspaces of its own, if the `given` workspaces, or else its present ones, make some for each run.
    pub(crate) fn scope_workspaces(&mut self, given: Option<Arc<dyn Workspaces>>, run: &RunScope<'_>) {
        let options = self.options();
        let own = given.as_ref().unwrap_or(&options.workspaces).of_run(run);
        // Most child runs share the options of their parents, so they are not copied without need.
        if own.is_none() && given.is_none() && !self.owns_workspaces() {
            return;
        }
        let options = self.options_mut();
        options.owns_workspaces = own.is_some();
        if let Some(workspaces) = own.or(given) {
            options.workspaces = workspaces;
        }
    }

    #[inline]
    pub(crate) fn clock(&self) -> &dyn Clock {
        self.options.as_ref().and_then(|options| options.clock.as_deref()).unwrap_or(&CoarseClock)
    }

    pub(crate) fn set_clock(&mut self, clock: Arc<dyn Clock>) {
        self.options_mut().clock = Some(clock);
    }

    fn family(&self) -> &Family {
        self.family.get_or_init(Box::default)
    }

    /// The depth below the root run; 0 for the root run.
    pub(crate) fn depth(&self) -> u32 {
        self.family.get().map_or(0, |family| family.depth)
    }

    /// Of a child run: when the root run began.
    pub(crate) fn began(&self) -> Option<Elapsed> {
        self.family.get()?.began
    }

    /// Of a child run: whether the table of one of its parents demands a sandbox for any node.
    pub(crate) fn parents_demand_a_sandbox(&self) -> bool {
        self.family.get().is_some_and(|family| family.parents_demand_a_sandbox)
    }

    /// Of a child run: its slot among its siblings.
    pub(crate) fn child_slot(&self) -> Option<&Arc<ChildSlot>> {
        self.family.get()?.child_slot.as_ref()
    }

    /// The allowance of the run's tree.
    pub(crate) fn allowance(&self) -> &Allowance {
        self.family().allowance.get_or_init(Allowance::default)
    }

    /// Gives the run an allowance of its own, because the user has set `what`.
    pub(crate) fn own_allowance(&mut self, allowance: Allowance, what: &'static str) {
        let before = self.family.get();
        let contradiction = before.and_then(|family| family.contradiction.or(family.is_shared.then_some(what)));
        let allowance = allowance.into();
        self.family = OnceBox::with_value(Box::new(Family { allowance, contradiction, ..Family::default() }));
    }

    /// Lets the run share an allowance.
    pub(crate) fn share_allowance(&mut self, allowance: &Allowance) {
        let allowance = allowance.of_a_run().into();
        self.family = OnceBox::with_value(Box::new(Family { allowance, is_shared: true, ..Family::default() }));
    }

    /// The allowance that the run shares with others, if it does.
    pub(crate) fn shared_allowance(&self) -> Option<&Allowance> {
        self.family.get().filter(|family| family.is_shared)?.allowance.get()
    }

    /// What the run was given of its own after an allowance that it shares.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        self.family.get()?.contradiction
    }

    /// Why the runs that share the allowance were stopped, if they were.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        self.family.get()?.allowance.get()?.stopped()
    }

    /// How long the run may take.
    pub(crate) fn wall_time(&self) -> Option<Duration> {
        self.family.get()?.allowance.get()?.wall_time()
    }

    /// Whether this is a root run whose time is limited.
    pub(crate) fn is_timed(&self) -> bool {
        self.depth() == 0 && self.wall_time().is_some()
    }

    /// The tree of runs that this run belongs to.
    pub(crate) fn tree(&self) -> &Arc<Tree> {
        self.family().tree.get_or_init(|| Arc::new(Tree::new(self.run.clone())))
    }

    /// The tree of runs, if it was needed before.
    pub(crate) fn known_tree(&self) -> Option<&Arc<Tree>> {
        self.family.get()?.tree.get()
    }

    /// All agent calls of the tree so far. Empty for a child run: nobody is given the report of one, and making a ledger for each
    /// child would take the square of their number.
    pub(crate) fn ledger(&self) -> Ledger {
        self.known_tree().filter(|_| self.depth() == 0).map(|tree| tree.ledger()).unwrap_or_default()
    }

    /// Whether this is a child run and the root run was not cancelled: a child that was stopped was then stopped with its map
    /// node.
    pub(crate) fn is_stopped_with_map_node(&self) -> bool {
        let root = self.family.get().and_then(|family| family.cancels_root.as_ref());
        self.depth() > 0 && !root.is_some_and(CancelToken::is_cancelled)
    }

    /// Whether other runs of the tree are being executed.
    pub(crate) fn has_running_relatives(&self) -> bool {
        self.known_tree().is_some_and(|tree| tree.has_others(&self.run))
    }

    /// The record writer of the run, which has this many records.
    pub(crate) fn record_writer(&self, journal: Arc<dyn Journal>, records: u64) -> RecordWriter {
        RecordWriter::new(journal, self.run.clone(), self.tree().clone(), self.options().workspaces.clone(), records)
    }
}
