//! Reads TOML, JSON and YAML files that people and agents write, and reports every mistake with its place.
//!
//! A document is parsed to a tree whose keys and values have a line and a column, and is then read field by field. A wrong
//! field hides no other: all problems are reported at once, each with file, line, column, the keys that lead to it, what was
//! expected, what was found and what to do.
//!
#![cfg_attr(feature = "toml", doc = "```")]
#![cfg_attr(not(feature = "toml"), doc = "```ignore")]
//! use interlocking_document::{Document, Field, Problems, Source};
//!
//! struct Deploy { host: String, port: u16 }
//!
//! fn deploy(root: Field<'_>, problems: &mut Problems) -> Option<Deploy> {
//!     let mut fields = root.fields(problems)?;
//!     let host = fields.required("host", problems);
//!     let port = fields.optional("port", 443, problems);
//!     fields.finish(problems);
//!     Some(Deploy { host: host?, port: port? })
//! }
//!
//! let text = "prot = 80\nport = 'all'";
//! let document = Document::toml(Source::new("deploy.toml", text)).unwrap();
//! let problems = document.read(deploy).err().unwrap();
//! assert_eq!(problems.to_string(), "\
//! deploy.toml:1:1: the field `host` is missing: write it
//! deploy.toml:1:1: `prot`: there is no such field (did you mean `port`?); the fields are `host` and `port`
//! deploy.toml:2:8: `port`: expected a whole number from 0 to 65535, found \"all\"");
//! ```
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | a text, and its size limits | [`Source`], [`Limits`] |
//! | parse a text | [`Document`] |
//! | the tree | [`Node`], [`Value`], [`Text`], [`Key`] |
//! | read fields, typed by serde | [`Field`], [`Fields`] |
//! | problems and their places | [`Problems`], [`Problem`], [`Place`] |
//! | fenced blocks of a Markdown file, and its sections | [`markdown`] |
//! | write a tree as YAML | `Node::to_yaml` |
//! | "did you mean …?" | [`nearest`] |
//! | text of others on a terminal | [`written_out`] |
//!
//! # Features
//!
//! Each language is a feature: `toml`, `json` (which also converts any value to JSON), `yaml`. None is on by default.
//!
//! # Refused input
//!
//! Agents can write documents, so a text has [limits](Limits) of size and depth. YAML's anchors, aliases and tags are
//! refused: a tree is never larger than its text, and a "billion laughs" file is refused at its first anchor. Duplicate keys are
//! refused in every language. Messages show words of a file shortened and escaped, so that they cannot control a terminal.
//!
//! **Invariant:** nothing in this crate prints or writes a file.
#![cfg_attr(
    not(any(feature = "json", feature = "toml", feature = "yaml")),
    expect(dead_code, reason = "no language is chosen, so nothing is parsed")
)]

mod place;
mod lines;
mod source;
mod problems;

mod node;
mod document;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "toml")]
mod toml;
#[cfg(feature = "yaml")]
mod yaml;
#[cfg(feature = "yaml")]
mod to_yaml;
pub mod markdown;

mod fields;
mod typed;
mod words;

pub use document::Document;
pub use fields::{Field, Fields};
pub use node::{Key, Node, Text, TextStyle, Value};
pub use place::{Place, Position};
pub use problems::{Problem, Problems};
pub use source::{Limits, Source};
pub use words::{listed, nearest, steers_a_terminal, written_out};

#[cfg(all(doctest, feature = "toml"))]
#[doc = include_str!("../README.md")]
struct Readme;
