//! Why a thread could not enter a sandbox.

/// Why a thread could not be confined. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// No thread could be started.
    #[error("no thread could be started: {0}")]
    Thread(#[from] std::io::Error),
    /// The kernel did not apply the rules.
    #[error("the kernel did not confine the thread: {cause}")]
    Refused {
        /// The kernel's error, or which part was not enforced.
        cause: String,
    },
}
