//! Reading a document: every mistake is reported at its place.

use super::prompt::AgentPrompt;
use super::sections::{CONTRACTS, PROMPTS, STATUS, SUITABILITY, Sections, WAVES};
use crate::protocol::agent::AgentLetter;
use crate::protocol::deviation::OpenDeviation;
use crate::protocol::ownership::Wave;
use crate::protocol::plan::{AppendOnly, Command, Contract, is_one, one};
use crate::protocol::report::CompletionReport;
use crate::protocol::state::State;
use crate::protocol::suitability::Suitability;
use interlocking::document::{Position, Problems};
use interlocking::worktree::CommitId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// A document, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impl {
    /// Whether the task is suitable for the protocol.
    pub suitability: Suitability,
    /// The state of the run when the document was written.
    pub status: Status,
    /// The ownership of files.
    pub waves: Waves,
    /// The interfaces between agents.
    pub contracts: Contracts,
    /// The hash of the section with the contracts, as it is written: this is what is frozen.
    pub contracts_hash: String,
    /// The prompts, with the text of each, as it is written.
    pub prompts: Vec<(AgentPrompt, String)>,
    /// The reports, in their order: if an agent reported more than once, its last report counts.
    pub reports: Vec<ReportedBy>,
}

/// The state of a run, in the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// The state.
    pub state: State,
    /// How many waves are verified.
    pub waves_verified: u32,
    /// The hash of the contracts of the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contracts: Option<String>,
    /// The commit at which the gate passed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<CommitId>,
    /// Deviations of which agents have to be told before the next wave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<OpenDeviation>,
}

/// The ownership of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waves {
    /// The commands that build and test the whole project.
    pub gate: Vec<Command>,
    /// Files to which the orchestrator adds lines.
    pub append_only: Vec<AppendOnly>,
    /// The number of the first wave: 0 if it makes the types of a new project.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub first: u32,
    /// The waves, in their order.
    pub waves: Vec<Wave>,
}

/// The interfaces between agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contracts {
    /// The contracts.
    pub contracts: Vec<Contract>,
}

/// A report of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedBy {
    /// The agent.
    pub agent: AgentLetter,
    /// Its contents; the prose after its block is in the notes.
    pub report: CompletionReport,
}

impl Impl {
    /// Reads a document. `file` is its name, for messages.
    ///
    /// # Errors
    ///
    /// All mistakes.
    pub fn read(file: &str, text: &str) -> Result<Self, Problems> {
        let sections = Sections::of(file, text);
        let mut problems = Problems::of(file);
        let suitability = sections.value(SUITABILITY, &mut problems);
        let status = sections.value(STATUS, &mut problems);
        let waves = sections.value(WAVES, &mut problems);
        let contracts = sections.value(CONTRACTS, &mut problems);
        let contracts_hash = sections.section(CONTRACTS, &mut Problems::of(file)).map(|section| hash(section.body));
        let prompts = prompts(&sections, &mut problems);
        let reports = reports(&sections, &mut problems);
        let read = || {
            let (contracts, contracts_hash) = (contracts?, contracts_hash?);
            Some(Self {
                suitability: suitability?,
                status: status?,
                waves: waves?,
                contracts,
                contracts_hash,
                prompts,
                reports,
            })
        };
        match read() {
            Some(read) if problems.is_empty() => Ok(read),
            _ => Err(problems),
        }
    }

    /// Whether both documents have the same plan: the same ownership of files, gate, contracts and prompts.
    pub fn has_plan_of(&self, other: &Self) -> bool {
        (&self.waves, &self.contracts_hash, &self.prompts) == (&other.waves, &other.contracts_hash, &other.prompts)
    }

    /// A wave by its number.
    pub fn wave(&self, number: u32) -> Option<&Wave> {
        self.waves.waves.get(usize::try_from(number.checked_sub(self.waves.first)?).ok()?)
    }

