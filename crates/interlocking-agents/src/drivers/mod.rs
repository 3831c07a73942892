//! The agents that we drive: programs, and models over HTTP; and what bounds all that they say and write.

pub mod claude;
pub(crate) mod codex;
pub(crate) mod event_meter;
pub(crate) mod gemini;
pub(crate) mod homes;
#[cfg(feature = "http")]
pub mod http;
pub(crate) mod json_lines;
pub(crate) mod running_tools;
pub(crate) mod shortened;
pub(crate) mod written_by_agents;
