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
        let by_limit = || Limit::of_process(number).is_some_and(Limit::is_abandoned) && is_of_this_namespace(number);
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

/// Whether a process is in this process's PID namespace: its status then lists a single process id.
fn is_of_this_namespace(number: i32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{number}/status")) else { return false };
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.is_some_and(|numbers| numbers.split_ascii_whitespace().count() == 1)
}
