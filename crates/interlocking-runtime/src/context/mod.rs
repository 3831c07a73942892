//! What handlers reach through their context, and how it is kept.

pub(crate) mod additions;
pub(crate) mod begun_sessions;
pub(crate) mod child_run;
pub(crate) mod history;
pub(crate) mod mail;
pub(crate) mod memory_store;
pub(crate) mod reports;
pub mod run_context;
mod untyped_context;
pub(crate) mod services;
pub(crate) mod turns;
pub(crate) mod usage_guard;
