//! What can be enforced, and what this system can.

use std::{collections::BTreeSet, fmt, sync::OnceLock};

/// One thing that a confined program cannot do, if the kernel enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protection {
    /// Open, make, rename, link or delete files outside what is granted (Landlock, since Linux 5.13).
    Files,
    /// Cut files outside to length without opening them (Landlock, since Linux 6.2).
    Truncation,
    /// Command devices that were not granted (Landlock, since Linux 6.10).
    Devices,
    /// Connect to abstract unix sockets of programs outside (Landlock, since Linux 6.12).
    AbstractSockets,
    /// Send signals to programs outside (Landlock, since Linux 6.12).
    Signals,
    /// Connect or listen by TCP (Landlock, since Linux 6.7). Wanted only with [`crate::Network::Cut`].
    Tcp,
    /// Make sockets: of the unix kind, which reach the services of this machine, or of any kind with
    /// [`crate::Network::Cut`]; change the limits and the scheduling of other programs; share memory and queues with them;
    /// watch files, and use their extended attributes; make namespaces; push keys into a terminal; use the kernel's key
    /// rings, its view of other programs and its modules (seccomp).
    SystemCalls,
    /// Do what only the system's own user may, such as giving files to others, or whoever has a capability.
    Privileges,
}

impl Protection {
    /// All of them.
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

/// What a system can enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    enforceable: BTreeSet<Protection>,
    explanation: String,
}

impl Support {
    /// Asks the running kernel, once: each protection is tried on a thread that ends at once.
    pub fn of_this_system() -> &'static Self {
        static SUPPORT: OnceLock<Support> = OnceLock::new();
        SUPPORT.get_or_init(crate::enforcement::probe)
    }

    /// A system that enforces these: for tests of what happens on another one.
    pub fn of(enforceable: impl IntoIterator<Item = Protection>, explanation: impl Into<String>) -> Self {
        Self { enforceable: enforceable.into_iter().collect(), explanation: explanation.into() }
    }

    /// Whether it is enforced here.
    #[must_use]
    pub fn enforces(&self, protection: Protection) -> bool {
        self.enforceable.contains(&protection)
    }

    /// Everything that is enforced here.
    #[must_use]
    pub fn enforceable(&self) -> &BTreeSet<Protection> {
        &self.enforceable
    }

    /// Which kernel interfaces were found, or why there is none: for a message.
    #[must_use]
    pub fn explanation(&self) -> &str {
        &self.explanation
    }
}