    /// The number of the wave after those that are verified; that wave may not exist.
    pub fn next_wave(&self) -> u32 {
        self.waves.first.saturating_add(self.status.waves_verified)
    }

    /// How many waves there are.
    pub fn wave_count(&self) -> u32 {
        u32::try_from(self.waves.waves.len()).unwrap_or(u32::MAX)
    }

    /// The prompt of an agent, and its text.
    pub fn prompt(&self, agent: &AgentLetter) -> Option<&(AgentPrompt, String)> {
        self.prompts.iter().find(|(prompt, _)| prompt.agent == *agent)
    }

    /// The hash of an agent's section, as it is written.
    pub fn section_hash(&self, agent: &AgentLetter) -> Option<String> {
        self.prompt(agent).map(|(_, text)| hash(text))
    }

    /// The deviations for which the affected sections have not been changed.
    pub fn open_deviations(&self) -> impl Iterator<Item = &OpenDeviation> {
        let deviations = self.status.deviations.iter();
        deviations.filter(|open| self.section_hash(&open.affects).as_ref() == Some(&open.section))
    }

    /// The valid report of an agent: its last.
    pub fn report(&self, agent: &AgentLetter) -> Option<&CompletionReport> {
        self.reports.iter().rev().find(|reported| reported.agent == *agent).map(|reported| &reported.report)
    }
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::from("sha256:"), |mut hex, byte| {
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The sections `### Agent A - Prompt` of the section of prompts, with their text.
fn prompts(sections: &Sections<'_>, problems: &mut Problems) -> Vec<(AgentPrompt, String)> {
    let Some(all) = sections.section(PROMPTS, problems) else { return Vec::new() };
    let mut prompts: Vec<(AgentPrompt, String)> = Vec::new();
    let within =
        sections.all().filter(|section| section.heading.level == 3 && all.range.contains(&section.range.start));
    for section in within {
        let Some(agent) = agent_of(section.heading.text, "Prompt") else { continue };
        if prompts.iter().any(|(known, _)| known.agent == agent) {
            let at = Position { line: section.heading.line, column: 1 };
            problems.add(at, "", format!("there is a second prompt of agent {agent}: keep one of them"));
        } else if let Some(prompt) = AgentPrompt::read(agent, section, problems) {
            prompts.push((prompt, sections.text[section.range.clone()].trim_end().to_owned() + "\n"));
        }
    }
    prompts
}

/// The reports: under a heading `### Agent A - Completion Report`, or with that heading as the first line of their block (CON-113).
fn reports(sections: &Sections<'_>, problems: &mut Problems) -> Vec<ReportedBy> {
    let mut reports = Vec::new();
    for block in sections.yaml() {
        let inside = block.content.lines().next().and_then(|line| line.trim_start().strip_prefix("### "));
        let heading = inside.into_iter().chain(block.heading.map(|heading| heading.text));
        let Some(agent) = heading.filter_map(|text| agent_of(text.trim(), "Completion Report")).next() else {
            continue;
        };
        let Some(report) = sections.value_of::<CompletionReport>(block, problems) else { continue };
        let rest = &sections.text[block.range.end..];
        let ends_at = |section: &&interlocking::document::markdown::Section<'_>| section.range.start >= block.range.end;
        let end = sections.all().find(ends_at).map_or(rest.len(), |next| next.range.start - block.range.end);
        let prose = rest[..end].trim();
        let notes = if report.notes.is_empty() { prose.to_owned() } else { report.notes.clone() };
        reports.push(ReportedBy { agent, report: CompletionReport { notes, ..report } });
    }
    reports
}

/// The agent in `Agent A - Completion Report`.
fn agent_of(heading: &str, what: &str) -> Option<AgentLetter> {
    let (letter, rest) = heading.strip_prefix("Agent ")?.split_once(' ')?;
    let rest = rest.trim_start_matches(['-', '–', '—', ' ']);
    (rest == what).then(|| letter.parse().ok())?
}
