//! Refuses, by seccomp, what Landlock does not govern: sockets, changing other programs' limits and scheduling, and escapes that
//! need no file.
//!
//! Every system call up to [`NEWEST`] was reviewed: those in [`refusals`] are refused, all others are permitted. Newer calls were
//! not reviewed, so they fail as if the kernel did not have them (`ENOSYS`), and programs fall back to older calls.

mod refusals;

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, sock_filter};

use crate::exceptions::Exceptions;
use refusals::Refusals;

/// `file_setattr`, of Linux 6.17.
const NEWEST: u32 = 469;

/// On x86-64, a second set of numbers for the same calls, with 32-bit pointers (x32), begins here. Other architectures have no
/// calls there.
const X32: u32 = 0x4000_0000;

pub(crate) struct SystemCalls {
    /// The kernel runs all filters, the last one first, and applies the strictest result.
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
            // The filter kills a program of another architecture at its first call, as its numbers mean other calls.
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

/// A filter that refuses all calls with a number above `newest`. It is written by hand, as seccompiler can only compare call
/// numbers for equality.
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
        // The call number is the first field of the data that the kernel passes to a filter.
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

    /// Calls `pidfd_open`, number 434. On a separate thread, as a filter cannot be removed.
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
