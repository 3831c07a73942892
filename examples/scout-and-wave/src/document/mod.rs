//! The document of a feature, `docs/IMPL-NAME.md`: the only record of plan, prompts, reports and state (SAW-16, I4).
//!
//! It is Markdown. The protocol's data is in YAML blocks under headings that it knows; everything else is prose, for people. Only
//! the orchestrator writes the document (CON-101), and it keeps every other byte as it is.
//!
//! | heading | block |
//! |---|---|
//! | `## Suitability` | [`Suitability`] |
//! | `## Status` | [`Status`] |
//! | `## Waves` | [`Waves`]: ownership of files, the gate, append-only files |
//! | `## Interface Contracts` | [`Contracts`], frozen by the hash of the section |
//! | `## Agent Prompts`, `### Agent A - Prompt` | nine fields, `#### 0.` to `#### 8.` |
//! | `## Completion Reports`, `### Agent A - Completion Report` | [`CompletionReport`], and prose after it |

mod sections;
mod prose;
mod prompt;
mod read;
mod write;

pub use prompt::{AgentPrompt, Field};
pub(crate) use prose::{fence, one_line, prose};
pub use read::{Contracts, Impl, ReportedBy, Status, Waves};
pub use write::{WriteError, list, not_suitable, planned, with_list, with_report, with_status};

#[expect(unused_imports, reason = "named in this module's documentation")]
use crate::protocol::{report::CompletionReport, suitability::Suitability};
