//! Putting its limit on a program that was just started, and on whomever it has started by then.
//!
//! The program has the limit, and is stopped, some microseconds after it began; hardly any has started another one by then. That
//! nobody has is known for sure from the [numbers] that the kernel gave out meanwhile. Otherwise the program's
//! processes are looked for.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::limit::Limit;
use super::look::{Look, own};
use super::niceness::gives_way;
use super::numbers;
use super::process::{Identity, Process};
use super::stop::signal;

/// How long somebody may take to stand still. On a busy machine it has to wait until it runs once more to do so.
const PATIENCE: Duration = Duration::from_secs(10);

/// Puts the limit on a child that was not waited for yet and that was started after `before`, and on whomever it has started. It is
/// stopped for that moment. Nobody else is started by [this thread](super::super::starter) meanwhile.
pub(super) fn mark(root: Identity, limit: Limit, before: Instant) {
    let Some(number) = Pid::from_raw(root.number) else { return };
    // Whomever it starts from now on has the limit; it may be starting one, which has not. When it stands still, that one is there,
    // or is started anew when the program goes on.
    limit.put_on(root.number);
    // It fails when the program has ended.
    let _ = kill_process(number, Signal::STOP);
    let states = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let stands_still = until(|| !matches!(waitid(WaitId::Pid(number), states), Ok(None)));
    if !(stands_still && is_alone(root, before)) {
        mark_all(root, limit);
    }
    let _ = kill_process(number, Signal::CONT);
}

/// Waits until it is so; not for ever, as somebody else may let a process go on.
fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    for look in 0_u32.. {
        if is_so() {
            return true;
        }
        if begun.elapsed() > PATIENCE {
            break;
        }
        // Mostly it runs on another processor, which hears of it in some microseconds.
        if look < 50 { std::thread::yield_now() } else { std::thread::sleep(Duration::from_micros(50)) }
    }
    tracing::warn!("a program that was just started does not stand still, so not all of it may be marked");
    false
}

/// Whether for sure nobody lives who came of the program and has no limit, when the program stands still and has it.
///
/// Whoever came of it has a number that was given out since. Of those each is looked at, until there are no more: one that is gone
/// has started nobody else, or that one has such a number too.
fn is_alone(root: Identity, before: Instant) -> bool {
    let mut seen = root.number;
    loop {
        match numbers::last() {
            Some(last) if last == seen => return numbers::is_none_repeated(before),
            // So many are looked for faster among this process's children. Lower ones are given out when there are no higher ones.
            Some(last) if last > seen && last - root.number < 64 => {
                if (seen + 1..=last).any(|number| is_suspect(number, root, last)) {
                    return false;
                }
                seen = last;
            }
            _ => return false,
        }
    }
}

/// Whether one with a number between the program's and `last` lives, has no limit, and may have come of the program: its parent did,
/// or it has lost it and [gives way](super::niceness::give_way).
fn is_suspect(number: i32, root: Identity, last: i32) -> bool {
    let Some(process) = Process::look(number).filter(Process::lives) else { return false };
    if Limit::of_process(number).is_some_and(Limit::is_lowered) {
        return false;
    }
    match own() {
        Ok(own) if process.parent == own.identity.number => gives_way(&process, &own),
        Ok(_) => (root.number..=last).contains(&process.parent),
        Err(_) => true,
    }
}

/// Looks for all who came of the program, puts the limit on whoever has none, and stops it until it stands still: only then are all
/// those there whom it began to start before it had the limit. Ends with a look that began after all stood still, and found nobody new.
/// Each goes on as soon as it stood still, as others may wait for it within the kernel.
fn mark_all(root: Identity, limit: Limit) {
    let (mut found, mut ended, mut moving) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let is_done = until(|| {
        moving.retain(|process: &Identity| {
            let now = Process::look(process.number).filter(|now| now.identity == *process);
            let runs = now.is_some_and(|now| now.runs());
            if !runs {
                signal(*process, Signal::CONT);
            }
            runs
        });
        let stood_still = moving.is_empty();
        let Ok(mut unmarked) = Look::at_descent().and_then(|look| look.unmarked(root, limit)) else { return false };
        for process in unmarked.members.into_keys().filter(|process| found.insert(*process)) {
            limit.put_on(process.number);
            signal(process, Signal::STOP);
            moving.insert(process);
        }
        // Who has ended since the last look may have left somebody who was not where this one looked.
        let is_complete = !unmarked.is_torn && unmarked.ended.is_subset(&ended);
        ended.append(&mut unmarked.ended);
        stood_still && moving.is_empty() && is_complete
    });
    if !is_done {
        moving.iter().for_each(|process| signal(*process, Signal::CONT));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::super::look::Started;
    use super::super::{Adopting, Marker, Marks, Tree};
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

    /// Waits for what a process writes there.
    fn written(file: &Path) -> i32 {
        loop {
            match std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()) {
                Some(number) => return number,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// It forks twice and ends at once, before anybody gets to mark it, and what it leaves has nothing of it.
    #[tokio::test]
    async fn whoever_was_started_before_the_mark_ends_with_the_program() {
        let (place, marker) = (tempfile::tempdir().unwrap(), Marker::new());
        let (directory, file, adopting) = (place.path().to_owned(), place.path().join("number"), Adopting::begin());
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
            let tree = Tree::of(Some(child.id()), before, Marks { marker, namespace: None }, adopting);
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
        // What other tests' programs have left and is nobody's ends with it.
        assert!(ended >= 1);
        assert_eq!((found, lives), (Some(limit), false));
    }

    /// Starts a program whose daemons write their numbers, and gives it the limit when there are some. Gives what the limit was put on
    /// in, and who lives of them without it.
    async fn mark_late(directory: std::path::PathBuf, daemon: &str) -> Option<(Child, Tree, Duration, Vec<i32>)> {
        let (marker, adopting) = (Marker::new(), Adopting::begin());
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
            let tree = Tree::of(Some(child.id()), before, Marks { marker, namespace: None }, adopting);
            (child, tree, begun.elapsed(), numbers())
        })
        .await
        .unwrap();
        // Whoever has the limit by now passes it on.
        let lives = |number: &i32| Process::look(*number).is_some_and(|process| process.lives());
        let is_unmarked = |number: &i32| Limit::of_process(*number) != Some(limit) && lives(number);
        let unmarked = numbers.lines().filter_map(|line| line.parse().ok()).filter(is_unmarked).collect();
        Some((child, tree, took, unmarked))
    }

    /// As fast as they can, beside those of another program.
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

    /// A shell waits within the kernel until what it starts is another program, and does not stop before.
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

    /// Whoever else there is on the system is none of the program's, however many those are.
    #[tokio::test]
    async fn nobody_but_the_programs_own_is_suspected() {
        let _adopting = Adopting::begin();
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
        let is_suspect = |number| is_suspect(number, root, i32::MAX);
        let number = number_of(&program);
        let seen = [number_of(&another), number, number_of(&parent), child].map(is_suspect);
        let limit = Limit::of(&Marker::new());
        // Otherwise another test ends it, as one that took off its mark.
        let _started = Started::new(number, limit);
        let marked = limit.put_on(number).then(|| is_suspect(number));
        kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
        for process in [&mut before, &mut another, &mut program, &mut parent] {
            let _ = process.kill();
            process.wait().unwrap();
        }
        assert_eq!(seen, [false, true, true, true]);
        assert_ne!(marked, Some(true));
        assert!(!is_suspect(number), "it has ended");
    }
}
