//! Changing the files of a working tree to another state.

pub(crate) mod discard;
pub(crate) mod files;
pub(crate) mod hidden;
pub(crate) mod index_between;
pub(crate) mod reset;
pub(crate) mod switch;
pub(crate) mod unlock;
