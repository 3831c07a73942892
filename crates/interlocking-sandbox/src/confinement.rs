//! The sandbox prepared: threads under it.

use std::{collections::BTreeSet, fmt};

use crate::{enforcement::Enforcement, enter_error::EnterError, protection::Protection};

/// A sandbox whose rules the kernel has: threads and programs can be confined by it any number of times.
pub struct Confinement {
    enforcement: Enforcement,
    enforced: BTreeSet<Protection>,
}

impl Confinement {
    pub(crate) fn new(enforcement: Enforcement, enforced: BTreeSet<Protection>) -> Self {
        Self { enforcement, enforced }
    }

    /// What is enforced: all that was asked for, or less where that was accepted.
    #[must_use]
    pub fn enforced(&self) -> &BTreeSet<Protection> {
        &self.enforced
    }

    /// Does `work` on a new thread that is confined, and waits for it.
    ///
    /// Programs that `work` starts are confined too, with all that they start, for as long as they live. So this
    /// confines a command: `confinement.enter(|| command.spawn())`; the child is then used as any other. An
    /// asynchronous runtime is entered inside: `let runtime = Handle::current();` before, `runtime.enter()` within.
    /// Files that are open already stay as usable as they are.
    ///
    /// A panic of `work` goes on in the caller.
    ///
    /// # Errors
    ///
    /// See [`EnterError`]; `work` was not called.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, EnterError> {
        std::thread::scope(|scope| {
            let confined = std::thread::Builder::new().name("sandbox".to_owned()).spawn_scoped(scope, || {
                self.enforcement.confine_this_thread()?;
                Ok(work())
            })?;
            match confined.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

impl fmt::Debug for Confinement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Confinement").field("enforced", &self.enforced).finish_non_exhaustive()
    }
}
