//! Sets the limit that marks a program on a program that was just started, and on the processes that it has started by then.
//!
//! The program gets the limit, and is stopped, some microseconds after its start. Few programs have started another process by
//! then. The [process ids](numbers) that the kernel has assigned meanwhile prove that there is none. If they do not, the
//! program's processes are searched.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::limit::Limit;
use super::niceness::is_nicer;
use super::numbers;
use super::process::{Identity, Process};
use super::scan::{Scan, own};
use super::stop::signal;

/// How long a process may take to stop. It stops when it is scheduled next, which can take long on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sets the limit on a child that was started after `before` and has not been waited for, and on all processes that the child has
/// started. The child is stopped meanwhile. The [starter thread](super::super::starter) starts no other program meanwhile.
pub(super) fn mark(root: Identity, limit: Limit, before: Instant) {
    let Some(number) = Pid::from_raw(root.number) else { return };
    // Processes that the program starts from now on inherit the limit. A fork that is under way may miss it: once the program has
    // stopped, the child of that fork exists, or the fork is restarted when the program continues.
    limit.put_on(root.number);
    // This fails if the program has ended.
    let _ = kill_process(number, Signal::STOP);
    let states = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let is_stopped = wait_until(|| !matches!(waitid(WaitId::Pid(number), states), Ok(None)));
    if !(is_stopped && has_no_unmarked_descendants(root, before)) {
        mark_all(root, limit);
    }
    let _ = kill_process(number, Signal::CONT);
}

/// Polls until the condition holds. Gives up after [`PATIENCE`], as any other process may continue a process that is being
/// stopped.
fn wait_until(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    for round in 0_u32.. {
        if holds() {
            return true;
        }
        if begun.elapsed() > PATIENCE {
            break;
        }
        // The process mostly runs on another processor, which receives the signal within microseconds.
        if round < 50 { std::thread::yield_now() } else { std::thread::sleep(Duration::from_micros(50)) }
    }
    tracing::warn!("a program that was just started does not stop, so some of its processes may be unmarked");
    false
}

/// Whether it is certain that no living descendant of the program lacks the limit. The program must be stopped and have the
/// limit.
///
/// A descendant has a process id that was assigned after the program's. Each of these ids is checked until no new one is
/// assigned. A process that has ended by then either started no other process, or that process has a later id, which is checked
/// too.
fn has_no_unmarked_descendants(root: Identity, before: Instant) -> bool {
    let mut seen = root.number;
    loop {
        match numbers::last() {
            Some(last) if last == seen => return numbers::is_none_repeated(before),
            // From 64 ids on, it is faster to search this process's children. A lower id than before means that ids wrapped
            // around.
            Some(last) if last > seen && last - root.number < 64 => {
                if (seen + 1..=last).any(|number| may_be_unmarked(number, root, last)) {
                    return false;
                }
                seen = last;
            }
            _ => return false,
        }
    }
}

/// Whether process `number`, an id between the program's and `last`, is alive, has no limit and may descend from the program: its
/// parent may, or it is an orphan with a [raised niceness](super::niceness::raise_niceness).
fn may_be_unmarked(number: i32, root: Identity, last: i32) -> bool {
    let Some(process) = Process::look(number).filter(Process::lives) else { return false };
    if Limit::of_process(number).is_some_and(Limit::is_lowered) {
        return false;
    }
    match own() {
        Ok(own) if process.parent == own.identity.number => is_nicer(&process, &own),
        Ok(_) => (root.number..=last).contains(&process.parent),
        Err(_) => true,
    }
}

