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
//! | open it, choose what it survives | [`SqliteJournal::open`], [`SqliteJournal::options`], [`Durability`] |
//! | append, load, claim, letters | its [`Journal`](interlocking_runtime::Journal) |
//! | read a section of a large payload | [`SqliteJournal::parts`] |
//! | remove old runs | [`SqliteJournal::prune`], [`Retention`] |
//! | find out whether it is whole | [`SqliteJournal::check`] |
//! | read it with another client | `docs/book/src/journal.md` in the repository |
//!
//! # What holds
//!
//! - **An acknowledged record survives**, as long as [`Durability`] says. A record is there with its payloads, or not at all.
//! - **One executor a run.** A claim ends with the process that has it, however that ends: the system frees a lock. No clock
//!   is asked.
//! - **A payload is stored once**, under the SHA-256 of its bytes, and mostly as what it changed of an earlier one. What is
//!   read is held against its name.
//! - **One thread writes**, and threads that may block read: no worker of the async runtime waits for a disk.
//!
//! It belongs on a local file system: SQLite's log and the locks need one.

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
