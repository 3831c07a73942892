//! One directory per agent: Claude Code, Codex, Gemini, and models over HTTP. The files beside them limit what an
//! agent's program reports and writes.

pub(crate) mod call_directory;
pub mod claude;
pub(crate) mod codex;
pub(crate) mod event_meter;
pub(crate) mod gemini;
pub(crate) mod homes;
#[cfg(feature = "http")]
pub mod http;
pub(crate) mod installation;
pub(crate) mod json_lines;
pub(crate) mod named_session;
pub(crate) mod prose;
pub(crate) mod running_tools;
pub(crate) mod shortened;
pub(crate) mod untrusted_files;
