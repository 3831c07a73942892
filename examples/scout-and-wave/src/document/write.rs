//! Writing a document: at first as a whole, later only the parts that the orchestrator changes, and no other byte.

use super::prompt::{AgentPrompt, Field};
use super::prose::{fence, one_line, prose};
use super::read::{Contracts, Status, Waves};
use super::sections::{REPORTS, STATUS, Sections};
use crate::prompts::{ImplDocument, NotSuitableDocument, PromptFields};
use crate::protocol::agent::Post;
use crate::protocol::bootstrap::Architecture;
use crate::protocol::ownership::waves_of;
use crate::protocol::plan::Plan;
use crate::protocol::report::CompletionReport;
use crate::protocol::state::State;
use crate::protocol::suitability::Suitability;
use askama::Template;
use interlocking::document::{Document, Problems, Source};
use serde::Serialize;
use std::fmt::Write as _;

/// Why a document could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A template.
    #[error(transparent)]
    Template(#[from] askama::Error),
    /// A value that cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The document is no longer valid.
    #[error(transparent)]
    Document(#[from] Problems),
}

/// The document of a plan that is suitable: verdict first, prompts after it (SAW-55).
///
/// # Errors
///
/// [`WriteError`].
pub fn planned(
    plan: &Plan,
    architecture: Option<&Architecture>,
    suitability: &Suitability,
) -> Result<String, WriteError> {
    let waves = Waves {
        gate: plan.gate.clone(),
        append_only: plan.append_only.clone(),
        first: plan.first_wave,
        waves: waves_of(plan),
    };
    let contracts = Contracts { contracts: plan.contracts.clone() };
    let mut prompts = String::new();
    for (wave, agent) in plan.agents() {
        let post = Post { wave, agent: agent.agent.clone() };
        let fields = PromptFields { plan, agent, post: &post };
        if !prompts.is_empty() {
            prompts.push('\n');
        }
        _ = write!(prompts, "{}", fields.prompt()?);
    }
    let status = Status {
        state: State::Reviewed,
        waves_verified: 0,
        contracts: None,
        verified_at: None,
        deviations: Vec::new(),
    };
    let [suitability, status, waves, contracts] =
        [yaml(suitability)?, yaml(&status)?, yaml(&waves)?, yaml(&contracts)?];
    Ok(ImplDocument { plan, architecture, suitability, status, waves, contracts, prompts }.render()?)
}

/// The document of a plan that is not suitable: the verdict, and nothing else (SAW-56).
///
/// # Errors
///
/// [`WriteError`].
pub fn not_suitable(plan: &Plan, suitability: &Suitability) -> Result<String, WriteError> {
    Ok(NotSuitableDocument { plan, suitability: yaml(suitability)? }.render()?)
}

/// The text with a report added to the section of reports.
///
/// # Errors
///
/// [`WriteError`].
pub fn with_report(file: &str, text: &str, post: &Post, report: &CompletionReport) -> Result<String, WriteError> {
    let block = yaml(&CompletionReport { notes: String::new(), ..report.clone() })?;
    let fence = fence(&block);
    let mut written = format!("### Agent {} - Completion Report\n\n{fence}yaml\n{block}{fence}\n", post.agent);
    let notes = prose(&report.notes);
    if !notes.is_empty() {
        _ = writeln!(written, "\n{notes}");
    }
    at_the_end_of_reports(file, text, &written)
}

/// The text with a list in the section of reports, such as files that agents touched and did not report (SAW-114). Each item is
/// one line there. A list with that heading is replaced, or, if there are no items, removed.
///
/// # Errors
///
/// [`WriteError`].
pub fn with_list(file: &str, text: &str, heading: &str, lines: &[String]) -> Result<String, WriteError> {
    let items: String = lines.iter().map(|line| format!("- {}\n", one_line(line))).collect();
    let written = if items.is_empty() { String::new() } else { format!("### {heading}\n\n{items}") };
    let Some(known) = Sections::of(file, text).list(heading).map(|section| section.range.clone()) else {
        return if items.is_empty() { Ok(text.to_owned()) } else { at_the_end_of_reports(file, text, &written) };
    };
    let (before, after) = (&text[..known.start], &text[known.end..]);
    Ok(match (items.is_empty(), after.is_empty()) {
        (true, true) => format!("{}\n", before.trim_end()),
        (false, false) => format!("{before}{written}\n{after}"),
        _ => format!("{before}{written}{after}"),
    })
}

/// The items of a list in the section of reports; none if there is no list with that heading.
pub fn list(file: &str, text: &str, heading: &str) -> Vec<String> {
    let sections = Sections::of(file, text);
    let items = sections.list(heading).into_iter().flat_map(|section| section.body.lines());
    items.filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

fn at_the_end_of_reports(file: &str, text: &str, written: &str) -> Result<String, WriteError> {
    let mut problems = Problems::of(file);
    let sections = Sections::of(file, text);
    let Some(section) = sections.section(REPORTS, &mut problems) else { return Err(problems.into()) };
    let (before, after) = text.split_at(section.range.end);
    // The existing text ends with an empty line; the new text does too, if something follows.
    let gap = match before {
        before if before.ends_with("\n\n") => "",
        before if before.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let end = if after.is_empty() { "" } else { "\n" };
    Ok(format!("{before}{gap}{written}{end}{after}"))
}

/// The text with another status.
///
/// # Errors
///
/// [`WriteError`].
pub fn with_status(file: &str, text: &str, status: &Status) -> Result<String, WriteError> {
    let mut problems = Problems::of(file);
    let sections = Sections::of(file, text);
    // Reads the current status, to check that there is one.
    let known = sections.value::<Status>(STATUS, &mut problems);
    let block = sections.section(STATUS, &mut problems).and_then(|section| sections.block(section));
    let (Some(_), Some(block)) = (known, block) else { return Err(problems.into()) };
    let fenced = &text[block.range.clone()];
    // The author's own fences stay.
    let opening = fenced.split_inclusive('\n').next().unwrap_or_default();
    let closing = &fenced[opening.len() + block.content.len()..];
    let (before, after) = (&text[..block.range.start], &text[block.range.end..]);
    Ok(format!("{before}{opening}{}{closing}{after}", yaml(status)?))
}

/// A value as YAML, its fields in their order.
pub(crate) fn yaml<T: Serialize>(value: &T) -> Result<String, WriteError> {
    let json = serde_json::to_string(value)?;
    Ok(Document::json(Source::new("a value", &json))?.root().to_yaml())
}

impl PromptFields<'_> {
    /// The prompt: each field by its own template.
    fn prompt(&self) -> Result<AgentPrompt, WriteError> {
        let mut fields: [String; 9] = Default::default();
        for (field, text) in Field::ALL.iter().zip(&mut fields) {
            *text = self.field(*field)?;
        }
        Ok(AgentPrompt { agent: self.agent.agent.clone(), fields })
    }
}
