//! What a run is executed with: its own, or its parent's with a few things changed.
//!
//! A service may have many thousands of runs waiting, most of which set next to nothing. So what is seldom set or seldom
//! needed is made when it is: the run's tree, its allowance, and everything in [`Options`].

use crate::cancel::CancelToken;
use crate::clock::{Clock, CoarseClock, Elapsed};
use crate::event::EventSink;
use crate::journal::record_writer::RecordWriter;
use crate::journal::{By, Journal, MemoryJournal, Record};
use crate::limits::allowance::{Allowance, Stopped};
use crate::roles::Roles;
use crate::tree::Tree;
use crate::tree::idle::ChildSlot;
use crate::workspaces::{Directories, RunScope, Workspaces};
use interlocking_agents::{LostSession, Nudges};
use interlocking_core::failure::NodeError;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use once_cell::race::OnceBox;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

/// Makes a history under one table that of a run under another.
pub(crate) type Migration = Arc<dyn Fn(&Table, Vec<Record>) -> Result<Vec<Record>, NodeError> + Send + Sync>;

/// What a run is executed with.
pub(crate) struct Settings {
    pub(crate) run: RunId,
    /// Where the run is recorded.
    pub(crate) journal: Option<Arc<dyn Journal>>,
    /// Whether it is recorded in a journal of its own, in memory, which is made when the run begins.
    in_memory: bool,
    pub(crate) sink: Option<Arc<dyn EventSink>>,
    /// What stops the run; absent where nothing can.
    pub(crate) cancel: Option<CancelToken>,
    options: Option<Arc<Options>>,
    family: OnceBox<Family>,
}

/// What few runs set.
#[derive(Clone)]
pub(crate) struct Options {
    /// What tells the time, where it is not the default.
    clock: Option<Arc<dyn Clock>>,
    pub(crate) roles: Roles,
    pub(crate) workspaces: Arc<dyn Workspaces>,
    /// Whether this run has them for itself, and says when it has ended.
    pub(crate) owns_workspaces: bool,
    /// Whether the run goes on where its workspaces do not give the isolation that its table demands.
    pub(crate) accepts_weaker_isolation: bool,
    /// How long the exit waits for what works beside the graph.
    pub(crate) report_deadline: Duration,
    /// Whether the run goes on waiting, in this process, when only people can take it further.
    pub(crate) awaits_people: bool,
    pub(crate) migration: Option<Migration>,
    pub(crate) nudges: Nudges,
    pub(crate) lost_session: LostSession,
    /// What says of executions that they fail.
    pub(crate) injection: Option<Injection>,
    /// What says what the children of graph nodes come to that are not run.
    pub(crate) child_results: Option<ChildResults>,
}

/// Says of an execution of a graph node what its child comes to, as JSON, in place of a run of it; for tests.
pub(crate) type ChildResults = Arc<dyn Fn(&RunId, &By) -> Option<String> + Send + Sync>;

/// Says of an execution that would have an outcome, and whose table says where it goes when it fails, that it failed; for tests.
pub(crate) type Injection = Arc<dyn Fn(&RunId, &By) -> Option<Injected> + Send + Sync>;

/// How an execution fails that would not have.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// Its handler returns an error.
    Failure,
    /// It takes too long.
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
    injection: None,
    child_results: None,
});

/// What a run shares with its children, and where it stands among them.
#[derive(Default)]
struct Family {
    allowance: OnceLock<Allowance>,
    tree: OnceLock<Arc<Tree>>,
    /// How many runs it is below the one that was started.
    depth: u32,
    /// Its place among its siblings, where it is a child.
    child_slot: Option<Arc<ChildSlot>>,
    /// When the run that was started began, where this is a child of it.
    began: Option<Elapsed>,
    /// Whether the allowance is one that others share.
    is_shared: bool,
    /// What the run was given of its own after an allowance that it shares.
    contradiction: Option<&'static str>,
    /// What stops that run, where this is a child of it and anything can.
    cancels_root: Option<CancelToken>,
}

impl Settings {
    /// How long the exit waits for what works beside the graph by default.
    pub(crate) const REPORT_DEADLINE: Duration = Duration::from_secs(60);

    pub(crate) fn new(run: RunId) -> Self {
        let (journal, sink, cancel, options, family) = Default::default();
        Self { run, journal, in_memory: true, sink, cancel, options, family }
    }

