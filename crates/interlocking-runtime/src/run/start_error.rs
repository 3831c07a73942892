//! Why a run did not start, or was not resumed.

use crate::journal::JournalError;
use crate::journal::replay_error::ReplayError;
use crate::roles::requirements::{self, Incapable, NotReady, RequestedRole};
use crate::run::section_rules::UnfitSection;
use crate::workspaces::WorkspaceError;
use crate::workspaces::unkept::Unkept;
use interlocking_agents::program::AbandonedError;
use interlocking_core::run_id::RunId;
use thiserror::Error;

/// Why a run did not start, or was not resumed. Nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StartError {
    /// No agent plays some roles of the graph or of its child graphs.
    #[error(
        "no agent plays:{}\n{}\nbind them with `with_agent`, all others with `with_agent_for_others`, or with `RoleBindings`",
        requirements::lines(unbound),
        requirements::bound_lines(bound)
    )]
    UnboundRoles {
        /// The roles.
        unbound: Vec<RequestedRole>,
        /// The bound roles with their agents, in words.
        bound: Vec<String>,
    },
    /// Agents cannot do what the graph asks of their roles.
    #[error("these agents cannot do what the graph needs:{}\nbind the roles to others", requirements::lines(incapable))]
    IncapableAgents {
        /// These agents, by node.
        incapable: Vec<Incapable>,
    },
    /// Agents cannot work with their current setup.
    #[error("these agents cannot work here:{}", requirements::lines(refused))]
    AgentsNotReady {
        /// These agents.
        refused: Vec<NotReady>,
    },
    /// The table demands isolation that cannot be kept on this machine.
    #[error(
        "the graph demands isolation that cannot be kept here:{}\n\
         run it where it can be kept, or say that it may go on without: `with_weaker_isolation`, or \
         `--accept-weaker-isolation` on the command line",
        requirements::lines(unkept)
    )]
    Isolation {
        /// The demands that cannot be kept.
        unkept: Vec<Unkept>,
    },
    /// The child run of an `exclusive` graph node would wait for a person, a message or a turn while other runs wait for its
    /// turn, or would be left in the middle.
    #[error(
        "what is `exclusive` must not wait while it has the turn, nor be stopped in the middle:{}\n\
         end the child graph before, or say `exclusive` at the nodes within that need it",
        requirements::lines(unfit)
    )]
    UnfitSections {
        /// These nodes, and why.
        unfit: Vec<UnfitSection>,
    },
    /// The graph, or a child graph of it, runs itself, and no node on the way says how deep its children may nest.
    #[error(
        "a graph runs itself here, and could do so for ever: {}\n\
         say at one of these nodes how many runs deep its children may nest, `depth = 3`",
        way.join(" → ")
    )]
    UnboundedRecursion {
        /// The nodes on the way from the graph back to itself, each as `node` of its `Graph`.
        way: Vec<String>,
    },
    /// The run shares an allowance, and was then given budgets, a backoff or limits of its own.
    #[error(
        "run `{run}` shares an allowance, and was given {what} of its own after that: give them to the allowance that it shares, \
         `Allowance::new(budgets, backoff)`"
    )]
    SharedAllowance {
        /// The run.
        run: RunId,
        /// What it was given.
        what: &'static str,
    },
    /// The entry value cannot be stored, or the journal refuses the run.
    #[error(transparent)]
    Entry(#[from] JournalError),
    /// An earlier executor was killed, and programs that it started may still run.
    #[error("run `{run}` is not resumed yet: {error}")]
    Abandoned {
        /// The run.
        run: RunId,
        /// Which programs are left.
        error: AbandonedError,
    },
    /// A child run would have the name of an existing run.
    #[error("the journal has another run called `{run}`, so no child of a map node can be: remove that run")]
    AnotherRun {
        /// The name.
        run: RunId,
    },
    /// There is nothing to resume.
    #[error("there is no run `{run}` to resume: start it, or name another")]
    NoRun {
        /// The run.
        run: RunId,
    },
    /// The run has not failed, so there is nothing to retry.
    #[error(
        "run `{run}` has not failed, so there is nothing to retry: {}",
        match ended { Some(ended) => format!("it is {ended}"), None => "it has not ended, resume it".to_owned() }
    )]
    NotFailed {
        /// The run.
        run: RunId,
        /// How it has ended: `finished` or `cancelled`; `None` if it has not.
        ended: Option<&'static str>,
    },
    /// The run has no journal to be resumed from.
    #[error("run `{run}` keeps no journal, so there is nothing to resume: give it the journal it was started with")]
    NoJournal {
        /// The run.
        run: RunId,
    },
    /// The run was executed under another routing table.
    #[error(
        "run `{run}` was executed under another routing table of `{graph}`:{}\n\
         finish it with the graph that it was executed with, or give a migration, `with_migration`",
        differences.iter().map(|line| format!("\n  {line}")).collect::<String>()
    )]
    TableChanged {
        /// The run.
        run: RunId,
        /// The graph.
        graph: String,
        /// What differs, one line each.
        differences: Vec<String>,
    },
    /// The migration refused the run's history.
    #[error("the migration of run `{run}` failed: {reason}")]
    Migration {
        /// The run.
        run: RunId,
        /// The migration's error message.
        reason: String,
    },
    /// The records are not those of a run of this graph.
    #[error("the journal of run `{run}` cannot be followed: {error}")]
    Replay {
        /// The run.
        run: RunId,
        /// The first record that does not fit.
        error: ReplayError,
    },
    /// A recorded payload no longer parses as the type of its place.
    #[error(
        "run `{run}`, {place}: what is recorded no longer parses: {reason}; \
         bring the type back, let it take the old form too, or give a migration"
    )]
    Payload {
        /// The run.
        run: RunId,
        /// The node, slot or memory group.
        place: String,
        /// The parser's message, with the field.
        reason: String,
    },
    /// A workspace cannot be reset to its recorded commit.
    #[error("run `{run}`, workspace `{workspace}`: {error}")]
    Workspace {
        /// The run.
        run: RunId,
        /// The workspace's name in the table.
        workspace: String,
        /// Why.
        error: WorkspaceError,
    },
}
