//! Ends the processes that were left by runners that have ended. They run on until a later runner searches for them.

use std::collections::BTreeSet;
use std::io;
use std::time::Instant;

use tokio::sync::Mutex;

use super::limit::Limit;
use super::marker::Marker;
use super::process::{Identity, Process};
use super::scan::{Scan, markers, own};
use super::stop::{stop_and_kill, wait_for};
use crate::program::abandoned_error::{AbandonedError, SurvivingProcess};

/// The result of the last search, and when the search began.
static LAST: Mutex<Option<(Instant, Result<usize, AbandonedError>)>> = Mutex::const_new(None);

/// Ends all abandoned processes, by a search that begins after this call. Calls that arrive during a search share the next one.
pub(in crate::program) async fn end() -> Result<usize, AbandonedError> {
    let asked = Instant::now();
    let mut last = LAST.lock().await;
    if let Some((begun, ended)) = &*last
        && *begun > asked
    {
        return ended.clone();
    }
    let begun = Instant::now();
    let ended = tokio::task::spawn_blocking(end_all).await.unwrap_or_else(|panic| Err(search_failed(&panic)));
    *last = Some((begun, ended.clone()));
    ended
}

fn end_all() -> Result<usize, AbandonedError> {
    let (found, failed) = stop_and_kill(|_, known| {
        let scan = Scan::without_orphans()?;
        let seen = abandoned()?;
        let mut descendants = scan.descendants_of(known.iter().copied().chain(seen.alive));
        descendants.ended.extend(seen.ended);
        Ok((descendants, seen.is_complete))
    });
    if let Some(error) = failed {
        return Err(search_failed(&error));
    }
    let left = wait_for(&found);
    if !found.is_empty() {
        tracing::warn!(
            ended = found.len() - left.len(),
            "ended processes that were left running by a process that was killed"
        );
    }
    match left.is_empty() {
        true => Ok(found.len()),
        false => Err(AbandonedError::StillRunning { processes: left.into_iter().map(named).collect() }),
    }
}

fn search_failed(reason: &impl ToString) -> AbandonedError {
    AbandonedError::SearchFailed { reason: reason.to_string() }
}

fn named(process: Identity) -> SurvivingProcess {
    let name = std::fs::read_to_string(format!("/proc/{}/comm", process.number)).unwrap_or_default();
    SurvivingProcess { number: process.number.unsigned_abs(), name: name.trim_end().to_owned() }
}

/// The processes that carry a mark of a runner that has ended.
struct Seen {
    alive: Vec<Identity>,
    ended: Vec<Identity>,
    /// Whether no process ended during the search. A process that did may have started another.
    is_complete: bool,
}

/// Checks every process once. Markers that this process carries itself are ignored, as every process that it starts inherits
/// them.
fn abandoned() -> io::Result<Seen> {
    let own = own()?.identity.number;
    let outer: BTreeSet<_> = markers(own).into_iter().map(|marker| marker.runner).collect();
    let is_abandoned = |marker: &Marker| !outer.contains(&marker.runner) && marker.runner.has_ended();
    let mut seen = Seen { alive: Vec::new(), ended: Vec::new(), is_complete: true };
    for entry in std::fs::read_dir("/proc")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Some(process) = Process::look(number) else {
            seen.is_complete = false;
            continue;
        };
        let by_limit = || Limit::of_process(number).is_some_and(Limit::is_abandoned) && may_be_ours(number);
        if number == own {
            continue;
        }
        if !(by_limit() || markers(number).iter().any(is_abandoned)) {
            // A process that ended before its marks were read showed none.
            let is_unchanged = |after: Process| after.identity == process.identity && after.lives() == process.lives();
            seen.is_complete &= Process::look(number).is_some_and(is_unchanged);
            continue;
        }
        let list = if process.lives() { &mut seen.alive } else { &mut seen.ended };
        list.push(process.identity);
    }
    Ok(seen)
}

/// Whether the limit of a process can be that of one of this user's programs: any user can give any limit to a process.
fn may_be_ours(number: i32) -> bool {
    let own = rustix::process::getuid().as_raw();
    std::fs::read_to_string(format!("/proc/{number}/status")).is_ok_and(|status| tells_of_ours(&status, own))
}

/// Whether the status of a process tells that it is in this process's PID namespace, where it has a single process id, and that it
/// belongs to the user `own`, or to the system's user, as which a program of any user may run (`sudo`). The system's user is
/// concerned with all processes.
fn tells_of_ours(status: &str, own: u32) -> bool {
    let numbers = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().split_ascii_whitespace()
    };
    // The real user. A program of the system's user that another user started, such as `passwd`, keeps that user as its real one.
    let real = numbers("Uid:").next().and_then(|user| user.parse::<u32>().ok());
    numbers("NSpid:").count() == 1 && (own == 0 || real == Some(own) || real == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_another_user_is_no_concern() {
        for (own, real, is_ours) in [(1000, 1000, true), (1000, 1001, false), (1000, 0, true), (0, 1001, true)] {
            let status = |ids: &str| format!("Name:\tUid: 1\nUid:\t{real}\t0\t0\t0\nNSpid:\t{ids}\n");
            assert_eq!(tells_of_ours(&status("7"), own), is_ours, "{own} {real}");
            assert!(!tells_of_ours(&status("7\t1"), own), "it is in another namespace");
        }
    }
}
