//! A look at those processes that lost their parents, and from there at all that came of them.

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
use super::niceness::gives_way;
use super::process::{Identity, Process};

/// What was seen.
#[derive(Debug)]
pub(super) struct Look {
    kin: Kin,
    /// This process.
    own: i32,
    /// The limits of the programs that run.
    programs: BTreeSet<Limit>,
    /// Those whose parents have ended, with what tells whose they are.
    orphans: Vec<(Process, Traces)>,
    /// Those that came of programs and have ended.
    ended: BTreeSet<Identity>,
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
    namespace: Option<u64>,
    limit: Option<Limit>,
}

/// The living that came of something, as far as they were found.
#[derive(Debug, Default)]
pub(super) struct Descent {
    pub(super) members: BTreeMap<Identity, Process>,
    /// Those that have ended, and may have left others to somebody else.
    pub(super) ended: BTreeSet<Identity>,
    /// Whether one ended before its children were seen.
    pub(super) is_torn: bool,
}

/// The programs that this process started itself, which are nobody's orphans, each with the limit that marks it.
static STARTED: Mutex<BTreeMap<i32, Limit>> = Mutex::new(BTreeMap::new());

/// A child of this process. While this lives, it is not taken for an orphan.
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
        // A later program can have its number.
        if started.get(&self.0) == Some(&self.1) {
            started.remove(&self.0);
        }
    }
}

fn started() -> MutexGuard<'static, BTreeMap<i32, Limit>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The programs that this process started.
pub(super) fn programs() -> BTreeMap<i32, Limit> {
    started().clone()
}

/// Whether it is a program that this process started.
pub(super) fn is_started(number: i32) -> bool {
    started().contains_key(&number)
}

impl Look {
    /// Looks once. Who has lost its parent is a child of this process, while that [asks](super::Adopting) for such. Where it
    /// does not, it is one of this process's own forebears' or of the first process: the kernel gives it to no other. So these
    /// alone are looked at more closely.
    ///
    /// # Errors
    ///
    /// There is no `/proc`, or it is that of another namespace, where the numbers mean other processes.
    pub(super) fn new() -> io::Result<Self> {
        let own = own()?;
        let adopts = own.identity.number == 1 || rustix::process::child_subreaper().is_ok_and(|set| set.is_some());
        let kin = Kin::new(&own)?;
        let parents = if adopts { BTreeMap::from([(own.identity.number, own)]) } else { forebears(own) };
        let mut adopted = BTreeSet::new();
        for parent in parents.values() {
            // Twice, as the kernel can leave one out while another ends.
            adopted.extend(kin.children(parent).unwrap_or_default());
            adopted.extend(kin.children(parent).unwrap_or_default());
        }
        let (started_before, guard) = (programs(), guard::number());
        let is_known = |number: &i32| started_before.contains_key(number) || guard == Some(*number);
        adopted.retain(|number| !parents.contains_key(number) && !is_known(number));
        let mut look = Self {
            kin,
            own: own.identity.number,
            programs: BTreeSet::new(),
            orphans: Vec::new(),
            ended: BTreeSet::new(),
            is_complete: true,
        };
        for number in adopted {
            let Some(process) = Process::look(number) else {
                look.is_complete = false;
                continue;
            };
            if process.lives() && process.identity.start >= own.identity.start {
                let traces = Traces::of(number);
                look.is_complete &= Process::look(number).is_some_and(|after| after.lives());
                look.orphans.push((process, traces));
            } else if !process.lives() && Limit::of_process(number).is_some_and(Limit::is_lowered) {
                look.ended.insert(process.identity);
            }
        }
        // Once more: a program that was started meanwhile may have got its limit since.
        let started = programs();
        look.orphans.retain(|(process, _)| !started.contains_key(&process.identity.number));
        look.programs = started.into_values().collect();
        Ok(look)
    }

