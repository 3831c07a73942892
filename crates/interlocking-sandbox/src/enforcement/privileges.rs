//! What the system's own user may do and nobody else, given up.
//!
//! Landlock governs files, and these capabilities are rights to everything else: the clock, the machine's name, its log, files of
//! other users, namespaces. A thread without them gets none back by becoming another program, `sudo` among them, since it gets
//! no new privileges either.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

pub(super) fn give_up_on_this_thread() -> Result<(), String> {
    let failed = |error: rustix::io::Errno| format!("capabilities cannot be given up: {error}");
    set_no_new_privs(true).map_err(failed)?;
    let none = CapabilitySet::empty();
    // The ambient ones go with those that are permitted.
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).map_err(failed)?;
    let left = capabilities(None).map_err(failed)?.permitted;
    if left.is_empty() { Ok(()) } else { Err(format!("capabilities were kept: {left:?}")) }
}
