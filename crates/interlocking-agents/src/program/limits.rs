//! Time limits of a call, and how a program is stopped.

use std::time::Duration;

/// Time limits of a program call. Each limit applies on its own; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// The whole call, from the program's start to its end. Exceeded: [`TimedOut`](crate::AgentErrorKind::TimedOut).
    pub total: Option<Duration>,
    /// From the program's start to its first event. Exceeded: [`NoFirstEvent`](crate::AgentErrorKind::NoFirstEvent). If this is
    /// `None`, [`idle`](Self::idle) applies to the first event, too.
    pub first_event: Option<Duration>,
    /// From one event to the next, except while the program runs a tool or command of its own. Exceeded:
    /// [`Idle`](crate::AgentErrorKind::Idle).
    pub idle: Option<Duration>,
}

impl CallLimits {
    /// No limits.
    pub const NONE: Self = Self { total: None, first_event: None, idle: None };
}

/// How long it is waited until the killed processes of a tree are gone.
pub(super) const TREE_END: Duration = Duration::from_secs(2);

/// How long each step of stopping a program may take. After the last step, all that is left of its process tree is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopTimeouts {
    /// Time between the interruption by the program's own protocol, or the end of its answer, and SIGTERM.
    pub interrupt: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub terminate: Duration,
}

impl StopTimeouts {
    /// 3 s for each step.
    pub const DEFAULT: Self = Self { interrupt: Duration::from_secs(3), terminate: Duration::from_secs(3) };

    /// SIGKILL at once, without interruption and SIGTERM.
    pub const AT_ONCE: Self = Self { interrupt: Duration::ZERO, terminate: Duration::ZERO };

    /// The longest time from the interruption until it is not waited for the process tree any more.
    pub(crate) const fn longest(&self) -> Duration {
        self.interrupt.saturating_add(self.terminate).saturating_add(TREE_END)
    }
}

impl Default for StopTimeouts {
    fn default() -> Self {
        Self::DEFAULT
    }
}
