//! What a run is executed with: its own, or its parent's with a few things changed.

use crate::allowance::Allowance;
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
use std::sync::Arc;
use std::time::Duration;

/// Makes a history under one table that of a run under another.
pub(crate) type Migration = Arc<dyn Fn(&Table, Vec<Record>) -> Result<Vec<Record>, NodeError> + Send + Sync>;

/// What a run is executed with.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) roles: Roles,
    pub(crate) workspaces: Arc<dyn Workspaces>,
    pub(crate) journal: Option<Arc<dyn Journal>>,
    pub(crate) sink: Option<Arc<dyn EventSink>>,
    pub(crate) cancel: Cancel,
    pub(crate) clock: Arc<dyn Clock>,
    /// How long the exit waits for what works beside the graph.
    pub(crate) report_deadline: Duration,
    /// Whether the run goes on waiting, in this process, when only people can take it further.
    pub(crate) awaits_people: bool,
    pub(crate) migration: Option<Migration>,
    /// What the run may use, together with the whole tree.
    pub(crate) allowance: Allowance,
    pub(crate) nudges: Nudges,
    pub(crate) tree: Arc<Tree>,
    /// How many runs it is below the one that was started.
    pub(crate) depth: u32,
    /// Its place among its siblings, where it is a child.
    pub(crate) berth: Option<Arc<Berth>>,
}

impl Settings {
    /// How long the exit waits for what works beside the graph, unless [said otherwise](crate::Run::with_report_deadline).
    pub(crate) const REPORT_DEADLINE: Duration = Duration::from_secs(60);

    pub(crate) fn new(root: RunId) -> Self {
        Self {
            roles: Roles::new(),
            workspaces: Arc::new(Directories::new()),
            journal: Some(Arc::new(MemoryJournal::new())),
            sink: None,
            cancel: Cancel::new(),
            clock: Arc::new(CoarseClock),
            report_deadline: Self::REPORT_DEADLINE,
            awaits_people: false,
            migration: None,
            allowance: Allowance::default(),
            nudges: Nudges::DEFAULT,
            tree: Arc::new(Tree::new(root)),
            depth: 0,
            berth: None,
        }
    }
}
