//! A value that only the program that it is meant for may read.

use std::fmt;
use std::sync::Arc;

/// A key or a token. It is not shown by accident: `Debug` and `Display` hide it, and it cannot be serialised.
///
/// If it is given to a program by [`Environment::secret`](super::Environment::secret), it is also redacted from the program's
/// output; see [`Redactor`](super::Redactor).
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
    /// The text that replaces a secret.
    pub const REDACTED: &'static str = "[redacted]";

    /// Wraps this value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into().into())
    }

    /// The value of an environment variable of this process; `None` if the variable is not set, is empty or is not UTF-8.
    pub fn from_variable(name: &str) -> Option<Self> {
        std::env::var(name).ok().filter(|value| !value.is_empty()).map(Self::new)
    }

    /// The value itself. The caller must keep it out of logs and errors.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Keeps other processes of the same user from reading keys in this process's memory and its initial environment, by
/// `/proc/PID/mem`, `/proc/PID/environ` and ptrace. Call it first in `main`; this project's command lines do.
///
/// On Linux this makes the process [not dumpable](https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html): it leaves
/// no core dump, and a debugger of the same user cannot attach. Programs that it starts are not affected. Root (`CAP_SYS_PTRACE`)
/// can still read the process, and any process that may read the file that holds the key can still read that; a sandbox prevents
/// both. On other systems this function does nothing.
///
/// # Errors
///
/// The operating system refused.
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
