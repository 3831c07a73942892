//! What the system's own user may do and nobody else, given up.
//!
//! Landlock governs files, and these capabilities are rights to everything else: the clock, the machine's name, its log, files of
//! other users, namespaces. A thread without them gets none back by becoming another program, `sudo` among them, since it gets
//! no new privileges either.

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
    // The ambient ones go with those that are permitted.
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).map_err(failed)?;
    let left = capabilities(None).map_err(failed)?.permitted;
    if left.is_empty() { Ok(()) } else { Err(format!("capabilities were kept: {left:?}")) }
}

/// Why the user who starts a program may write there by such rights alone, if he may: in a directory of another user's.
pub(super) fn needed_to_write(path: &Path) -> Option<String> {
    let has_none = capabilities(None).is_ok_and(|sets| sets.effective.is_empty());
    // It may be read-only for him, too.
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
