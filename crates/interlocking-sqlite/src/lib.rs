//! The durable journal of [Interlocking](https://docs.rs/interlocking): one directory, one SQLite database.
//!
//! ```
//! use interlocking_runtime::journal::Journal;
//! use interlocking_sqlite::SqliteJournal;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # let directory = place.path().join("journal");
//! let journal = SqliteJournal::open(&directory)?;
//! // Run::new(graph).with_journal(Arc::new(journal)) …
//! for run in journal.runs().await? {
//!     println!("{} of {}: {} records", run.run, run.graph, run.records);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | open a journal, choose its durability | [`SqliteJournal::open`], [`SqliteJournal::options`], [`Durability`] |
//! | append, load, claim, letters | the trait [`Journal`](interlocking_runtime::Journal), which it implements |
//! | read a section of a large payload | [`SqliteJournal::parts`] |
//! | remove old runs | [`SqliteJournal::prune`], [`Retention`] |
//! | check its integrity | [`SqliteJournal::check`] |
//! | read it with another client | `docs/book/src/journal.md` in the repository |
//!
//! # Guarantees
//!
//! - **An acknowledged record survives** what [`Durability`] says. A record is stored with all its payloads, or not at all.
//! - **Each run has at most one executor.** A claim ends when its process ends, even after a crash, because the operating system
//!   releases the process's file lock. No clock or timeout is involved.
//! - **A payload is stored once**, under the SHA-256 of its bytes, usually as a delta against an earlier payload. Each read
//!   checks the bytes against that hash.
//! - **One thread writes**, and reads run on threads that may block: no worker of the async runtime waits for a disk.
//!
//! The journal must be on a local file system: SQLite's write-ahead log and the file locks need one.

mod failure;
mod schema;
pub mod private;
mod directory;
mod connection;
mod options;
mod retention;
mod payloads;
mod envelope;
mod prepared;
mod stats;
mod writer;
mod reader;
mod journal;

pub use journal::SqliteJournal;
pub use options::{Durability, Options};
pub use payloads::parts::{Holds, Part};
pub use retention::{Pruned, Retention};
pub use stats::Stats;
