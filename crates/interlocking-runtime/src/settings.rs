//! What a run is executed with: its own, or its parent's with a few things changed.
//!
//! A service may have many thousands of runs waiting, most of which set next to nothing. So what is seldom set or seldom
//! needed is made when it is: the run's tree, its allowance, and everything in [`Options`].

use crate::allowance::{Allowance, Stopped};
use crate::cancel::Cancel;
use crate::clock::{Clock, CoarseClock};
use crate::event::EventSink;
use crate::journal::{Journal, MemoryJournal, Record};
use crate::parking::Berth;
use crate::roles::Roles;
use crate::tree::Tree;
use crate::workspaces::{Directories, Workspaces};
use interlocking_agents::Nudges;
use interlocking_core::failure::NodeError;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

/// Makes a history under one table that of a run under another.
pub(crate) type Migration = Arc<dyn Fn(&Table, Vec<Record>) -> Result<Vec<Record>, NodeError> + Send + Sync>;

/// What a run is executed with.
pub(crate) struct Settings {
    pub(crate) run: RunId,
    pub(crate) journal: Recording,
    pub(crate) sink: Option<Arc<dyn EventSink>>,
    /// What stops the run; absent where nothing can.
    pub(crate) cancel: Option<Cancel>,
    /// What tells the time, where it is not the default.
    clock: Option<Arc<dyn Clock>>,
    options: Option<Arc<Options>>,
    allowance: OnceLock<Allowance>,
    tree: OnceLock<Arc<Tree>>,
    /// How many runs it is below the one that was started.
    pub(crate) depth: u32,
    /// Its place among its siblings, where it is a child.
    pub(crate) berth: Option<Arc<Berth>>,
}

/// Where a run is recorded.
#[derive(Clone)]
pub(crate) enum Recording {
    /// In a journal of its own, in memory, which is made when the run begins.
    InMemory,
    In(Arc<dyn Journal>),
    Nowhere,
}

/// What few runs set.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) roles: Roles,
    pub(crate) workspaces: Arc<dyn Workspaces>,
    /// How long the exit waits for what works beside the graph.
    pub(crate) report_deadline: Duration,
    /// Whether the run goes on waiting, in this process, when only people can take it further.
    pub(crate) awaits_people: bool,
    pub(crate) migration: Option<Migration>,
    pub(crate) nudges: Nudges,
}

/// The options of a run that sets none.
static UNSET: LazyLock<Options> = LazyLock::new(|| Options {
    roles: Roles::new(),
    workspaces: Arc::new(Directories::new()),
    report_deadline: Settings::REPORT_DEADLINE,
    awaits_people: false,
    migration: None,
    nudges: Nudges::DEFAULT,
});

impl Settings {
    /// How long the exit waits for what works beside the graph, unless [said otherwise](crate::Run::with_report_deadline).
    pub(crate) const REPORT_DEADLINE: Duration = Duration::from_secs(60);

    pub(crate) fn new(run: RunId) -> Self {
        Self {
            run,
            journal: Recording::InMemory,
            sink: None,
            cancel: None,
            clock: None,
            options: None,
            allowance: OnceLock::new(),
            tree: OnceLock::new(),
            depth: 0,
            berth: None,
        }
    }

    /// Whether the run is recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        !matches!(self.journal, Recording::Nowhere)
    }

    /// Whether the run is one that was started, and its time is limited.
    pub(crate) fn is_timed(&self) -> bool {
        self.depth == 0 && self.wall_time().is_some()
    }

    /// The journal, if the run is recorded.
    pub(crate) fn journal(&mut self) -> Option<Arc<dyn Journal>> {
        if matches!(self.journal, Recording::InMemory) {
            self.journal = Recording::In(Arc::new(MemoryJournal::new()));
        }
        match &self.journal {
            Recording::In(journal) => Some(journal.clone()),
            _ => None,
        }
    }

    pub(crate) fn options(&self) -> &Options {
        self.options.as_deref().unwrap_or(&UNSET)
    }

    /// The same, to be changed.
    pub(crate) fn options_mut(&mut self) -> &mut Options {
        Arc::make_mut(self.options.get_or_insert_with(|| Arc::new(UNSET.clone())))
    }

    #[inline]
    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_deref().unwrap_or(&CoarseClock)
    }

    pub(crate) fn set_clock(&mut self, clock: Arc<dyn Clock>) {
        self.clock = Some(clock);
    }

    /// What the run may use, together with the whole tree.
    pub(crate) fn allowance(&self) -> &Allowance {
        self.allowance.get_or_init(Allowance::default)
    }

    pub(crate) fn set_allowance(&mut self, allowance: Allowance) {
        self.allowance = allowance.into();
    }

    /// What ended the runs that share the allowance, if something has.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        self.allowance.get()?.stopped()
    }

    /// How long the run may take.
    pub(crate) fn wall_time(&self) -> Option<Duration> {
        self.allowance.get()?.wall_time()
    }

    /// The run with all its children.
    pub(crate) fn tree(&self) -> &Arc<Tree> {
        self.tree.get_or_init(|| Arc::new(Tree::new(self.run.clone())))
    }

    /// Whether any run of the tree but this is being executed.
    pub(crate) fn has_company(&self) -> bool {
        self.tree.get().is_some_and(|tree| tree.has_others(&self.run))
    }
}

/// Shares everything that is not replaced then.
impl Clone for Settings {
    fn clone(&self) -> Self {
        Self {
            run: self.run.clone(),
            journal: self.journal.clone(),
            sink: self.sink.clone(),
            cancel: self.cancel.clone(),
            clock: self.clock.clone(),
            options: self.options.clone(),
            allowance: self.allowance().clone().into(),
            tree: self.tree().clone().into(),
            depth: self.depth,
            berth: self.berth.clone(),
        }
    }
}
