//! The commands that need no graph but its name: they work on a journal.

pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod answer;
pub(crate) mod fork;
pub(crate) mod cancel;
pub(crate) mod graph;
pub(crate) mod prune;

use crate::console::Console;
use crate::error::CommandError;
use serde::Serialize;

/// Prints a result: as JSON, or as the text that it is for people.
fn print(
    console: &Console,
    json: bool,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), CommandError> {
    let text = if json { serde_json::to_string_pretty(value)? + "\n" } else { text() };
    console.print(&text)
}
