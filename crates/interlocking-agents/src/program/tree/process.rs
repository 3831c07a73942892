//! One process, as `/proc` shows it.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};

/// Identifies a process. The kernel reuses process ids, but not with the same start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Identity {
    /// The process id.
    pub(super) number: i32,
    /// The start time, in clock ticks since the kernel was booted.
    pub(super) start: u64,
}

/// The status of a process, from `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) identity: Identity,
    pub(super) state: u8,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// The niceness, from -20 to 19.
    pub(super) nice: i32,
    threads: u32,
}

impl Process {
    /// Reads the status of a process. `None` if there is no process with this id.
    pub(super) fn look(number: i32) -> Option<Self> {
        let mut path = String::with_capacity(24);
        write!(path, "/proc/{number}/stat").ok()?;
        let mut buffer = [0; 1024];
        let length = File::open(path).and_then(|mut file| file.read(&mut buffer)).ok()?;
        Self::parse(number, &buffer[..length])
    }

    /// Parses `/proc/PID/stat`. See proc_pid_stat(5) for the fields.
    pub(super) fn parse(number: i32, line: &[u8]) -> Option<Self> {
        // The name is in parentheses and can contain any characters.
        let after_name = memchr::memrchr(b')', line)? + 1;
        let mut fields = std::str::from_utf8(&line[after_name..]).ok()?.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let nice = fields.nth(13)?.parse().ok()?;
        let threads = fields.next()?.parse().ok()?;
        let start = fields.nth(1)?.parse().ok()?;
        Some(Self { identity: Identity { number, start }, state, parent, group, nice, threads })
    }

    /// Whether the process still has a thread that can run. A process whose first thread has ended is shown as a zombie even
    /// while other threads run.
    pub(super) fn lives(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x') || self.threads > 1
    }

    /// Whether the process can currently start other processes: it is alive and not stopped.
    pub(super) fn runs(&self) -> bool {
        self.lives() && !matches!(self.state, b'T' | b't')
    }

    /// Whether the kernel lists the children of processes (`/proc/PID/task/TID/children`).
    pub(super) fn has_child_lists(&self) -> bool {
        children_of_thread(self.identity.number, self.identity.number, &mut Vec::new()).is_ok()
    }

    /// The process ids of the children.
    ///
    /// # Errors
    ///
    /// The process has ended, or the kernel does not list children (it was built without `CONFIG_PROC_CHILDREN`).
    pub(super) fn children(&self) -> io::Result<Vec<i32>> {
        let number = self.identity.number;
        let mut children = Vec::new();
        if self.threads <= 1 {
            children_of_thread(number, number, &mut children)?;
            return Ok(children);
        }
        for thread in std::fs::read_dir(format!("/proc/{number}/task"))? {
            let Some(thread) = thread?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            match children_of_thread(number, thread, &mut children) {
                // When a thread ends, its children become children of another thread. The caller scans again.
                Err(error) if error.kind() == io::ErrorKind::NotFound && thread != number => {}
                read => read?,
            }
        }
        Ok(children)
    }
}

fn children_of_thread(process: i32, thread: i32, children: &mut Vec<i32>) -> io::Result<()> {
    let mut file = File::open(format!("/proc/{process}/task/{thread}/children"))?;
    // The file holds numbers, each followed by a space. The end of the buffer can cut a number in two.
    let (mut buffer, mut number) = ([0; 512], 0);
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        for byte in &buffer[..length] {
            match byte {
                b'0'..=b'9' => number = number * 10 + i32::from(byte - b'0'),
                _ => children.push(std::mem::take(&mut number)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_hold_anything() {
        let line = b"7 (a) R 1 (b) S 3 5 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 2 0 4711 10 11";
        let identity = Identity { number: 7, start: 4711 };
        assert_eq!(
            Process::parse(7, line),
            Some(Process { identity, state: b'S', parent: 3, group: 5, nice: 0, threads: 2 })
        );
        assert_eq!(Process::parse(7, b"7 (a) R"), None);
    }

    #[test]
    fn a_child_is_among_the_children_whichever_thread_started_it() {
        let own = Process::look(i32::try_from(std::process::id()).unwrap()).unwrap();
        let starting = || std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (mut here, mut there) = (starting(), std::thread::spawn(starting).join().unwrap());
        let children = Process::look(own.identity.number).unwrap().children();
        let numbers = [&here, &there].map(|child| i32::try_from(child.id()).unwrap());
        for child in [&mut here, &mut there] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        match children {
            Ok(children) => assert!(numbers.iter().all(|number| children.contains(number)), "{children:?}"),
            // The kernel does not list children.
            Err(error) => assert!(!std::fs::exists("/proc/self/task/self/children").unwrap(), "{error}"),
        }
    }
}
