//! Running a program and all that comes of it: for agents that drive one.
//!
//! - [`Invocation`]: what is started, with an [`Environment`] of its own and, if wanted, in a sandbox.
//! - [`Running`]: its lines out, bytes in, and its [end](Ended). Whatever it started ends with it, and when it is dropped.
//! - [`Secret`]: in its environment, and nowhere else; a [`Redactor`] takes it out of what the program prints.
//! - [`forbid_inspection`]: keeps keys in this process from other processes of its user.
//! - [`run_protocol`]: the whole of a call in a protocol of lines, a [`LineProtocol`], within [`CallLimits`] and with a [`StopOrder`].
//!
//! **What ends with a program.** On Linux all that came of it, however it got away: daemons, sessions of their own, without
//! environment and files. When this process ends, by SIGKILL too, a guard ends what its programs left, and [`end_abandoned`] ends what a
//! guard did not. `docs/book/src/programs.md` says by what each is found, and what escapes. On other Unix systems the process group alone
//! ends.

mod abandoned;
mod left_running;
mod call;
mod environment;
mod invocation;
mod life;
mod limits;
mod lines;
mod redactor;
mod running;
mod secret;
mod starter;
mod tail;
mod tree;
mod unescaped;

pub use abandoned::end_abandoned;
pub use call::{Call, LineOutcome, LineProtocol, run_protocol};
pub use environment::{Environment, WORKSPACE_HASH};
pub use invocation::{Invocation, StartError};
pub use left_running::{AbandonedError, LeftRunning};
pub use limits::{CallLimits, StopOrder};
pub use lines::Line;
pub use redactor::Redactor;
pub use running::{Ended, Running};
pub use secret::{Secret, forbid_inspection};
