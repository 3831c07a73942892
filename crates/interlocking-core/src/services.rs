//! The services that an executor offers to the handlers of its runs, and the errors where it cannot.

use crate::frontier::Execution;
use crate::graph::Graph;
use crate::net::NodeIndex;
use crate::run_id::RunId;
use std::any::Any;
use std::fmt;
use std::path::PathBuf;

/// The services that an executor offers to the handlers of its runs.
pub trait Services<G: Graph>: Send + Sync {
    /// The run's name.
    fn run_id(&self) -> &RunId;

    /// What the run started with.
    ///
    /// # Errors
    ///
    /// [`ContextError`] where the executor does not have it.
    fn entry(&self) -> Result<&G::Entry, ContextError>;

    /// The last input of a node: a token for that node, the full set if it is a join.
    ///
    /// # Errors
    ///
    /// [`ContextError`] where the node was never entered, or the executor keeps no inputs.
    fn last_input(&self, node: NodeIndex) -> Result<G::Token, ContextError>;

    /// The [`MemoryCell`](crate::context::MemoryCell) of a memory group.
    fn memory(&self, group: u16) -> Option<&(dyn Any + Send + Sync)>;

    /// The workspace in which a node works.
    ///
    /// # Errors
    ///
    /// [`ContextError`] where the run was not given a workspace of that name.
    fn workspace(&self, node: NodeIndex) -> Result<Workspace, ContextError>;

    /// Publishes a note among the events of the run.
    fn note(&self, execution: Execution, text: String);

    /// Further services, for node kinds that know their executor.
    fn extension(&self) -> &(dyn Any + Send + Sync);
}

/// A named directory in which a node works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Its name in the table.
    pub name: String,
    /// The directory.
    pub path: PathBuf,
    /// Whether the node must leave its files unchanged.
    pub read_only: bool,
}

/// The run cannot give a handler what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextError {
    /// The run keeps no entry value, because it has no journal.
    NoEntry,
    /// The node has not been entered yet.
    NeverEntered {
        /// The node.
        node: String,
    },
    /// The run keeps no inputs, because it has no journal.
    NoJournal {
        /// The node whose input was asked for.
        node: String,
    },
    /// The node asks a person, which needs the run's journal, and the run has none.
    NowhereToAsk {
        /// The node that asks.
        node: String,
    },
    /// The node sends a message, which needs the run's journal, and the run has none.
    NowhereToSend {
        /// The event node that the message is for.
        node: String,
    },
    /// A stored value does not parse as the type that the table gives.
    Unreadable {
        /// What was read.
        what: String,
        /// The parser's message.
        reason: String,
    },
    /// The run was not given a workspace of that name.
    NoWorkspace {
        /// The name in the table.
        name: String,
        /// Why the run's workspaces cannot give it.
        reason: String,
    },
    /// The executor does not know how to run nodes of this kind.
    NoSupport {
        /// What is missing.
        what: String,
    },
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntry => f.write_str("the run's entry value is not kept: give the run a journal, which keeps it"),
            Self::NeverEntered { node } => {
                write!(f, "node `{node}` has not been entered in this run, so it has no input")
            }
            Self::NoJournal { node } => {
                write!(f, "the last input of `{node}` is not kept: give the run a journal, which keeps every input")
            }
            Self::NowhereToAsk { node } => {
                write!(f, "`{node}` cannot ask a person: give the run a journal, in which it is asked and answered")
            }
            Self::NowhereToSend { node } => {
                write!(f, "`{node}` cannot be sent a message: give the run a journal, by which messages go")
            }
            Self::Unreadable { what, reason } => write!(f, "{what} does not parse: {reason}"),
            Self::NoWorkspace { name, reason } => write!(f, "workspace `{name}` cannot be used: {reason}"),
            Self::NoSupport { what } => write!(f, "this executor cannot run the node: {what}"),
        }
    }
}

impl std::error::Error for ContextError {}
