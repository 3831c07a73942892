//! A scripted model server on loopback, against which the real agent programs are tested: no model, no key, no network.
//!
//! It speaks four dialects, told apart by the path: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini
//! `generateContent`, streamed (as server-sent events) or whole, as the request asks.
//!
//! Reading order:
//!
//! - [`Script`]: [`Rule`]s, of which the first that matches a [`Request`] makes the [`Reaction`]. A rule looks at the content
//!   of a request, not at how many requests came before, because the programs repeat requests as they please.
//! - [`Request`]: a request in a form common to all dialects: prompt, results of tools, history, schema, headers.
//! - [`Reaction`]: the server's answer, faults included.
//! - [`ModelServer`]: plays the script and records every request.
//! - [`programs`]: finds the real programs.
//!
//! ```
//! use interlocking_model_server::{ModelServer, Reaction, Rule, Script};
//!
//! let script = Script::new()
//!     .rule(Rule::asked("Write a greeting").reply(Reaction::tool("Write", serde_json::json!({ "file_path": "greeting" }))))
//!     .rule(Rule::told("greeting").reply(Reaction::text("It is written.")));
//! let server = ModelServer::start(script)?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

mod connection;
mod dialect;
mod message;
pub mod programs;
mod reaction;
mod request;
mod script;
mod server;
mod stream;

pub use dialect::Dialect;
pub use message::{Message, Part, Role};
pub use reaction::{Block, Reaction, Usage};
pub use request::Request;
pub use script::{Rule, Script};
pub use server::{ModelServer, Recorded};
