//! Scans the processes that lost their parents, and their descendants.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::guard;
use super::limit::Limit;
use super::marker::Marker;
use super::marks::Marks;
use super::namespace::Namespace;
use super::niceness::is_nicer;
use super::process::{Identity, Process};

/// A snapshot of the orphans that may belong to programs, and access to the descendants of processes.
#[derive(Debug)]
pub(super) struct Scan {
    child_lists: ChildLists,
    /// The id of this process.
    own: i32,
    /// The limits of the running programs.
    programs: BTreeSet<Limit>,
    /// Processes that may have lost their parents, with the marks that tell to which program they belong.
    orphans: Vec<(Process, ProcessMarks)>,
    /// Orphans of programs. These orphans have ended, but were not reaped yet.
    ended: BTreeSet<Identity>,
    /// Whether no orphan ended during the scan. The children of an orphan that did would have been missed.
    is_complete: bool,
}

/// How the children of a process are found.
#[derive(Debug)]
enum ChildLists {
    /// The kernel lists them.
    Kernel,
    /// The kernel does not list them. They were computed from the parents of all processes.
    Computed(BTreeMap<i32, Vec<i32>>),
}

/// The marks of the program that a process belongs to.
#[derive(Debug, Default)]
struct ProcessMarks {
    markers: Vec<Marker>,
    namespace: Option<u64>,
    limit: Option<Limit>,
}

/// Processes and their descendants, as far as they were found.
#[derive(Debug, Default)]
pub(super) struct Descendants {
    /// The living processes.
    pub(super) members: BTreeMap<Identity, Process>,
    /// Processes that have ended. Their children may have become orphans.
    pub(super) ended: BTreeSet<Identity>,
    /// Whether a process ended before its children were read.
    pub(super) is_incomplete: bool,
}

/// The programs that this process started itself, each with the limit that marks it. They are not orphans.
static STARTED: Mutex<BTreeMap<i32, Limit>> = Mutex::new(BTreeMap::new());

/// Registers a child of this process as a started program. While this value exists, the child is not taken for an orphan.
#[derive(Debug)]
pub(super) struct Started(i32, Limit);

impl Started {
    pub(super) fn new(number: i32, limit: Limit) -> Self {
        started().insert(number, limit);
        Self(number, limit)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let mut started = started();
        // A later program can have the same process id.
        if started.get(&self.0) == Some(&self.1) {
            started.remove(&self.0);
        }
    }
}

fn started() -> MutexGuard<'static, BTreeMap<i32, Limit>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The programs that this process started, with their limits.
pub(super) fn programs() -> BTreeMap<i32, Limit> {
    started().clone()
}

/// Whether this process id is that of a program that this process started.
pub(super) fn is_started(number: i32) -> bool {
    started().contains_key(&number)
}

impl Scan {
    /// Scans the orphans. While this process is a [subreaper](super::Subreaper), orphans become its children. Otherwise the
    /// kernel makes them children of an ancestor of this process or of the first process. So only the children of these are
    /// examined.
    ///
    /// # Errors
    ///
    /// There is no `/proc`, or it belongs to another PID namespace, where ids mean other processes.
    pub(super) fn new() -> io::Result<Self> {
        let own = own()?;
        let is_subreaper =
            own.identity.number == 1 || rustix::process::child_subreaper().is_ok_and(|set| set.is_some());
        let child_lists = ChildLists::new(&own)?;
        let parents = if is_subreaper { BTreeMap::from([(own.identity.number, own)]) } else { ancestors(own) };
        let mut candidates = BTreeSet::new();
        for parent in parents.values() {
            // Read twice, as the kernel can omit a child while another child ends.
            candidates.extend(child_lists.children(parent).unwrap_or_default());
            candidates.extend(child_lists.children(parent).unwrap_or_default());
        }
        let (started_before, guard) = (programs(), guard::number());
        let is_known = |number: &i32| started_before.contains_key(number) || guard == Some(*number);
        candidates.retain(|number| !parents.contains_key(number) && !is_known(number));
        let mut scan = Self {
            child_lists,
            own: own.identity.number,
            programs: BTreeSet::new(),
            orphans: Vec::new(),
            ended: BTreeSet::new(),
            is_complete: true,
        };
        for number in candidates {
            let Some(process) = Process::look(number) else {
                scan.is_complete = false;
                continue;
            };
            if process.lives() && process.identity.start >= own.identity.start {
                let process_marks = ProcessMarks::of(number);
                scan.is_complete &= Process::look(number).is_some_and(|after| after.lives());
                scan.orphans.push((process, process_marks));
            } else if !process.lives() && Limit::of_process(number).is_some_and(Limit::is_lowered) {
                scan.ended.insert(process.identity);
            }
        }
        // Check again: a program that was started during the scan may have got its limit.
        let started = programs();
        scan.orphans.retain(|(process, _)| !started.contains_key(&process.identity.number));
        scan.programs = started.into_values().collect();
        Ok(scan)
    }