/// Finds the program and all its descendants, and sets the limit on those that lack it. Also stops each of these: once a process
/// has stopped, every child whose fork began before the process had the limit is visible. Repeats this until a scan that began
/// after all found processes had stopped finds no other process. A process is continued as soon as it has stopped, as another one
/// may wait for it within the kernel.
fn mark_all(root: Identity, limit: Limit) {
    let (mut found, mut ended, mut stopping) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let is_done = wait_until(|| {
        stopping.retain(|process: &Identity| {
            let now = Process::look(process.number).filter(|now| now.identity == *process);
            let runs = now.is_some_and(|now| now.runs());
            if !runs {
                signal(*process, Signal::CONT);
            }
            runs
        });
        let all_have_stopped = stopping.is_empty();
        let Ok(mut unmarked) = Scan::without_orphans().and_then(|scan| scan.unmarked(root, limit)) else {
            return false;
        };
        for process in unmarked.members.into_keys().filter(|process| found.insert(*process)) {
            limit.put_on(process.number);
            signal(process, Signal::STOP);
            stopping.insert(process);
        }
        // A process that ended since the last scan may have left a child where this scan had looked already.
        let is_complete = !unmarked.is_incomplete && unmarked.ended.is_subset(&ended);
        ended.append(&mut unmarked.ended);
        all_have_stopped && stopping.is_empty() && is_complete
    });
    if !is_done {
        stopping.iter().for_each(|process| signal(*process, Signal::CONT));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::super::scan::Started;
    use super::super::{Marker, Marks, Subreaper, Tree};
    use super::*;
    use crate::program::starter::on_starter;

    fn number_of(child: &Child) -> i32 {
        i32::try_from(child.id()).unwrap()
    }

    fn identity_of(child: &Child) -> Identity {
        Process::look(number_of(child)).unwrap().identity
    }

    fn sleep() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    /// Waits until a process has written a number to the file.
    fn written(file: &Path) -> i32 {
        loop {
            match std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()) {
                Some(number) => return number,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// The program forks twice and ends before it is marked. The process that it leaves has none of the program's marks.
    #[tokio::test]
    async fn whoever_was_started_before_the_mark_ends_with_the_program() {
        let (place, marker) = (tempfile::tempdir().unwrap(), Marker::new());
        let (directory, file, subreaper) = (place.path().to_owned(), place.path().join("number"), Subreaper::begin());
        let limit = Limit::of(&marker);
        if !limit.is_lowered() {
            return;
        }
        let (mut child, tree, number) = on_starter(move || {
            let before = Instant::now();
            let script = "(env -i setsid sh -c 'echo $$ > number; exec sleep 60' >/dev/null 2>&1 </dev/null &)";
            let child = Command::new("sh").args(["-c", script]).current_dir(directory).spawn().unwrap();
            let number = written(&file);
            while Process::look(number_of(&child)).unwrap().lives() {
                std::thread::yield_now();
            }
            let tree = Tree::of(Some(child.id()), before, Marks { marker, namespace: None }, subreaper);
            (child, tree, number)
        })
        .await
        .unwrap();
        let found = Limit::of_process(number);
        assert!(tree.is_awaited());
        child.wait().unwrap();
        assert!(!tree.is_awaited());
        let ended = tree.end(true);
        let lives = Process::look(number).is_some_and(|process| process.lives());
        if lives {
            kill_process(Pid::from_raw(number).unwrap(), Signal::KILL).unwrap();
        }
        // Unclaimed orphans of other tests' programs are ended, too.
        assert!(ended >= 1);
        assert_eq!((found, lives), (Some(limit), false));
    }

    /// Starts a program whose daemons write their process ids, and marks the program once there are some. Returns the program,
    /// its tree, how long marking took, and the ids of the daemons that are alive without the limit.
    async fn mark_late(directory: std::path::PathBuf, daemon: &str) -> Option<(Child, Tree, Duration, Vec<i32>)> {
        let (marker, subreaper) = (Marker::new(), Subreaper::begin());
        let limit = Some(Limit::of(&marker)).filter(|limit| limit.is_lowered())?;
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("daemon"), format!("echo $$ >> numbers; {daemon}")).unwrap();
        let file = directory.join("numbers");
        let numbers = move || std::fs::read_to_string(&file).unwrap_or_default();
        let (child, tree, took, numbers) = on_starter(move || {
            let before = Instant::now();
            let script = "(env -i setsid sh ./daemon >/dev/null 2>&1 </dev/null &)";
            let child = Command::new("sh").args(["-c", script]).current_dir(&directory).spawn().unwrap();
            while numbers().lines().count() < 3 {
                std::thread::yield_now();
            }
            let begun = Instant::now();
            let tree = Tree::of(Some(child.id()), before, Marks { marker, namespace: None }, subreaper);
            (child, tree, begun.elapsed(), numbers())
        })
        .await
        .unwrap();
        // A daemon that has the limit by now passes it on to what it starts.
        let lives = |number: &i32| Process::look(*number).is_some_and(|process| process.lives());
        let is_unmarked = |number: &i32| Limit::of_process(*number) != Some(limit) && lives(number);
        let unmarked = numbers.lines().filter_map(|line| line.parse().ok()).filter(is_unmarked).collect();
        Some((child, tree, took, unmarked))
    }

    /// The daemons do so as fast as they can, beside the daemons of another program.
    #[tokio::test]
    async fn daemons_that_start_one_another_and_end_are_marked() {
        let place = tempfile::tempdir().unwrap();
        let daemon = "case $1 in $(printf %300s)) exit;; esac; (env -i setsid sh ./daemon \" $1\" &)";
        let mut another: Option<Tree> = None;
        for round in 0..8 {
            let Some((mut child, tree, _, unmarked)) = mark_late(place.path().join(round.to_string()), daemon).await
            else {
                return;
            };
            child.wait().unwrap();
            assert!(unmarked.is_empty(), "in round {round}: {unmarked:?}");
            if let Some(another) = another.replace(tree) {
                another.end(true);
            }
        }
        another.unwrap().end(true);
    }

    /// A shell waits within the kernel until its child has called `exec`, and does not stop before that.
    #[tokio::test]
    async fn who_waits_for_one_that_is_stopped_is_not_waited_for() {
        let place = tempfile::tempdir().unwrap();
        for round in 0..8 {
            let daemon = "echo >> numbers; echo >> numbers; while :; do /bin/true; done";
            let Some((mut child, tree, took, unmarked)) = mark_late(place.path().join(round.to_string()), daemon).await
            else {
                return;
            };
            tree.end(true);
            child.wait().unwrap();
            assert!(unmarked.is_empty() && took < PATIENCE, "in round {round}: {unmarked:?}, {took:?}");
        }
    }

    #[tokio::test]
    async fn a_program_goes_on_when_it_is_marked() {
        let limit = Limit::of(&Marker::new());
        let (mut child, found, _started) = on_starter(move || {
            let before = Instant::now();
            let child = Command::new("sh").args(["-c", "read line; exit 7"]).stdin(Stdio::piped()).spawn().unwrap();
            let started = Started::new(number_of(&child), limit);
            mark(identity_of(&child), limit, before);
            let found = Limit::of_process(number_of(&child));
            (child, found, started)
        })
        .await
        .unwrap();
        assert!(found == Some(limit) || !limit.is_lowered(), "{found:?}");
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }

    /// Other processes of the system are not taken for descendants of the program.
    #[tokio::test]
    async fn nobody_but_the_programs_own_is_suspected() {
        let _subreaper = Subreaper::begin();
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().to_owned();
        let mut before = sleep();
        let root = Identity { number: number_of(&before), start: 0 };
        let mut another = sleep();
        let (mut program, mut parent) = on_starter(move || {
            let script = "sleep 60 & echo $! > number; wait";
            (sleep(), Command::new("sh").args(["-c", script]).current_dir(directory).spawn().unwrap())
        })
        .await
        .unwrap();
        let child = written(&place.path().join("number"));
        let may_be_unmarked = |number| may_be_unmarked(number, root, i32::MAX);
        let number = number_of(&program);
        let seen = [number_of(&another), number, number_of(&parent), child].map(may_be_unmarked);
        let limit = Limit::of(&Marker::new());
        // If the process were not registered, another test would end it as one that changed its mark.
        let _started = Started::new(number, limit);
        let marked = limit.put_on(number).then(|| may_be_unmarked(number));
        kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
        for process in [&mut before, &mut another, &mut program, &mut parent] {
            let _ = process.kill();
            process.wait().unwrap();
        }
        assert_eq!(seen, [false, true, true, true]);
        assert_ne!(marked, Some(true));
        assert!(!may_be_unmarked(number), "it has ended");
    }
}
