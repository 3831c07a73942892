//! Agents by name: which backend plays which role, said by a file or on a command line in place of code.
//!
//! A *backend* is an agent with its settings; backends that share nothing but their kind are different ones. The
//! [kinds](Backends::built_in) are backends too, with their default settings, so `claude:haiku` needs no file.
//!
//! A [`RoleBindings`] gathers what is said, and [binds](RoleBindings::bind) the roles that somebody asks for. Everything that is wrong
//! with what was said is told at once, with file and line. What nobody asks for is checked and not made.
//!
//! ```toml
//! # Every role that is not named below.
//! others = "claude"
//!
//! [roles]
//! reviewer = "claude:haiku"        # a backend, and a model in its own naming
//! writer = { agent = "careful:opus", nudges = { idle = "5m", limit = 2 } }
//!
//! [backends.careful]
//! kind = "claude"                  # may be left out where the name is that of a kind
//! # … and that kind's settings
//! ```
//!
//! | key | meaning |
//! |---|---|
//! | `others` | who plays every role that is not named: `"BACKEND"` or `"BACKEND:MODEL"` |
//! | `roles.ROLE` | who plays that role, as text or as a table |
//! | `roles.ROLE.agent` | the same text |
//! | `roles.ROLE.nudges` | when it is [reminded](crate::Nudges) to decide: `idle` is a whole number of `ms`, `s`, `m` or `h`, or `"never"`; `limit` a number; what is left out is [as usual](crate::Nudges::DEFAULT) |
//! | `roles.ROLE.lost_session` | what becomes of a turn whose session is [lost](crate::LostSession): `"fail"` or `"start_fresh"` |
//! | `backends.NAME` | a backend of that name: `kind`, and the settings of that kind |
//!
//! What follows the colon of a `scripted` backend is its script: `scripted:demo.toml`. Paths in a file are relative to the
//! file's directory.

mod build_access;
mod built_in;
mod bindings;
mod choice;
mod file;
#[cfg(feature = "http")]
mod http;
mod kind;
mod problem;
mod scripted;

pub use bindings::{RoleBinding, RoleBindings};
pub use build_access::BuildAccess;
pub use kind::Backends;
pub use problem::{RoleBindingProblem, RoleBindingsError};
pub use scripted::ScriptedSettings;
