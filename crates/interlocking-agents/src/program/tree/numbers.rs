//! The ids that the kernel assigns to processes and threads. Each gets the next free id. After the highest, ids start again at
//! the lowest.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The id that was assigned last in this process's PID namespace, to a process or a thread. `None` if the kernel does not report
/// it.
pub(super) fn last() -> Option<i32> {
    static LOAD: LazyLock<Option<File>> = LazyLock::new(|| {
        let load = File::open("/proc/loadavg").ok()?;
        // Some containers mount another file there, with outdated values.
        let is_the_kernels =
            rustix::fs::fstatfs(&load).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC);
        is_the_kernels.then_some(load)
    });
    let mut line = [0; 128];
    let length = LOAD.as_ref()?.read_at(&mut line, 0).ok()?;
    // The fields are three load averages, running/existing threads, and the last id.
    std::str::from_utf8(&line[..length]).ok()?.split_ascii_whitespace().nth(4)?.parse().ok()
}

/// Whether it is certain that no id was assigned twice since `since`: fewer ids were assigned than exist.
pub(super) fn is_none_repeated(since: Instant) -> bool {
    /// How many ids were ever assigned, in all namespaces together, and a time by which they were.
    static ASSIGNED: Mutex<Option<(u64, Instant)>> = Mutex::new(None);
    static HIGHEST: LazyLock<u64> = LazyLock::new(|| {
        let highest = fs::read_to_string("/proc/sys/kernel/pid_max").ok();
        highest.and_then(|highest| highest.trim().parse().ok()).unwrap_or(0)
    });
    // Assumes one id per microsecond, which is several times faster than a kernel can assign them.
    if since.elapsed() < Duration::from_micros(*HIGHEST) {
        return true;
    }
    let Some(assigned) = assigned() else { return false };
    let before = ASSIGNED.lock().unwrap_or_else(PoisonError::into_inner).replace((assigned, Instant::now()));
    before.is_some_and(|(before, moment)| moment <= since && assigned - before < *HIGHEST / 2)
}

/// How many ids the kernel has assigned since it was booted.
fn assigned() -> Option<u64> {
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
        // Other tests start processes at the same time. After the highest id, the lowest follows.
        let is_between = |from: i32, to: i32| from < number && number <= to;
        assert!(is_between(before, after) || after < before, "{before} {number} {after}");
    }

    #[test]
    fn a_long_time_is_counted() {
        let then = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        assert!(is_none_repeated(Instant::now()));
        assert!(!is_none_repeated(then), "nobody has counted since then");
        let before = assigned().unwrap();
        std::process::Command::new("true").status().unwrap();
        assert!(assigned().unwrap() > before);
    }
}
