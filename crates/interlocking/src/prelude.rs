//! The names that the author of a graph needs in scope: `use interlocking::prelude::*;`.

pub use interlocking_core::context::Cx;
pub use interlocking_core::failure::{Exhausted, Failure, FailureKind, NodeError, TimedOut};
pub use interlocking_core::graph::{Finish, Graph as _, Reported};
pub use interlocking_core::kind::{
    EventHandler, EventNode, ForkHandler, ForkNode, JoinHandler, JoinNode, LogicHandler, LogicNode,
};
pub use interlocking_core::route::Route;
pub use interlocking_core::run_id::RunId;
pub use interlocking_core::{fork, goto};
pub use interlocking_macros::{Graph, Labels};

#[cfg(feature = "runtime")]
pub use interlocking_agents::{SessionId, SessionOp, Slug};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::advisory::{AdvisoryHandler, AdvisoryNode};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::graph::{GraphHandler, GraphNode};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::human::{HumanHandler, HumanNode};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::llm::{Ask, LLMHandler, LLMNode, PassOn, Reply, ReplyHandler};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::map::{Child, Children, EnoughHandler, Item, MapHandler, MapNode};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::observer::{Observation, ObserverHandler, ObserverNode};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::{Outcome, Report, Run, RunContext as _};
#[cfg(feature = "workspaces")]
pub use interlocking_workspaces::{GitContext as _, GitWorkspaces};
