//! Agents by name: which backend plays which role, configured in a file or on a command line instead of in code.
//!
//! A *backend* is an agent with its settings. Two backends of one kind are separate agents. The
//! [kinds](Backends::built_in) are backends too, with their default settings, so `claude:haiku` needs no file.
//!
//! A [`RoleBindings`] gathers the configuration and [binds](RoleBindings::bind) the requested roles to agents. All
//! problems in the configuration are reported together, with file and line. Backends that no requested role uses are
//! checked but not made.
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
//! | `others` | the agent of every role that is not named: `"BACKEND"` or `"BACKEND:MODEL"` |
//! | `roles.ROLE` | the agent of that role, as text or as a table |
//! | `roles.ROLE.agent` | the agent, as the same text |
//! | `roles.ROLE.nudges` | when the agent is [reminded](crate::Nudges) to decide: `idle` is a whole number of `ms`, `s`, `m` or `h`, or `"never"`; `limit` is a number; the [defaults](crate::Nudges::DEFAULT) apply to what is left out |
//! | `roles.ROLE.lost_session` | what to do with a turn whose session is [lost](crate::LostSession): `"fail"` or `"start_fresh"` |
//! | `backends.NAME` | a backend of that name: `kind`, and the settings of that kind |
//!
//! For a `scripted` backend the script follows the colon: `scripted:demo.toml`. Paths in a file are relative to the file's
//! directory.

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
