//! Worktrees and clones as a hostile agent leaves them: whatever is forged in them, each operation returns a result.
//!
//! A case is a seed. It takes a fresh copy of a place ([`arena`]), forges something in it ([`forgery`] lists the
//! kinds), and runs some of the operations of a runtime after an agent's turn ([`operations`]). Each operation may
//! succeed or fail with an error; none may panic, take longer than ten seconds or more than 256 MB, or touch what is
//! beside the place. Cases run in processes of their own ([`worker`]), which are killed when they hang. A seed that
//! fails is printed with the command that replays it:
//!
//! ```console
//! FORGERY=index_bytes FORGERY_SEED=17 cargo test -p interlocking-worktree --test forgeries -- --nocapture worker
//! ```
//!
//! A run by hand tries one in six of the 2,500 cases of a thorough run; `FORGERY_CASES=20000` tries that many of each
//! kind.

#![expect(clippy::unwrap_used, reason = "in tests and their helpers a panic is the report")]
#![expect(clippy::disallowed_methods, reason = "tests read what they have written")]
#![cfg(target_os = "linux")]

mod arena;
mod bytes;
mod configuration;
mod files;
mod forgery;
mod index;
mod index_file;
mod noise;
mod objects;
mod operations;
mod references;
mod special;
mod tree;
mod worker;

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
#[path = "../../../../tests/sample.rs"]
mod sample;
