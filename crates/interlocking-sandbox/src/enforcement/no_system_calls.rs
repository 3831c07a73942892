//! Stands in for `system_calls` on architectures on which system calls cannot be filtered.

use crate::exceptions::Exceptions;

/// Has no values.
pub(crate) struct SystemCalls(std::convert::Infallible);

impl SystemCalls {
    pub(crate) fn new(_exceptions: Exceptions) -> Result<Self, String> {
        Err(format!("there are no filters for {}", std::env::consts::ARCH))
    }

    pub(crate) fn forbid_on_this_thread(&self) -> Result<(), String> {
        match self.0 {}
    }
}
