//! The numbers that the kernel gives to processes and threads: each gets the next free one, from the lowest again when the highest
//! was given.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The one that was given last in this process's namespace, to a process or a thread; none where the kernel does not tell.
pub(super) fn last() -> Option<i32> {
    static LOAD: LazyLock<Option<File>> = LazyLock::new(|| {
        let load = File::open("/proc/loadavg").ok()?;
        // Some containers have a file of somebody else's there, which tells what was so a while ago.
        let is_the_kernels =
            rustix::fs::fstatfs(&load).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC);
        is_the_kernels.then_some(load)
    });
    let mut line = [0; 128];
    let length = LOAD.as_ref()?.read_at(&mut line, 0).ok()?;
    // Three loads, how many run of how many there are, and this.
    std::str::from_utf8(&line[..length]).ok()?.split_ascii_whitespace().nth(4)?.parse().ok()
}

/// Whether for sure no number was given twice since then, as fewer were given than there are.
pub(super) fn is_none_repeated(since: Instant) -> bool {
    /// How many were ever given, all namespaces together, and a moment by which they were.
    static GIVEN: Mutex<Option<(u64, Instant)>> = Mutex::new(None);
    static HIGHEST: LazyLock<u64> = LazyLock::new(|| {
        let highest = fs::read_to_string("/proc/sys/kernel/pid_max").ok();
        highest.and_then(|highest| highest.trim().parse().ok()).unwrap_or(0)
    });
    // As if each took a microsecond, which is several times as fast as it is.
    if since.elapsed() < Duration::from_micros(*HIGHEST) {
        return true;
    }
    let Some(given) = given() else { return false };
    let before = GIVEN.lock().unwrap_or_else(PoisonError::into_inner).replace((given, Instant::now()));
    before.is_some_and(|(before, moment)| moment <= since && given - before < *HIGHEST / 2)
}

fn given() -> Option<u64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("processes "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_started_gets_the_next_number() {
        let before = last().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (number, after) = (i32::try_from(child.id()).unwrap(), last().unwrap());
        child.wait().unwrap();
        // Others start some at the same time. From the highest it goes on with the lowest.
        let is_between = |from: i32, to: i32| from < number && number <= to;
        assert!(is_between(before, after) || after < before, "{before} {number} {after}");
    }

    #[test]
    fn a_long_time_is_counted() {
        let then = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        assert!(is_none_repeated(Instant::now()));
        assert!(!is_none_repeated(then), "nobody has counted since then");
        let before = given().unwrap();
        std::process::Command::new("true").status().unwrap();
        assert!(given().unwrap() > before);
    }
}
