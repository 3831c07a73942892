//! A look at those processes that lost their parents, and from there at all that came of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::process::{Identity, Process};
use super::{Marker, Marks, Namespace};

/// What was seen.
#[derive(Debug)]
pub(super) struct Look {
    kin: Kin,
    /// Those whose parents have ended, with what tells whose they are.
    orphans: Vec<(Process, Traces)>,
    /// Whether none of them ended meanwhile: what it had started would have escaped.
    is_complete: bool,
}

/// Who came of whom.
#[derive(Debug)]
enum Kin {
    /// The kernel tells.
    Told,
    /// The kernel does not, so every process was asked for its parent.
    Asked(BTreeMap<i32, Vec<i32>>),
}

/// What a process has of the program that it belongs to, however far it went from it.
#[derive(Debug, Default)]
struct Traces {
    markers: Vec<Marker>,
    /// The numbers of the pipes that it has open.
    pipes: Vec<u64>,
    namespace: Option<u64>,
}

/// The living that came of something, as far as they were found.
#[derive(Debug, Default)]
pub(super) struct Descent {
    pub(super) members: BTreeMap<Identity, Process>,
    /// Whether one ended before its children were seen.
    pub(super) is_torn: bool,
}

/// The programs that this process started itself, which are nobody's orphans.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A child of this process. While this lives, it is not taken for an orphan.
#[derive(Debug)]
pub(super) struct Started(i32);

impl Started {
    pub(super) fn new(number: i32) -> Self {
        STARTED.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
        Self(number)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        STARTED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

impl Look {
    /// Looks once. Who has lost its parent is a child of this process's own forebears or of the first process: the kernel gives
    /// it to no other. So these alone are looked at more closely; and those of this process, where it is one that such are given
    /// to.
    ///
    /// # Errors
    ///
    /// There is no `/proc`, or it is that of another namespace, where the numbers mean other processes.
    pub(super) fn new() -> io::Result<Self> {
        if std::fs::read_link("/proc/self")?.to_str() != Some(std::process::id().to_string().as_str()) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "/proc shows another namespace of processes"));
        }
        let own = i32::try_from(std::process::id()).map_err(io::Error::other)?;
        let own = Process::look(own).ok_or(io::ErrorKind::NotFound)?;
        let mut forebears = BTreeMap::from([(own.identity.number, own)]);
        let mut next = own.parent;
        while let Some(forebear) =
            Process::look(next).filter(|process| !forebears.contains_key(&process.identity.number))
        {
            next = forebear.parent;
            forebears.insert(forebear.identity.number, forebear);
        }
        if let Some(first) = Process::look(1) {
            forebears.insert(1, first);
        }
        let kin = if own.tells() { Kin::Told } else { Kin::asked()? };
        let adopts = own.identity.number == 1 || rustix::process::child_subreaper().is_ok_and(|set| set.is_some());
        let mut adopted = BTreeSet::new();
        for forebear in forebears.values().filter(|forebear| adopts || forebear.identity != own.identity) {
            // Twice, as the kernel can leave one out while another ends.
            adopted.extend(kin.children(forebear).unwrap_or_default());
            adopted.extend(kin.children(forebear).unwrap_or_default());
        }
        let started = STARTED.lock().unwrap_or_else(PoisonError::into_inner).clone();
        adopted.retain(|number| !forebears.contains_key(number) && !started.contains(number));
        let mut look = Self { kin, orphans: Vec::new(), is_complete: true };
        for number in adopted {
            let Some(process) = Process::look(number) else {
                look.is_complete = false;
                continue;
            };
            if process.lives() && process.identity.start >= own.identity.start {
                let traces = Traces::of(&process, own.identity.number);
                look.is_complete &= Process::look(number).is_some_and(|after| after.lives());
                look.orphans.push((process, traces));
            }
        }
        Ok(look)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The orphans that have one of a program's marks, or are in the process group that it led.
    pub(super) fn orphans_of(&self, root: Option<Identity>, marks: &Marks) -> impl Iterator<Item = Identity> {
        let namespace = marks.namespace.as_ref().map(|namespace| namespace.number);
        // Another process with its number can lead a group of its own.
        let led = root.filter(|root| Process::look(root.number).is_none_or(|process| process.identity == *root));
        let is_its = move |(process, traces): &&(Process, Traces)| {
            traces.markers.contains(&marks.marker)
                || traces.pipes.iter().any(|pipe| marks.pipes.contains(pipe))
                || (namespace.is_some() && traces.namespace == namespace)
                || led.is_some_and(|led| process.group == led.number && process.identity.start >= led.start)
        };
        self.orphans.iter().filter(is_its).map(|(process, _)| process.identity)
    }