    /// A look at the descent of what still lives, and not at orphans.
    ///
    /// # Errors
    ///
    /// As of [`new`](Self::new).
    pub(super) fn at_descent() -> io::Result<Self> {
        let kin = Kin::new(&own()?)?;
        Ok(Self {
            kin,
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

    /// The orphans that have one of a program's marks, or are in the process group that it led, or are nobody's: whoever took off
    /// its marks ends with the first program that does.
    pub(super) fn orphans_of(&self, root: Option<Identity>, marks: &Marks) -> impl Iterator<Item = Identity> {
        let namespace = marks.namespace.as_ref().map(|namespace| namespace.number);
        let limit = Some(Limit::of(&marks.marker));
        // Another process with its number can lead a group of its own.
        let led = root.filter(|root| Process::look(root.number).is_none_or(|process| process.identity == *root));
        let is_its = move |(process, traces): &&(Process, Traces)| {
            traces.markers.contains(&marks.marker)
                || traces.limit == limit
                || (namespace.is_some() && traces.namespace == namespace)
                || led.is_some_and(|led| process.group == led.number && process.identity.start >= led.start)
                || self.is_stray(process, traces)
        };
        self.orphans.iter().filter(is_its).map(|(process, _)| process.identity)
    }

    /// The orphans that are no program's.
    pub(super) fn strays(&self) -> impl Iterator<Item = Identity> {
        let strays = self.orphans.iter().filter(|(process, traces)| self.is_stray(process, traces));
        strays.map(|(process, _)| process.identity)
    }

    /// A program that gets this limit and what it has started, of these those that have no lowered limit yet. All that came of other
    /// programs have theirs, and are passed over.
    pub(super) fn unmarked(&self, root: Identity, limit: Limit) -> io::Result<Descent> {
        let own = own()?;
        let mut descent = Descent::default();
        // Twice, as the kernel can leave one out while another ends.
        let children: BTreeSet<_> = self.kin.children(&own)?.into_iter().chain(self.kin.children(&own)?).collect();
        for number in children.into_iter().filter(|number| !is_started(*number)) {
            match Process::look(number) {
                Some(child)
                    if gives_way(&child, &own)
                        && child.identity.start >= root.start
                        && Limit::of_process(number).is_none_or(|its| its == limit || !its.is_lowered()) =>
                {
                    self.descent(child.identity, &mut descent);
                }
                Some(_) => {}
                None => descent.is_torn = true,
            }
        }
        self.descent(root, &mut descent);
        let is_unmarked = |number| Limit::of_process(number).is_none_or(|limit| !limit.is_lowered());
        descent.members.retain(|member, _| is_unmarked(member.number));
        Ok(descent)
    }

    /// Whether it came of a program of this process, and lowered the limit that said of which.
    fn is_stray(&self, process: &Process, traces: &Traces) -> bool {
        process.parent == self.own
            && traces.limit.is_some_and(|limit| limit.is_lowered() && !self.programs.contains(&limit))
    }

    /// The living that came of these, themselves included.
    pub(super) fn descent_of(&self, all: impl IntoIterator<Item = Identity>) -> Descent {
        let mut descent = Descent::default();
        all.into_iter().for_each(|first| self.descent(first, &mut descent));
        descent
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
            if !process.lives() {
                found.ended.insert(next);
                continue;
            }
            if found.members.insert(next, process).is_some() {
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

/// A process, those that it came of, and the first one.
fn forebears(process: Process) -> BTreeMap<i32, Process> {
    let mut forebears = BTreeMap::new();
    let mut next = process.parent;
    while let Some(forebear) = Process::look(next).filter(|process| !forebears.contains_key(&process.identity.number)) {
        next = forebear.parent;
        forebears.insert(forebear.identity.number, forebear);
    }
    forebears.extend(Process::look(1).map(|first| (1, first)));
    forebears
}

/// This process.
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

impl Kin {
    fn new(own: &Process) -> io::Result<Self> {
        static IS_TOLD: OnceLock<bool> = OnceLock::new();
        if *IS_TOLD.get_or_init(|| own.tells()) { Ok(Self::Told) } else { Self::asked() }
    }

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
    fn of(number: i32) -> Self {
        Self { markers: markers(number), namespace: Namespace::of(number), limit: Limit::of_process(number) }
    }
}

/// Those in a process's environment. While it becomes another program it shows none for a moment.
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
        // No kernel gives it to anybody.
        let number = i32::MAX;
        let first = Started::new(number, Limit(1));
        let second = Started::new(number, Limit(2));
        drop(first);
        assert!(is_started(number));
        drop(second);
        assert!(!is_started(number));
    }

    /// What a kernel tells, and what is found where it does not.
    #[test]
    fn both_ways_of_looking_find_the_same() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 60 & sleep 60 & wait"]).spawn().unwrap();
        let number = i32::try_from(child.id()).unwrap();
        let root = Process::look(number).unwrap().identity;
        let find = |kin| {
            let mut found = Descent::default();
            let look = Look {
                kin,
                own: 0,
                programs: BTreeSet::new(),
                orphans: Vec::new(),
                ended: BTreeSet::new(),
                is_complete: true,
            };
            look.descent(root, &mut found);
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
