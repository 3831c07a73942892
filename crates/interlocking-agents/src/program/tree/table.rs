//! All processes, as they were at one look.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};

use super::marker::Marker;

/// Which process it is: a number is used again, but not with the same moment of its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Identity {
    pub(super) number: i32,
    /// In the kernel's ticks since it was booted.
    pub(super) start: u64,
}

/// What the kernel says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) identity: Identity,
    pub(super) state: u8,
    pub(super) parent: i32,
    pub(super) group: i32,
    threads: u32,
}

/// All processes of the system that can be seen.
#[derive(Debug, Default)]
pub(super) struct Table {
    processes: BTreeMap<i32, Process>,
    children: BTreeMap<i32, Vec<i32>>,
    /// Those whose parents have ended, with what tells whose they are.
    orphans: BTreeMap<i32, Traces>,
}

/// What a process has of the program that it belongs to, however far it went from it.
#[derive(Debug, Default)]
struct Traces {
    markers: Vec<Marker>,
    /// The numbers of the pipes that it has open.
    pipes: Vec<u64>,
}

impl Process {
    /// Looks at one.
    pub(super) fn look(number: i32) -> Option<Self> {
        let mut path = String::with_capacity(24);
        write!(path, "/proc/{number}/stat").ok()?;
        let mut buffer = [0; 1024];
        let length = File::open(path).and_then(|mut file| file.read(&mut buffer)).ok()?;
        Self::parse(number, &buffer[..length])
    }

    /// A line of `/proc/…/stat`; its fields are in proc_pid_stat(5).
    fn parse(number: i32, line: &[u8]) -> Option<Self> {
        // The name is in parentheses and can hold anything.
        let after_name = memchr::memrchr(b')', line)? + 1;
        let mut fields = std::str::from_utf8(&line[after_name..]).ok()?.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let threads = fields.nth(14)?.parse().ok()?;
        let start = fields.nth(1)?.parse().ok()?;
        Some(Self { identity: Identity { number, start }, state, parent, group, threads })
    }

    /// Whether it can still do anything. One whose first thread alone has ended shows as ended, too.
    pub(super) fn lives(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x') || self.threads > 1
    }

    /// Whether it can start another one at present: not while it is stopped, or waits within the kernel and is to be stopped
    /// when it comes out.
    pub(super) fn runs(&self) -> bool {
        self.lives() && !matches!(self.state, b'T' | b't' | b'D')
    }
}

impl Table {
    /// Looks at all of them. One that lives all the while is seen.
    ///
    /// # Errors
    ///
    /// There is no `/proc`, or it is that of another namespace, where the numbers mean other processes.
    pub(super) fn look() -> io::Result<Self> {
        if std::fs::read_link("/proc/self")?.to_str() != Some(std::process::id().to_string().as_str()) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "/proc shows another namespace of processes"));
        }
        let mut table = Self::default();
        for entry in std::fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            if let Some(process) = Process::look(number) {
                table.processes.insert(number, process);
                table.children.entry(process.parent).or_default().push(number);
            }
        }
        table.trace_orphans();
        Ok(table)
    }

    pub(super) fn get(&self, identity: Identity) -> Option<&Process> {
        self.processes.get(&identity.number).filter(|process| process.identity == identity)
    }

    /// The living ones that come from `root`, itself included.
    pub(super) fn descent(&self, root: Identity, found: &mut BTreeSet<Identity>) {
        let mut open = vec![root];
        while let Some(next) = open.pop() {
            let Some(process) = self.get(next) else { continue };
            if process.lives() && !found.insert(next) {
                continue;
            }
            let children = self.children.get(&next.number).into_iter().flatten();
            open.extend(children.map(|child| self.processes[child].identity));
        }
    }

    /// The orphans that have one of the program's marks about them, or a pipe of its.
    pub(super) fn orphans_of(&self, marker: Marker, pipes: &[u64]) -> impl Iterator<Item = Identity> {
        let is_its = move |traces: &Traces| {
            traces.markers.contains(&marker) || traces.pipes.iter().any(|pipe| pipes.contains(pipe))
        };
        self.orphans.iter().filter(move |(_, traces)| is_its(traces)).map(|(number, _)| self.processes[number].identity)
    }

    /// The members of the process group that `leader` led, whether or not it has ended.
    pub(super) fn group_of(&self, leader: Identity) -> impl Iterator<Item = Identity> {
        // Another process with this number can lead a group of its own.
        let is_another = self.processes.get(&leader.number).is_some_and(|process| process.identity != leader);
        let members = self.processes.values().filter(move |process| {
            !is_another && process.group == leader.number && process.identity.start >= leader.start
        });
        members.map(|process| process.identity)
    }

    /// Whoever loses its parent gets one of this process's own forebears for a parent, or this process: no other can be asked
    /// for it. So these alone need a closer look, which is what costs most.
    fn trace_orphans(&mut self) {
        let Ok(own) = i32::try_from(std::process::id()) else { return };
        let Some(started) = self.processes.get(&own).map(|process| process.identity.start) else { return };
        let mut forebears = BTreeSet::from([0]);
        let mut next = own;
        while forebears.insert(next) {
            next = self.processes.get(&next).map_or(0, |process| process.parent);
        }
        let adopted = forebears.iter().filter_map(|forebear| self.children.get(forebear)).flatten();
        for number in adopted.filter(|number| !forebears.contains(number)) {
            let process = &self.processes[number];
            if process.lives() && process.identity.start >= started {
                // A child of this process that has not yet become another program has all its pipes open.
                let pipes = if process.parent == own { Vec::new() } else { pipes(*number) };
                self.orphans.insert(*number, Traces { markers: markers(*number), pipes });
            }
        }
    }
}

fn markers(number: i32) -> Vec<Marker> {
    Marker::all_in(&std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default())
}

fn pipes(number: i32) -> Vec<u64> {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{number}/fd")) else { return Vec::new() };
    let opened = descriptors.flatten().filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
    opened.filter_map(|target| target.to_str()?.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_hold_anything() {
        let line = b"7 (a) R 1 (b) S 3 5 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 2 0 4711 10 11";
        let identity = Identity { number: 7, start: 4711 };
        assert_eq!(Process::parse(7, line), Some(Process { identity, state: b'S', parent: 3, group: 5, threads: 2 }));
        assert_eq!(Process::parse(7, b"7 (a) R"), None);
    }

    #[test]
    fn this_process_is_seen() {
        let own = Process::look(i32::try_from(std::process::id()).unwrap()).unwrap();
        let table = Table::look().unwrap();
        assert_eq!(table.get(own.identity).map(|process| process.parent), Some(own.parent));
        assert_eq!(table.get(Identity { start: own.identity.start + 1, ..own.identity }), None);
    }
}