    /// A scan that finds the descendants of living processes only, and no orphans.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub(super) fn without_orphans() -> io::Result<Self> {
        let child_lists = ChildLists::new(&own()?)?;
        Ok(Self {
            child_lists,
            own: 0,
            programs: BTreeSet::new(),
            orphans: Vec::new(),
            ended: BTreeSet::new(),
            is_complete: false,
        })
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn ended(&self) -> &BTreeSet<Identity> {
        &self.ended
    }

    /// The orphans that carry one of the program's marks, are in its process group, or are [unclaimed](Self::unclaimed): an
    /// orphan that removed its marks is ended with the first program that ends.
    pub(super) fn orphans_of(&self, root: Option<Identity>, marks: &Marks) -> impl Iterator<Item = Identity> {
        let namespace = marks.namespace.as_ref().map(|namespace| namespace.number);
        let limit = Some(Limit::of(&marks.marker));
        // If another process has the program's id, it may lead a group with that id.
        let led = root.filter(|root| Process::look(root.number).is_none_or(|process| process.identity == *root));
        let is_its = move |(process, process_marks): &&(Process, ProcessMarks)| {
            process_marks.markers.contains(&marks.marker)
                || process_marks.limit == limit
                || (namespace.is_some() && process_marks.namespace == namespace)
                || led.is_some_and(|led| process.group == led.number && process.identity.start >= led.start)
                || self.is_unclaimed(process, process_marks)
        };
        self.orphans.iter().filter(is_its).map(|(process, _)| process.identity)
    }

    /// The orphans of programs of this process whose limit names none of its running programs.
    pub(super) fn unclaimed(&self) -> impl Iterator<Item = Identity> {
        let unclaimed =
            self.orphans.iter().filter(|(process, process_marks)| self.is_unclaimed(process, process_marks));
        unclaimed.map(|(process, _)| process.identity)
    }

    /// The processes without a lowered limit among `root`, a program that gets `limit`, and its descendants. Descendants of other
    /// programs have lowered limits and are skipped.
    pub(super) fn unmarked(&self, root: Identity, limit: Limit) -> io::Result<Descendants> {
        let own = own()?;
        let mut descendants = Descendants::default();
        // Read twice, as the kernel can omit a child while another child ends.
        let children: BTreeSet<_> =
            self.child_lists.children(&own)?.into_iter().chain(self.child_lists.children(&own)?).collect();
        for number in children.into_iter().filter(|number| !is_started(*number)) {
            match Process::look(number) {
                Some(child)
                    if is_nicer(&child, &own)
                        && child.identity.start >= root.start
                        && Limit::of_process(number).is_none_or(|its| its == limit || !its.is_lowered()) =>
                {
                    self.add_descendants(child.identity, &mut descendants);
                }
                Some(_) => {}
                None => descendants.is_incomplete = true,
            }
        }
        self.add_descendants(root, &mut descendants);
        let is_unmarked = |number| Limit::of_process(number).is_none_or(|limit| !limit.is_lowered());
        descendants.members.retain(|member, _| is_unmarked(member.number));
        Ok(descendants)
    }

    /// Whether the orphan descends from a program of this process, but its limit does not tell from which running program: it has
    /// lowered its limit further, or its program has ended.
    fn is_unclaimed(&self, process: &Process, process_marks: &ProcessMarks) -> bool {
        process.parent == self.own
            && process_marks.limit.is_some_and(|limit| limit.is_lowered() && !self.programs.contains(&limit))
    }

    /// The living processes among these processes and their descendants.
    pub(super) fn descendants_of(&self, all: impl IntoIterator<Item = Identity>) -> Descendants {
        let mut descendants = Descendants::default();
        all.into_iter().for_each(|first| self.add_descendants(first, &mut descendants));
        descendants
    }

    /// Adds `first` and its descendants, as far as they are alive.
    pub(super) fn add_descendants(&self, first: Identity, found: &mut Descendants) {
        let mut open = vec![first];
        while let Some(next) = open.pop() {
            // Read the state before the children: a process that is stopped then has no children other than those read.
            let Some(process) = Process::look(next.number).filter(|process| process.identity == next) else {
                found.is_incomplete = true;
                continue;
            };
            if !process.lives() {
                found.ended.insert(next);
                continue;
            }
            if found.members.insert(next, process).is_some() {
                continue;
            }
            let Ok(children) = self.child_lists.children(&process) else {
                found.is_incomplete = true;
                continue;
            };
            for child in children {
                match Process::look(child) {
                    Some(child) if child.parent == next.number => open.push(child.identity),
                    _ => found.is_incomplete = true,
                }
            }
        }
    }
}

