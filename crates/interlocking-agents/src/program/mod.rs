//! Running a program and all that comes of it: for agents that drive one.
//!
//! - [`Invocation`]: what is started, with an [`Environment`] of its own and, if wanted, in a sandbox.
//! - [`Running`]: its lines out, bytes in, and its [end](Ended). Whatever it started ends with it, and when it is dropped.
//! - [`Secret`]: in its environment, and nowhere else; a [`Redactor`] takes it out of what the program prints.
//! - [`converse`]: the whole of a call in a protocol of lines, a [`Dialogue`], within [`CallLimits`] and with a [`StopOrder`].
//!
//! **What ends with a program.** On Linux every process that descends from it while its parents live, or is in its process
//! group, or has the marker in its environment that all it starts inherit, or has its standard output or standard error open, or
//! is in its namespace, where this process may make one. So daemons and sessions of their own end, too. What escapes is listed in
//! `docs/programs.md`: where no namespace may be made, who has lost all of that before anybody looked; and who was started by
//! another program on behalf of this one, such as a service manager. On other Unix systems the process group alone ends.

mod call;
mod environment;
mod invocation;
mod life;
mod limits;
mod lines;
#[cfg(target_os = "linux")]
mod pipes;
mod redactor;
mod running;
mod secret;
mod tail;
mod tree;
mod unescaped;

pub use call::{Call, Dialogue, Heard, converse};
pub use environment::Environment;
pub use invocation::{Invocation, StartError};
pub use limits::{CallLimits, StopOrder};
pub use lines::Line;
pub use redactor::Redactor;
pub use running::{Ended, Running};
pub use secret::Secret;
