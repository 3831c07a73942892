//! A mark that a process can neither take off nor lose: a namespace of its own for each program.
//!
//! A namespace of host names changes nothing for whoever is in it, and everything that a process starts is in it, too, with
//! whatever environment, session and files. Only the system's user may make one.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::linux::fs::MetadataExt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

/// A namespace. Its number is nobody else's for as long as this lives.
#[derive(Debug)]
pub(in crate::program) struct Namespace {
    pub(super) number: u64,
    /// Keeps it, and so its number.
    _file: File,
}

/// Whether it failed before: then it always will.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

impl Namespace {
    /// Puts this thread into a new one, and whatever is started from it, until this is called again.
    pub(in crate::program) fn enter() -> Option<Self> {
        static OWN: LazyLock<Option<File>> = LazyLock::new(|| File::open("/proc/self/ns/uts").ok());
        if IS_REFUSED.load(Ordering::Relaxed) {
            return None;
        }
        // Made from that of this process: the program that this thread made the last one for may have named its host anew.
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

    /// That of a process.
    pub(super) fn of(number: i32) -> Option<u64> {
        let target = std::fs::read_link(format!("/proc/{number}/ns/uts")).ok()?;
        target.to_str()?.strip_prefix("uts:[")?.strip_suffix(']')?.parse().ok()
    }
}
