//! Files to which lines are only added, by the orchestrator (SAW-05, SAW-29, SAW-112).

use super::agent::AgentLetter;
use super::plan::{Addition, AppendOnly};

/// Whether every line of `before` is still there, in its order: the only differences are added lines.
pub fn only_adds(before: &str, after: &str) -> bool {
    let mut after = after.split_inclusive('\n');
    // A last line without a line end may have got one.
    before.split_inclusive('\n').all(|line| {
        let is_whole = line.ends_with('\n');
        after.any(|other| other == line || !is_whole && other.trim_end_matches('\n') == line)
    })
}

/// The text with these lines at its end.
pub fn with_lines<'l>(text: &str, lines: impl IntoIterator<Item = &'l str>) -> String {
    let mut text = text.to_owned();
    for line in lines {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// The lines that the work of these agents adds to a file, in the plan's order.
pub fn lines_of<'l>(shared: &'l AppendOnly, agents: &'l [AgentLetter]) -> impl Iterator<Item = &'l str> {
    let is_of_wave = |addition: &&Addition| agents.contains(&addition.agent);
    shared.additions.iter().filter(is_of_wave).flat_map(|addition| addition.lines.iter().map(String::as_str))
}
