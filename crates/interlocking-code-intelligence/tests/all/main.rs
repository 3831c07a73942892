//! Real language servers, on files as agents might write them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;

mod broken;
mod project;
mod python;
mod rust;
mod syntax;
