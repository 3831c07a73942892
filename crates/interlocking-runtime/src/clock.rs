//! The clocks that events and reports use.

use std::fmt;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A clock, which a run reads once for each node execution.
pub trait Clock: Send + Sync {
    /// The time since some fixed moment. Never goes back.
    fn now(&self) -> Elapsed;

    /// The calendar time, in milliseconds since 1970 began: for times that are recorded and that another process
    /// compares.
    fn unix_ms(&self) -> u64 {
        unix_ms(SystemTime::now())
    }
}

fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis().try_into().unwrap_or(u64::MAX)
}

/// A time span in nanoseconds. Differences of spans are cheap.
///
/// Displayed as seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Elapsed(u64);

/// The system's monotonic clock in its cheapest form: exact to a few milliseconds, which is little beside an agent's
/// turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoarseClock;

/// Tokio's clock, which a test can pause and advance.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock(tokio::time::Instant);

impl Elapsed {
    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The span as a [`Duration`].
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The span in whole milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.as_duration().as_secs_f64()
    }

    /// The time that lies `later` after this one.
    #[inline]
    pub(crate) const fn plus(self, later: Self) -> Self {
        Self(self.0.saturating_add(later.0))
    }

    /// The time from `earlier` to this one; zero if `earlier` is the later of the two.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Clock for CoarseClock {
    #[inline]
    fn now(&self) -> Elapsed {
        coarse()
    }
}

/// Reads the kernel's clock, which counts nanoseconds, directly: without a conversion, and in one call.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[inline]
fn coarse() -> Elapsed {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    // The kernel counts from boot, so neither part is negative.
    Elapsed((now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[inline]
fn coarse() -> Elapsed {
    let ticks = coarsetime::Instant::now_without_cache_update().as_ticks();
    Elapsed(coarsetime::Duration::from_ticks(ticks).as_nanos())
}

impl TokioClock {
    /// Starts a clock at the current time. Must be called inside the runtime if that runtime's time is paused.
    pub fn start() -> Self {
        Self(tokio::time::Instant::now())
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Elapsed {
        Elapsed(self.0.elapsed().as_nanos().try_into().unwrap_or(u64::MAX))
    }

    /// Advances with the runtime's time, from the calendar time at the process's first call.
    fn unix_ms(&self) -> u64 {
        static FIRST: LazyLock<(Instant, SystemTime)> = LazyLock::new(|| (Instant::now(), SystemTime::now()));
        let (first, system) = *FIRST;
        unix_ms(system + tokio::time::Instant::now().into_std().saturating_duration_since(first))
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} s", self.as_secs_f64())
    }
}