    /// Those of a child run that has this allowance and this place. The run that was started `began` then.
    pub(crate) fn of_child(&self, began: Elapsed, allowance: Allowance, child_slot: Arc<ChildSlot>) -> Self {
        let (depth, tree) = (self.depth() + 1, self.tree().clone());
        let (allowance, tree) = (allowance.into(), tree.into());
        let cancels_root = match depth {
            1 => self.cancel.clone(),
            _ => self.family().cancels_root.clone(),
        };
        let (child_slot, began) = (Some(child_slot), Some(began));
        let family = Family { allowance, tree, depth, child_slot, began, cancels_root, ..Family::default() };
        Self {
            run: self.run.clone(),
            journal: self.journal.clone(),
            in_memory: self.in_memory,
            sink: self.sink.clone(),
            // One of its own: children are stopped with their map node as well.
            cancel: Some(self.cancel.as_ref().map(CancelToken::child).unwrap_or_default()),
            options: self.options.clone(),
            family: OnceBox::with_value(Box::new(family)),
        }
    }

    /// Records the run there, or nowhere.
    pub(crate) fn record_in(&mut self, journal: Option<Arc<dyn Journal>>) {
        (self.journal, self.in_memory) = (journal, false);
    }

    /// Whether the run is recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        self.in_memory || self.journal.is_some()
    }

    /// The journal, if the run is recorded; makes the one in memory.
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

    /// What says of executions that they fail, if anything does.
    #[inline]
    pub(crate) fn child_results(&self) -> Option<&ChildResults> {
        self.options.as_ref()?.child_results.as_ref()
    }

    pub(crate) fn injection(&self) -> Option<&Injection> {
        self.options.as_ref()?.injection.as_ref()
    }

    /// The same, to be changed.
    pub(crate) fn options_mut(&mut self) -> &mut Options {
        Arc::make_mut(self.options.get_or_insert_with(|| Arc::new(UNSET.clone())))
    }

    /// Whether the run has its workspaces for itself.
    pub(crate) fn owns_workspaces(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.owns_workspaces)
    }

    /// Gives the run the workspaces that it has for itself, if those that it was `given`, or else has, make some for it.
    pub(crate) fn scope_workspaces(&mut self, given: Option<Arc<dyn Workspaces>>, run: &RunScope<'_>) {
        let options = self.options();
        let own = given.as_ref().unwrap_or(&options.workspaces).of_run(run);
        // Most runs have the options of their parents, and no copy of them.
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

    /// How many runs it is below the one that was started.
    pub(crate) fn depth(&self) -> u32 {
        self.family.get().map_or(0, |family| family.depth)
    }

    /// When the run that was started began, where this is a child of it.
    pub(crate) fn began(&self) -> Option<Elapsed> {
        self.family.get()?.began
    }

    /// Its place among its siblings, where it is a child.
    pub(crate) fn child_slot(&self) -> Option<&Arc<ChildSlot>> {
        self.family.get()?.child_slot.as_ref()
    }

    /// What the run may use, together with the whole tree.
    pub(crate) fn allowance(&self) -> &Allowance {
        self.family().allowance.get_or_init(Allowance::default)
    }

    /// Gives the run an allowance of its own: for `what` it was given.
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

    /// What ended the runs that share the allowance, if something has.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        self.family.get()?.allowance.get()?.stopped()
    }

    /// How long the run may take.
    pub(crate) fn wall_time(&self) -> Option<Duration> {
        self.family.get()?.allowance.get()?.wall_time()
    }

    /// Whether the run is one that was started, and its time is limited.
    pub(crate) fn is_timed(&self) -> bool {
        self.depth() == 0 && self.wall_time().is_some()
    }

    /// The run with all its children.
    pub(crate) fn tree(&self) -> &Arc<Tree> {
        self.family().tree.get_or_init(|| Arc::new(Tree::new(self.run.clone())))
    }

    /// The same, if anything was needed of it.
    pub(crate) fn known_tree(&self) -> Option<&Arc<Tree>> {
        self.family.get()?.tree.get()
    }

    /// Whether this run alone was stopped, with its map node, and not the whole tree.
    pub(crate) fn is_left_behind(&self) -> bool {
        let root = self.family.get().and_then(|family| family.cancels_root.as_ref());
        self.depth() > 0 && !root.is_some_and(CancelToken::is_cancelled)
    }

    /// Whether any run of the tree but this is being executed.
    pub(crate) fn has_company(&self) -> bool {
        self.known_tree().is_some_and(|tree| tree.has_others(&self.run))
    }

    /// Numbers the records of the run, which has so many.
    pub(crate) fn record_writer(&self, journal: Arc<dyn Journal>, records: u64) -> RecordWriter {
        RecordWriter::new(journal, self.run.clone(), self.tree().clone(), self.options().workspaces.clone(), records)
    }
}
