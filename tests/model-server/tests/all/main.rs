//! The model server, requested directly and by the real programs.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod claude;
mod codex;
mod dialects;
#[path = "../../../every_file_is_here.rs"]
mod every_file_is_here;
mod faults;
mod lock;
mod real;
mod rules;
mod wire;
