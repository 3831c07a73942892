//! Models over HTTP, against a scripted model server on loopback. A separate binary, because it needs the feature
//! `http`.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod answers;
mod common;
mod decisions;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod failures;
mod hostile;
mod keys;
mod limits;
mod ready;
mod sessions;
