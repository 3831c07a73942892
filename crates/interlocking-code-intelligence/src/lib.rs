//! Finds out facts about source code independently of what an agent reports.
//!
//! [`CodeIntelligence`] answers three questions about a project's files: which symbols a file has, what a function calls, and
//! what the compiler knows of a name. Two providers implement it:
//!
//! - [`LanguageServer`]: a real language server, such as rust-analyzer or Pyright, over the Language Server Protocol. It is
//!   started once, in a sandbox, and answers any number of questions.
//! - [`RustSyntax`]: reads only the text of Rust files, for systems without a server. It states what it cannot determine.
//!
//! [`start_or_syntax`] uses the server if it starts, and otherwise the syntax, and keeps the reason.
//! [`CodeIntelligence::provider`] tells which provider answers.
//!
//! ```no_run
//! use interlocking_code_intelligence::{CodeIntelligence, LanguageServer, ServerProgram};
//! use std::path::Path;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let server = LanguageServer::start(ServerProgram::rust_analyzer(), "/work/checkout").await?;
//! for symbol in server.document_symbols(Path::new("src/lib.rs")).await? {
//!     let calls = server.outgoing_calls(Path::new("src/lib.rs"), &symbol).await?;
//!     println!("{} calls {} functions", symbol.name, calls.calls.len());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What the files may do
//!
//! An agent may have written the project's files. The sandbox of a server allows reading the project, running the
//! language's tools but no program in the project, and writing to a temporary directory, without the network.
//! [`ServerProgram::rust_analyzer`] runs no build scripts, no procedural macros, and no toolchain, compiler or wrapper
//! that the project names. Cargo still reads the project's settings, and these can make the compiler load a library of
//! the project, by a variable in `[env]` or a compiler flag: it could do no more than the server, but it could falsify
//! answers. This crate reads a file outside of that sandbox only if it is a regular file, of limited size, and reached
//! through no link below the project's directory.

mod intelligence;
mod error;
mod project_file;
mod aside;

mod rust_syntax;
mod server;
mod fallback;
mod python_code;
mod python_stub;
mod python_body;

pub use error::{CodeError, Unavailable};
pub use fallback::start_or_syntax;
pub use intelligence::{Call, CodeIntelligence, OutgoingCalls, Position, Provider, Symbol, SymbolKind};
pub use python_body::is_other_python_body;
pub use python_stub::is_python_stub;
pub use rust_syntax::RustSyntax;
pub use server::{LanguageServer, ServerProgram};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
