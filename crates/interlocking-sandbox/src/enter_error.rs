//! Why a program could not be started in a sandbox.

/// A thread could not be confined: nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// No thread could be started.
    #[error("no thread could be started: {0}")]
    Thread(#[from] std::io::Error),
    /// The kernel did not take the rules.
    #[error("the kernel did not confine the thread: {cause}")]
    Refused {
        /// What it said, or which part was not enforced.
        cause: String,
    },
}
