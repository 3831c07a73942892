//! Named steps at which a test can kill the process. Without the feature `steps`, which only this crate's tests enable,
//! they do nothing.

/// Marks a step: something on disk is about to change, or has just changed.
#[cfg(not(feature = "steps"))]
#[inline(always)]
pub(crate) fn reached(_: &'static str) {}

#[cfg(feature = "steps")]
pub(crate) use self::counted::reached;

#[cfg(feature = "steps")]
pub use self::counted::{kill_at, reached_steps};

#[cfg(feature = "steps")]
mod counted {
    use std::sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    };

    /// The number of the step at which the process is killed; zero for none.
    static FATAL: AtomicUsize = AtomicUsize::new(0);
    static REACHED: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

    pub(crate) fn reached(name: &'static str) {
        let mut steps = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
        steps.push(name);
        if steps.len() == FATAL.load(Ordering::Relaxed) {
            // Like `kill -9`: nothing is dropped or flushed.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }

    /// Resets the count, and kills this process at the step with this number, counted from one.
    pub fn kill_at(step: usize) {
        REACHED.lock().unwrap_or_else(PoisonError::into_inner).clear();
        FATAL.store(step, Ordering::Relaxed);
    }

    /// The names of the steps since [`kill_at`].
    pub fn reached_steps() -> Vec<&'static str> {
        REACHED.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
