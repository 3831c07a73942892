//! The system instructions of an agent, and whether a session already has them.
//!
//! Codex accepts a developer's message at the beginning of a session, and ignores it later. So a turn that continues or
//! forks a session puts the instructions that the session does not have yet into its prompt. So does the first turn if the
//! instructions do not fit into an argument.

/// The first words of the text, by which it is found in a session's file.
pub(super) const HEADING: &str = "# Your part\n\n";

const TASK: &str = "\n\n# Your task\n\n";

/// The developer message with the instructions.
pub(super) fn developer_message(system: &str) -> String {
    format!("{HEADING}{system}")
}

/// The prompt with the instructions in front of it.
pub(super) fn prompt_with_instructions(system: &str, prompt: &str) -> String {
    format!("{}{TASK}{prompt}", developer_message(system))
}

/// Whether the developer message fits into an argument of the program. Longer instructions are put into the prompt.
pub(super) fn fit_argument(system: &str) -> bool {
    /// Linux allows 128 KiB for an argument.
    const LONGEST: usize = 100 << 10;
    toml::Value::from(developer_message(system)).to_string().len() <= LONGEST
}

/// Whether `text` is what [`developer_message`] or [`prompt_with_instructions`] makes of these instructions.
pub(super) fn are_in(text: &str, system: &str) -> bool {
    let rest = text.strip_prefix(HEADING).and_then(|text| text.strip_prefix(system));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(TASK))
}
