//! The protections of a sandbox, and which of them a system can enforce.

use std::{collections::BTreeSet, fmt, sync::OnceLock};

/// A protection: a kind of action that a confined program cannot perform if the kernel enforces the protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protection {
    /// Open, make, rename, link or delete files outside the granted paths (Landlock, since Linux 5.13).
    Files,
    /// Truncate files outside the granted paths without opening them (Landlock, since Linux 6.2).
    Truncation,
    /// Send commands (`ioctl`) to devices that were not granted (Landlock, since Linux 6.10).
    Devices,
    /// Connect to abstract unix sockets of programs outside the sandbox (Landlock, since Linux 6.12).
    AbstractSockets,
    /// Send signals to programs outside the sandbox (Landlock, since Linux 6.12).
    Signals,
    /// Connect or listen by TCP (Landlock, since Linux 6.7). Requested only with [`crate::Network::Denied`].
    Tcp,
    /// Make unix sockets, which reach the services of this machine, or any sockets with [`crate::Network::Denied`]; change the
    /// limits and the scheduling of other programs; share memory and queues with them; watch files, and use their extended
    /// attributes; make namespaces; insert input into a terminal; use the kernel's key rings, its information on other programs
    /// and its modules (seccomp).
    SystemCalls,
    /// Perform actions that need root or a capability, such as changing the owner of files.
    Privileges,
}

impl Protection {
    /// All protections.
    pub const ALL: [Self; 8] = [
        Self::Files,
        Self::Truncation,
        Self::Devices,
        Self::AbstractSockets,
        Self::Signals,
        Self::Tcp,
        Self::SystemCalls,
        Self::Privileges,
    ];
}

impl fmt::Display for Protection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Files => "files outside its place",
            Self::Truncation => "cutting files outside to length",
            Self::Devices => "commands to devices",
            Self::AbstractSockets => "abstract unix sockets",
            Self::Signals => "signals to programs outside",
            Self::Tcp => "TCP",
            Self::SystemCalls => "making sockets, sharing memory and scheduling other programs",
            Self::Privileges => "what only the system's own user may do",
        })
    }
}

/// The protections that a system can enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    enforceable: BTreeSet<Protection>,
    explanation: String,
}

impl Support {
    /// What the running kernel can enforce. The first call tries each protection on a short-lived thread; later calls return its
    /// result.
    pub fn of_this_system() -> &'static Self {
        static SUPPORT: OnceLock<Support> = OnceLock::new();
        SUPPORT.get_or_init(crate::enforcement::probe)
    }

    /// A system that can enforce these protections: for tests of the behaviour on other systems.
    pub fn of(enforceable: impl IntoIterator<Item = Protection>, explanation: impl Into<String>) -> Self {
        Self { enforceable: enforceable.into_iter().collect(), explanation: explanation.into() }
    }

    /// Whether the system can enforce this protection.
    #[must_use]
    pub fn enforces(&self, protection: Protection) -> bool {
        self.enforceable.contains(&protection)
    }

    /// All protections that the system can enforce.
    #[must_use]
    pub fn enforceable(&self) -> &BTreeSet<Protection> {
        &self.enforceable
    }

    /// Which kernel interfaces were found, or why none was: text for a message.
    #[must_use]
    pub fn explanation(&self) -> &str {
        &self.explanation
    }
}
