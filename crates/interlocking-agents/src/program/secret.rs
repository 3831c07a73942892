//! A value that nobody may read but the program it is for.

use std::fmt;
use std::sync::Arc;

/// A key or a token. It is shown to nobody by accident: `Debug` and `Display` hide it, and it cannot be serialised.
///
/// Given to a program by [`Environment::secret`](super::Environment::secret), it is taken out of whatever that program
/// prints, too; see [`Redactor`](super::Redactor).
///
/// ```
/// # use interlocking_agents::program::Secret;
/// let key = Secret::new("sk-canary");
/// assert_eq!(format!("{key} {key:?}"), "[redacted] Secret([redacted])");
/// assert_eq!(key.expose(), "sk-canary");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// What stands where a secret stood.
    pub const REDACTED: &'static str = "[redacted]";

    /// Keeps this value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into().into())
    }

    /// The value of a variable of this process; none where it is not set, empty or no text.
    pub fn from_variable(name: &str) -> Option<Self> {
        std::env::var(name).ok().filter(|value| !value.is_empty()).map(Self::new)
    }

    /// The value itself. Whoever asks answers for where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Keeps other processes of the same user from reading this process's memory and the environment that it was started with, where its
/// keys are: `/proc/PID/mem`, `/proc/PID/environ`, and ptrace. To be called first in `main`; a command line of this project's does.
///
/// On Linux the process is made [not dumpable](https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html), and so leaves no core
/// dump, and no debugger of its user can attach to it. What it starts is as any other. It keeps nothing from the system's user
/// (`CAP_SYS_PTRACE`), nor from whoever may read the file that the key came from; a sandbox does. On other systems it does nothing.
///
/// # Errors
///
/// The system's words, where it refuses.
pub fn forbid_inspection() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secret({})", Self::REDACTED)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(Self::REDACTED)
    }
}
