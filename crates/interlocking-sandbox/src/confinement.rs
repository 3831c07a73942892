//! A prepared sandbox, and threads that are confined by it.

use std::{collections::BTreeSet, fmt};

use crate::{enforcement::Enforcement, enter_error::EnterError, protection::Protection};

/// A prepared sandbox. It can confine any number of threads and programs.
pub struct Confinement {
    enforcement: Enforcement,
    enforced: BTreeSet<Protection>,
}

impl Confinement {
    pub(crate) fn new(enforcement: Enforcement, enforced: BTreeSet<Protection>) -> Self {
        Self { enforcement, enforced }
    }

    /// The enforced protections: all requested ones, except those that this system cannot enforce and whose absence was
    /// [accepted](crate::Sandbox::accept_without).
    #[must_use]
    pub fn enforced(&self) -> &BTreeSet<Protection> {
        &self.enforced
    }

    /// Runs `work` on a new, confined thread, and waits for it.
    ///
    /// Programs that `work` starts are confined too, with all their descendants, until they end. So `confinement.enter(||
    /// command.spawn())` starts a confined command; its child is used like any other. To use an asynchronous runtime, enter it
    /// inside: `let runtime = Handle::current();` before, `runtime.enter()` within. Files that are already open can still be
    /// used.
    ///
    /// A panic of `work` resumes in the caller.
    ///
    /// # Errors
    ///
    /// See [`EnterError`]. On an error, `work` was not called.
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
