//! What is true of source code, whatever an agent says of it.
//!
//! [`CodeIntelligence`] answers three questions of a project's files: which symbols a file has, what a function calls, and what the
//! compiler knows of a name. Two providers answer them:
//!
//! - [`LanguageServer`]: a real language server, such as rust-analyzer or Pyright, over the Language Server Protocol, started once in a
//!   sandbox and asked as often as needed;
//! - [`RustSyntax`]: the text of a Rust file alone, where there is no server. What it cannot tell it says it cannot.
//!
//! [`start_or_syntax`] takes the server where it starts and the syntax where it does not, and keeps why. Whoever shows a result can
//! say who it came from: [`CodeIntelligence::provider`].
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
//! An agent may have written them. A server only reads them: it is confined to the project, what its language's tools need, and a temporary
//! directory, without the network; [`ServerProgram::rust_analyzer`] runs neither build scripts nor procedural macros,
//! and no toolchain that the project gives by its path.

mod intelligence;
mod error;

mod rust_syntax;
mod server;
mod fallback;
mod python_stub;

pub use error::{CodeError, Unavailable};
pub use fallback::start_or_syntax;
pub use intelligence::{Call, CodeIntelligence, OutgoingCalls, Position, Provider, Symbol, SymbolKind};
pub use python_stub::is_python_stub;
pub use rust_syntax::RustSyntax;
pub use server::{LanguageServer, ServerProgram};
