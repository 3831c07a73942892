//! Identifies the process that runs programs, so that other processes can tell whether it is still alive.

use std::fmt;
use std::sync::OnceLock;

/// A process that runs programs. Differs from any later process with the same process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Runner {
    /// The process id.
    pub(super) number: u32,
    /// The start time in clock ticks since the kernel was booted, or a random number where that is not known.
    pub(super) start: u64,
    /// The PID namespace in which the process has this id; 0 if it is not known, and on systems without namespaces.
    pub(super) namespace: u64,
}

impl Runner {
    /// This process.
    pub(super) fn own() -> Self {
        static OWN: OnceLock<Runner> = OnceLock::new();
        *OWN.get_or_init(|| {
            let number = std::process::id();
            let (start, namespace) = place(number);
            Self { number, start, namespace }
        })
    }

    #[cfg(target_os = "linux")]
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let number = parts.next()?.parse().ok()?;
        let start = parts.next()?.parse().ok()?;
        Some(Self { number, start, namespace: parts.next()?.parse().ok()? })
    }

    /// Whether the runner belongs to this process's PID namespace and has ended.
    #[cfg(target_os = "linux")]
    pub(super) fn has_ended(&self) -> bool {
        let process = i32::try_from(self.number).ok().and_then(super::process::Process::look);
        self.namespace == Self::own().namespace
            && process.is_none_or(|process| process.identity.start != self.start || !process.lives())
    }
}

#[cfg(target_os = "linux")]
fn place(number: u32) -> (u64, u64) {
    let process = i32::try_from(number).ok().and_then(super::process::Process::look);
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok();
    let namespace = namespace.and_then(|link| link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok());
    (process.map_or_else(random, |process| process.identity.start), namespace.unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn place(_number: u32) -> (u64, u64) {
    (random(), 0)
}

fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

impl fmt::Display for Runner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}-{}", self.number, self.start, self.namespace)
    }
}
