//! Runs what keeps a thread busy beside the other tasks.

use crate::error::CodeError;
use interlocking_rust_source::SourceError;
use std::future::pending;
use std::panic::resume_unwind;
use tokio::task::spawn_blocking;

/// Reads syntax, which takes long if an agent has written a large file, where it keeps no other task waiting.
pub(crate) async fn aside<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, CodeError> {
    match spawn_blocking(read).await {
        Ok(read) => Ok(read?),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The tasks of a runtime that ends are dropped, this one too.
            Err(_) => pending().await,
        },
    }
}
