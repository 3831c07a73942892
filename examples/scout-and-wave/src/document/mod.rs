//! The document of a feature, `docs/IMPL-NAME.md`: the one record of plan, prompts, reports and state (SAW-16, I4).
//!
//! It is Markdown. What the protocol goes by stands in YAML blocks under headings that it knows; all else is prose, for people. The
//! orchestrator alone writes it (CON-101), and what it does not mean to change stays byte for byte.
//!
//! | heading | block |
//! |---|---|
//! | `## Suitability` | [`Suitability`] |
//! | `## Status` | [`Status`] |
//! | `## Waves` | [`Waves`]: whose files are whose, the gate, append-only files |
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
pub use write::{WriteError, not_suitable, planned, with_list, with_report, with_status};

#[expect(unused_imports, reason = "named in this module's documentation")]
use crate::protocol::{report::CompletionReport, suitability::Suitability};