    /// Adds the living that came of `first`, itself included.
    pub(super) fn descent(&self, first: Identity, found: &mut Descent) {
        let mut open = vec![first];
        while let Some(next) = open.pop() {
            // The state before the children: whoever was stopped then has no others.
            let Some(process) = Process::look(next.number).filter(|process| process.identity == next) else {
                found.is_torn = true;
                continue;
            };
            if !process.lives() || found.members.insert(next, process).is_some() {
                continue;
            }
            let Ok(children) = self.kin.children(&process) else {
                found.is_torn = true;
                continue;
            };
            for child in children {
                match Process::look(child) {
                    Some(child) if child.parent == next.number => open.push(child.identity),
                    _ => found.is_torn = true,
                }
            }
        }
    }
}

impl Kin {
    fn asked() -> io::Result<Self> {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for entry in std::fs::read_dir("/proc")? {
            let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if let Some(process) = Process::look(number) {
                children.entry(process.parent).or_default().push(number);
            }
        }
        Ok(Self::Asked(children))
    }

    fn children(&self, process: &Process) -> io::Result<Vec<i32>> {
        match self {
            Self::Told => process.children(),
            Self::Asked(children) => Ok(children.get(&process.identity.number).cloned().unwrap_or_default()),
        }
    }
}

impl Traces {
    fn of(process: &Process, own: i32) -> Self {
        let number = process.identity.number;
        // A child of this process that has not yet become another program has all of its pipes open.
        let pipes = if process.parent == own { Vec::new() } else { pipes(number) };
        Self { markers: markers(number), pipes, namespace: Namespace::of(number) }
    }
}

/// While a process becomes another program it shows no environment for a moment.
fn markers(number: i32) -> Vec<Marker> {
    for _ in 0..3 {
        match std::fs::read(format!("/proc/{number}/environ")) {
            Ok(environment) if environment.is_empty() => std::thread::sleep(Duration::from_micros(50)),
            Ok(environment) => return Marker::all_in(&environment),
            Err(_) => break,
        }
    }
    Vec::new()
}

fn pipes(number: i32) -> Vec<u64> {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{number}/fd")) else { return Vec::new() };
    let opened = descriptors.flatten().filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
    opened.filter_map(|target| target.to_str()?.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a kernel tells, and what is found where it does not.
    #[test]
    fn both_ways_of_looking_find_the_same() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 60 & sleep 60 & wait"]).spawn().unwrap();
        let number = i32::try_from(child.id()).unwrap();
        let root = Process::look(number).unwrap().identity;
        let find = |kin| {
            let mut found = Descent::default();
            Look { kin, orphans: Vec::new(), is_complete: true }.descent(root, &mut found);
            found.members.into_keys().collect::<BTreeSet<_>>()
        };
        while find(Kin::Told).len() < 3 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let (told, asked) = (find(Kin::Told), find(Kin::asked().unwrap()));
        for found in &told {
            let number = rustix::process::Pid::from_raw(found.number).unwrap();
            rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
        }
        child.wait().unwrap();
        assert_eq!(told, asked);
    }
}
