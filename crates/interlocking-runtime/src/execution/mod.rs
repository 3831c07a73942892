//! One node execution: performed under its guards, in a task of its own or one after the other, and stopped.

pub(crate) mod completions;
pub(crate) mod interruption;
pub(crate) mod shared;
pub(crate) mod chain;
pub(crate) mod lone;
pub(crate) mod perform;
pub(crate) mod stops;
pub(crate) mod tasks;
