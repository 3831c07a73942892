//! The driver of Claude Code, with the real program and a scripted model server. Every file here is a module below (`runner`
//! checks it).

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod answers;
mod canary;
mod common;
mod confined;
mod failures;
mod readiness;
mod runner;
mod schemas;
mod servers;
mod sessions;
mod stopping;
mod work;
