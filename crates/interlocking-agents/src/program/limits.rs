//! How long a call may take, and how a program is stopped.

use std::time::Duration;

/// How long a call of a program may take, each part by itself; `None` for any time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// From its start to its end: [`TimedOut`](crate::AgentErrorKind::TimedOut).
    pub whole: Option<Duration>,
    /// From its start to its first sign of life: [`NoFirstEvent`](crate::AgentErrorKind::NoFirstEvent).
    pub first_event: Option<Duration>,
    /// From one sign of life to the next, while it does not work on something of its own: [`Idle`](crate::AgentErrorKind::Idle).
    pub idle: Option<Duration>,
}

impl CallLimits {
    /// Any time.
    pub const NONE: Self = Self { whole: None, first_event: None, idle: None };
}

/// How long each step of stopping a program may take. Whatever is left of its tree after the last one is killed in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopOrder {
    /// After the program was asked to stop in its own way, until it gets SIGTERM.
    pub interrupt: Duration,
    /// After SIGTERM, until it gets SIGKILL.
    pub terminate: Duration,
}

impl StopOrder {
    /// 3 s and 3 s.
    pub const DEFAULT: Self = Self { interrupt: Duration::from_secs(3), terminate: Duration::from_secs(3) };

    /// SIGKILL at once.
    pub const AT_ONCE: Self = Self { interrupt: Duration::ZERO, terminate: Duration::ZERO };
}

impl Default for StopOrder {
    fn default() -> Self {
        Self::DEFAULT
    }
}
