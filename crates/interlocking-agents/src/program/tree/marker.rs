//! What tells a program's processes from all others by their environment.

use std::ffi::OsString;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::runner::Runner;

/// Names one start of a program. It is in the environment of everything that the program starts, unless that is cleared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::program) struct Marker {
    pub(super) runner: Runner,
    /// The program's number among those of its runner, from 1.
    pub(super) start: u64,
}

impl Marker {
    /// The variable.
    pub(in crate::program) const VARIABLE: &'static str = "INTERLOCKING_PROGRAM";

    /// One that nobody else has.
    pub(in crate::program) fn new() -> Self {
        static STARTS: AtomicU64 = AtomicU64::new(1);
        Self { runner: Runner::own(), start: STARTS.fetch_add(1, Ordering::Relaxed) }
    }

    /// The value of the variable. What this process was marked with itself comes first: whoever started it finds its
    /// programs, too.
    pub(in crate::program) fn value(self) -> OsString {
        match std::env::var_os(Self::VARIABLE) {
            Some(mut outer) if !outer.is_empty() => {
                outer.push(format!(",{self}"));
                outer
            }
            _ => self.to_string().into(),
        }
    }

    /// The markers in an environment as the kernel shows it.
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
