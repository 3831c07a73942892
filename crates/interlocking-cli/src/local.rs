//! Futures of a program's own functions.

use crate::error::CommandError;
use std::future::Future;
use std::pin::Pin;

/// What a program's own function does: on the thread that does what the command line says.
pub(crate) type Local<T> = Pin<Box<dyn Future<Output = Result<T, CommandError>>>>;
