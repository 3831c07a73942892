//! Named steps at which a test can end the process.

use std::sync::OnceLock;

static OBSERVER: OnceLock<fn(&'static str)> = OnceLock::new();

/// Marks a step: something on disk is about to change, or has just changed.
pub(crate) fn reached(name: &'static str) {
    if let Some(observer) = OBSERVER.get() {
        observer(name);
    }
}

/// Calls this with the name of each step that any operation of this process reaches from now on. A later observer is ignored.
pub fn observe_steps(observer: fn(&'static str)) {
    let _ = OBSERVER.set(observer);
}
