//! Documents as their users read them. Every file here is a module below (`every_file_is_here` checks it).
#![cfg(all(feature = "json", feature = "toml", feature = "yaml"))]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod blocks;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod hostile;
mod messages;
mod values;
mod written;
