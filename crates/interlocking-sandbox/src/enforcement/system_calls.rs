//! What Landlock does not govern, refused by seccomp: sockets, other programs' limits and scheduling, and ways out without a file.
//!
//! Each call that Linux had when [`NEWEST`] came was judged: those in [`refusals`] are refused, the others are as they were. Newer
//! ones were not, so there is none of them: programs take the older way.

mod refusals;

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, sock_filter};

use crate::exceptions::Exceptions;
use refusals::Refusals;

/// `file_setattr`, of Linux 6.17.
const NEWEST: u32 = 469;

/// On x86-64, a second set of numbers for the same calls begins here, with pointers of 32 bits. No other machine has any there.
const X32: u32 = 0x4000_0000;

pub(crate) struct SystemCalls {
    /// The kernel asks all of them, the last one first, and does what is the strictest.
    filters: Vec<BpfProgram>,
}

impl SystemCalls {
    pub(crate) fn new(exceptions: Exceptions) -> Result<Self, String> {
        let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
        let mut by_answer: BTreeMap<i32, Refusals> = BTreeMap::new();
        for (answer, refusals) in refusals::all(exceptions)? {
            by_answer.entry(answer).or_default().extend(refusals);
        }
        let mut filters = vec![unknown_calls(NEWEST)];
        for (answer, refusals) in by_answer {
            // A program of another architecture, whose numbers mean other calls, is ended at its first call.
            let refuse = SeccompAction::Errno(answer.unsigned_abs());
            let filter = SeccompFilter::new(refusals, SeccompAction::Allow, refuse, architecture);
            let program = filter.and_then(TryInto::try_into).map_err(|error| error.to_string())?;
            filters.push(program);
        }
        Ok(Self { filters })
    }

    pub(crate) fn forbid_on_this_thread(&self) -> Result<(), String> {
        self.filters.iter().try_for_each(apply)
    }
}

fn apply(filter: &BpfProgram) -> Result<(), String> {
    seccompiler::apply_filter(filter).map_err(|error| error.to_string())
}

/// Calls with a number above the newest: there is none, for seccompiler compares numbers by their equality alone.
fn unknown_calls(newest: u32) -> BpfProgram {
    let statement = |code: u32, k: u32| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let above = |number: u32| sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16,
        jt: 0,
        jf: 1,
        k: number,
    };
    let answer = |answer: i32| statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | answer.unsigned_abs());
    vec![
        // The number is what the kernel shows a filter first.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        above(X32 - 1),
        answer(libc::EPERM),
        above(newest),
        answer(libc::ENOSYS),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    use rustix::{
        io::Errno,
        process::{PidfdFlags, getpid, pidfd_open},
    };

    use super::*;

    /// Number 434. On a thread that ends, for it stays so.
    fn opened_where_the_newest_is(newest: u32) -> Option<Errno> {
        let thread = std::thread::spawn(move || {
            rustix::thread::set_no_new_privs(true).unwrap();
            apply(&unknown_calls(newest)).unwrap();
            pidfd_open(getpid(), PidfdFlags::empty()).err()
        });
        thread.join().unwrap()
    }

    #[test]
    fn there_are_no_calls_that_are_newer_than_the_newest() {
        assert_eq!(opened_where_the_newest_is(433), Some(Errno::NOSYS));
        assert_eq!(opened_where_the_newest_is(434), None);
    }
}
