//! The kernel's numbers of the pipes that a program has from this process: whoever has one open belongs to it.

use std::os::fd::AsFd;

use tokio::process::Child;

/// Of its standard output and standard error.
pub(super) fn of(child: &Child) -> Vec<u64> {
    let outputs = [child.stdout.as_ref().map(AsFd::as_fd), child.stderr.as_ref().map(AsFd::as_fd)];
    outputs.into_iter().flatten().filter_map(|output| Some(rustix::fs::fstat(output).ok()?.st_ino)).collect()
}
