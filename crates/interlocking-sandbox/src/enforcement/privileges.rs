//! Drops all capabilities, which are the special rights of root.
//!
//! Landlock governs files. Capabilities are rights to everything else: setting the clock and the host name, reading the kernel
//! log, accessing files of other users, making namespaces. A thread that dropped its capabilities regains none when it executes
//! another program, not even `sudo`, as it also sets `no_new_privs`.

use std::{os::unix::fs::MetadataExt as _, path::Path};

use rustix::{
    fs::{Access, access},
    io::Errno,
    thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs},
};

pub(super) fn give_up_on_this_thread() -> Result<(), String> {
    let failed = |error: Errno| format!("capabilities cannot be given up: {error}");
    set_no_new_privs(true).map_err(failed)?;
    let none = CapabilitySet::empty();
    // Removing permitted capabilities also removes ambient ones.
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).map_err(failed)?;
    let left = capabilities(None).map_err(failed)?.permitted;
    if left.is_empty() { Ok(()) } else { Err(format!("capabilities were kept: {left:?}")) }
}

/// If this process can write to the path only by its capabilities, as root can in another user's directory, returns a message
/// that explains it. A confined program could not write there.
pub(super) fn needed_to_write(path: &Path) -> Option<String> {
    let has_none = capabilities(None).is_ok_and(|sets| sets.effective.is_empty());
    // Without capabilities, or if the path is not writable at all, capabilities make no difference.
    if has_none || access(path, Access::WRITE_OK).is_err() {
        return None;
    }
    let on_a_thread = || give_up_on_this_thread().is_ok() && access(path, Access::WRITE_OK) == Err(Errno::ACCESS);
    let is_needed = std::thread::scope(|scope| scope.spawn(on_a_thread).join()).unwrap_or(false);
    let owner = std::fs::metadata(path).ok().filter(|_| is_needed)?.uid();
    Some(format!(
        "user {owner} owns it, and whoever is confined has no rights to the files of others: give it to the user who runs \
         the program, or run as its owner"
    ))
}
