//! What an agent is told about itself, and whether a session knows it.
//!
//! Codex takes a developer's message at the beginning of a session and ignores it from then on. So a turn that goes on in a
//! session, or forks one, says in its prompt what the session does not know yet.

/// What the text begins with, so that it is found again in a session's file.
pub(super) const HEADING: &str = "# Your part\n\n";

const TASK: &str = "\n\n# Your task\n\n";

/// The message that tells it.
pub(super) fn told(system: &str) -> String {
    format!("{HEADING}{system}")
}

/// The prompt that tells it first.
pub(super) fn told_before(system: &str, prompt: &str) -> String {
    format!("{}{TASK}{prompt}", told(system))
}

/// Whether a text that begins with the heading is what [`told`] or [`told_before`] makes of this.
pub(super) fn tells(text: &str, system: &str) -> bool {
    let rest = text.strip_prefix(HEADING).and_then(|text| text.strip_prefix(system));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(TASK))
}
