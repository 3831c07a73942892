//! A mark that an unprivileged process can neither remove nor lose: a separate host name (UTS) namespace for each program.
//!
//! A host name namespace has no effect on the processes in it. All processes that a program starts inherit it, whatever their
//! environment, session and files. Only root may make one.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::linux::fs::MetadataExt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

/// A host name namespace. While this value exists, no other namespace gets its number.
#[derive(Debug)]
pub(in crate::program) struct Namespace {
    /// The inode number of the namespace.
    pub(super) number: u64,
    /// Keeps the namespace, and so its number, in use.
    _file: File,
}

/// Whether making a namespace failed before. Then it is not tried again.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

impl Namespace {
    /// Puts this thread, and all programs that it starts until the next call, into a new namespace.
    pub(in crate::program) fn enter() -> Option<Self> {
        static OWN: LazyLock<Option<File>> = LazyLock::new(|| File::open("/proc/self/ns/uts").ok());
        if IS_REFUSED.load(Ordering::Relaxed) {
            return None;
        }
        // Return to the process's own namespace first, as a new one copies the current host name: the program in the last
        // namespace may have changed its host name.
        let left = move_into_link_name_space(OWN.as_ref()?.as_fd(), Some(LinkNameSpaceType::HostNameAndNISDomainName));
        #[expect(deprecated, reason = "it is unsafe with the table of open files alone, which stays as it is")]
        let entered = left.and_then(|()| rustix::thread::unshare(UnshareFlags::NEWUTS));
        if let Err(error) = entered {
            tracing::debug!(%error, "programs are not put into namespaces");
            IS_REFUSED.store(true, Ordering::Relaxed);
            return None;
        }
        let file = File::open("/proc/thread-self/ns/uts").ok()?;
        Some(Self { number: file.metadata().ok()?.st_ino(), _file: file })
    }

    /// The number of a process's namespace.
    pub(super) fn of(number: i32) -> Option<u64> {
        let target = std::fs::read_link(format!("/proc/{number}/ns/uts")).ok()?;
        target.to_str()?.strip_prefix("uts:[")?.strip_suffix(']')?.parse().ok()
    }
}