/// All ancestors of a process, and the first process of the system.
fn ancestors(process: Process) -> BTreeMap<i32, Process> {
    let mut ancestors = BTreeMap::new();
    let mut next = process.parent;
    while let Some(ancestor) = Process::look(next).filter(|process| !ancestors.contains_key(&process.identity.number)) {
        next = ancestor.parent;
        ancestors.insert(ancestor.identity.number, ancestor);
    }
    ancestors.extend(Process::look(1).map(|first| (1, first)));
    ancestors
}

/// The status of this process.
///
/// # Errors
///
/// There is no `/proc`, or it belongs to another PID namespace.
pub(super) fn own() -> io::Result<Process> {
    static IS_OURS: AtomicBool = AtomicBool::new(false);
    if !IS_OURS.load(Ordering::Relaxed) {
        if std::fs::read_link("/proc/self")?.to_str() != Some(std::process::id().to_string().as_str()) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "/proc shows another namespace of processes"));
        }
        IS_OURS.store(true, Ordering::Relaxed);
    }
    let number = i32::try_from(std::process::id()).map_err(io::Error::other)?;
    Ok(Process::look(number).ok_or(io::ErrorKind::NotFound)?)
}

/// The children of this process.
pub(super) fn own_children() -> io::Result<Vec<i32>> {
    let own = own()?;
    ChildLists::new(&own)?.children(&own)
}

impl ChildLists {
    fn new(own: &Process) -> io::Result<Self> {
        static KERNEL_LISTS: OnceLock<bool> = OnceLock::new();
        if *KERNEL_LISTS.get_or_init(|| own.has_child_lists()) { Ok(Self::Kernel) } else { Self::computed() }
    }

    fn computed() -> io::Result<Self> {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for entry in std::fs::read_dir("/proc")? {
            let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if let Some(process) = Process::look(number) {
                children.entry(process.parent).or_default().push(number);
            }
        }
        Ok(Self::Computed(children))
    }

    fn children(&self, process: &Process) -> io::Result<Vec<i32>> {
        match self {
            Self::Kernel => process.children(),
            Self::Computed(children) => Ok(children.get(&process.identity.number).cloned().unwrap_or_default()),
        }
    }
}

impl ProcessMarks {
    fn of(number: i32) -> Self {
        Self { markers: markers(number), namespace: Namespace::of(number), limit: Limit::of_process(number) }
    }
}

/// The markers in a process's environment. While the process calls `exec`, its environment is empty for a moment, so it is read
/// again.
pub(super) fn markers(number: i32) -> Vec<Marker> {
    for _ in 0..3 {
        match std::fs::read(format!("/proc/{number}/environ")) {
            Ok(environment) if environment.is_empty() => std::thread::sleep(Duration::from_micros(50)),
            Ok(environment) => return Marker::all_in(&environment),
            Err(_) => break,
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_used_again_is_the_later_programs() {
        // The kernel assigns this id to no process.
        let number = i32::MAX;
        let first = Started::new(number, Limit(1));
        let second = Started::new(number, Limit(2));
        drop(first);
        assert!(is_started(number));
        drop(second);
        assert!(!is_started(number));
    }

    /// Compares the children that the kernel lists with the computed ones.
    #[test]
    fn both_ways_of_looking_find_the_same() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 60 & sleep 60 & wait"]).spawn().unwrap();
        let number = i32::try_from(child.id()).unwrap();
        let root = Process::look(number).unwrap().identity;
        let find = |child_lists| {
            let mut found = Descendants::default();
            let scan = Scan {
                child_lists,
                own: 0,
                programs: BTreeSet::new(),
                orphans: Vec::new(),
                ended: BTreeSet::new(),
                is_complete: true,
            };
            scan.add_descendants(root, &mut found);
            found.members.into_keys().collect::<BTreeSet<_>>()
        };
        while find(ChildLists::Kernel).len() < 3 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let (listed, computed) = (find(ChildLists::Kernel), find(ChildLists::computed().unwrap()));
        for found in &listed {
            let number = rustix::process::Pid::from_raw(found.number).unwrap();
            rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
        }
        child.wait().unwrap();
        assert_eq!(listed, computed);
    }
}
