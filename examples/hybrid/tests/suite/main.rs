//! Tests that need real processes and real files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod demonstration;
