//! The agent's prompts: the task, and the protocol's steps for it.

use crate::graph::{Bug, Task};
use askama::Template;
use interlocking::envoy::Excerpt;

/// The prompt for adding logs.
#[derive(Template)]
#[template(source = "{{ bug.symptom }}.\n\nFollow these steps of the debugging protocol:\n\n{{ steps }}", ext = "txt")]
pub(crate) struct InvestigatePrompt<'a> {
    pub(crate) bug: &'a Bug,
    pub(crate) steps: &'a Excerpt,
}

/// The prompt for the fix.
#[derive(Template)]
#[template(
    source = "\
Hypothesis: {{ task.findings.hypothesis }}
{% for log in task.findings.logs %}Log: {{ log }}
{% endfor %}{% if let Some(feedback) = task.feedback %}With the debug logs removed, the project's check failed: {{ feedback }}
{% endif %}
Follow this step of the debugging protocol:

{{ steps }}",
    ext = "txt"
)]
pub(crate) struct FixPrompt<'a> {
    pub(crate) task: &'a Task,
    pub(crate) steps: &'a Excerpt,
}
