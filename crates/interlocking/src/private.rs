//! The names that derived code uses, flattened to keep that code short.

pub use core::future::Future;
pub use core::marker::Send;
pub use core::option::Option::{self, None, Some};
pub use core::primitive::{bool, u16, usize};
pub use core::result::Result::{self, Ok};
pub use interlocking_core::__private::{
    NO_PLACE, NoToken, ReportsOfNode, as_entry, as_payload, child_nets, exhausted, exhausted_edge, failed, finish,
    graph_nets, keep, load, net, not_stored, reports, slots, store, timed_out, unknown_place, visit,
};
pub use interlocking_core::agent_calls::AgentCalls;
pub use interlocking_core::chain::no_relay;
pub use interlocking_core::context::{Cx, Entered, LabelType, Labelled, Severity};
pub use interlocking_core::dispatch::{Addressed, Few, Many, Nodes, Padding, wrong_node};
pub use interlocking_core::failure::{Exhausted, Failure, NodeError};
pub use interlocking_core::frontier::{Limit, Payload};
pub use interlocking_core::graph::{
    AddsTo, Asks, Beginning, Branch, Counted, Done, Edge, EndPlace, Ending, Field, Forks, Graph, Handled, Judged, Maps,
    MemoryVisitor, Node, PassedOn, PassesOn, Place, Relay, Remembers, ReportSource, Reporting, Reports, Resumes, Runs,
    RunsChildren, Spawns, Token, Value, Works,
};
pub use interlocking_core::kind::Kind;
pub use interlocking_core::net::{Net, Nets};
pub use interlocking_core::route::{Choice, Nth, Route, Step};
pub use interlocking_core::route_hint;
pub use interlocking_core::serde::{Deserializer, Serializer};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::llm::{AsksWithInput, FromHandler, FromInput, LLM, PassesReplyOn, as_reply};
#[cfg(feature = "runtime")]
pub use interlocking_runtime::observer::Observation;
pub use std::sync::OnceLock;
pub use std::vec::Vec;
