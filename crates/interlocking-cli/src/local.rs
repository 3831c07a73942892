//! Futures of a program's own functions.

use crate::error::CommandError;
use std::future::Future;
use std::pin::Pin;

/// The future of a program's own function. It is not `Send`: it is awaited on the thread that executes the command line.
pub(crate) type Local<T> = Pin<Box<dyn Future<Output = Result<T, CommandError>>>>;
