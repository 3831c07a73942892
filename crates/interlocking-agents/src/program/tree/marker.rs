//! The environment variable by which a program's processes are recognised.

use std::ffi::OsString;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::runner::Runner;

/// Identifies one start of a program. Every process that the program starts has it in its environment, unless the environment is
/// cleared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::program) struct Marker {
    pub(super) runner: Runner,
    /// The number of the program among those that its runner started, from 1.
    pub(super) start: u64,
}

impl Marker {
    /// The name of the environment variable.
    pub(in crate::program) const VARIABLE: &'static str = "INTERLOCKING_PROGRAM";

    /// A new, unique marker.
    pub(in crate::program) fn new() -> Self {
        static STARTS: AtomicU64 = AtomicU64::new(1);
        Self { runner: Runner::own(), start: STARTS.fetch_add(1, Ordering::Relaxed) }
    }

    /// The value of the variable. If this process is itself marked, its markers come first, so that the runner that started this
    /// process finds this process's programs, too.
    pub(in crate::program) fn value(self) -> OsString {
        match std::env::var_os(Self::VARIABLE) {
            Some(mut outer) if !outer.is_empty() => {
                outer.push(format!(",{self}"));
                outer
            }
            _ => self.to_string().into(),
        }
    }

    /// The markers in an environment in the format of `/proc/PID/environ`.
    #[cfg(target_os = "linux")]
    pub(super) fn all_in(environment: &[u8]) -> Vec<Self> {
        let mut variables = environment.split(|byte| *byte == 0);
        let value = variables.find_map(|variable| {
            let (name, value) = variable.split_at_checked(Self::VARIABLE.len())?;
            if name == Self::VARIABLE.as_bytes() { value.strip_prefix(b"=") } else { None }
        });
        let markers = value.unwrap_or_default().split(|byte| *byte == b',');
        markers.filter_map(|marker| Self::parse(std::str::from_utf8(marker).ok()?)).collect()
    }

    #[cfg(target_os = "linux")]
    fn parse(text: &str) -> Option<Self> {
        let (runner, start) = text.rsplit_once('-')?;
        Some(Self { runner: Runner::parse(runner)?, start: start.parse().ok()? })
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.runner, self.start)
    }
}

impl fmt::Debug for Marker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Marker({self})")
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_in_an_environment_among_others() {
        let (outer, inner) = (Marker::new(), Marker::new());
        assert_ne!(outer, inner);
        let environment = format!("PATH=/bin\0{}={outer},{inner}\0X=1\0", Marker::VARIABLE);
        assert_eq!(Marker::all_in(environment.as_bytes()), [outer, inner]);
        assert_eq!(Marker::all_in(b"PATH=/bin\0"), []);
        assert_eq!(Marker::all_in(format!("{}=garbage", Marker::VARIABLE).as_bytes()), []);
    }
}
