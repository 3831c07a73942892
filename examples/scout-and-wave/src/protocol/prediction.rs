//! The checks before anything is merged: whether two agents touched one file (SAW-49), and whether each did what it reports and
//! nothing else (SAW-13, SAW-72, SAW-108, SAW-114). Claims are not facts: both are compared with the real difference (CON-111).

use super::agent::{AgentLetter, Place};
use super::deviation::Misdirected;
use super::invariant::{Invariant, Violation};
use super::ownership::AgentFiles;
use super::report::{CompletionReport, ReportedCommit};
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The state of an agent's branch and worktree when it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The commit at which its branch began.
    pub base: CommitId,
    /// The head of its branch.
    pub head: CommitId,
    /// The files that differ between the two; both paths of a renamed file.
    pub touched: BTreeSet<String>,
    /// The files that differ from its last commit.
    pub uncommitted: BTreeSet<String>,
}

/// A discrepancy between an agent's report and its work, or between its work and the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Discrepancy {
    /// It breaks an invariant.
    #[error(transparent)]
    Violation(Violation),
    /// There is nothing on its branch.
    #[error("there is no commit on `{branch}` beyond where it began: the agent worked somewhere else, or not at all")]
    NothingDone {
        /// The branch.
        branch: String,
    },
    /// It reports another commit than the head of its branch.
    #[error("it reports the commit {reported}, and `{branch}` is at {head}")]
    OtherCommit {
        /// The branch.
        branch: String,
        /// The reported commit.
        reported: String,
        /// The head of its branch.
        head: CommitId,
    },
    /// It reports another worktree than it was given.
    #[error("it reports the worktree `{reported}`, and was given `{given}`")]
    OtherWorktree {
        /// The reported worktree.
        reported: String,
        /// The worktree that it was given.
        given: String,
    },
    /// It touched a file that is not its own, and does not say why.
    #[error("it touched `{file}`, which is not its own, and does not report why")]
    Unjustified {
        /// The file.
        file: String,
    },
    /// It touched a file that is not its own, and says why (CON-109).
    #[error("it touched `{file}`, which is not its own: {reason}")]
    OutOfScope {
        /// The file.
        file: String,
        /// The reported reason.
        reason: String,
    },
    /// It touched a file that it does not report.
    #[error("it touched `{file}` and does not report it")]
    Undeclared {
        /// The file.
        file: String,
    },
    /// It reports a deviation, but not the agents that have to be told.
    #[error(transparent)]
    Misdirected(#[from] Misdirected),
    /// It reports a file that it did not touch.
    #[error("it reports `{file}`, and did not touch it")]
    Untouched {
        /// The file.
        file: String,
    },
}

/// A file that several agents of a wave touched, or report that they did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error(
    "I1 is broken: `{file}` is in the lists of agents {}; so {}",
    agents.iter().map(AgentLetter::as_str).collect::<Vec<_>>().join(" and "),
    Invariant::I1.effect()
)]
pub struct Conflict {
    /// The file.
    pub file: String,
    /// The agents.
    pub agents: Vec<AgentLetter>,
}

impl Discrepancy {
    /// Whether it prevents the merge. Other discrepancies are written into the document.
    pub fn stops_the_merge(&self) -> bool {
        match self {
            Self::Violation(_)
            | Self::NothingDone { .. }
            | Self::OtherCommit { .. }
            | Self::OtherWorktree { .. }
            | Self::Misdirected(_)
            | Self::Unjustified { .. } => true,
            Self::OutOfScope { .. } | Self::Undeclared { .. } | Self::Untouched { .. } => false,
        }
    }
}

/// I5: an agent that ended without committing its work (SAW-17, CON-110).
pub fn not_committed(agent: &AgentLetter, report: &CompletionReport, facts: &Facts) -> Option<Violation> {
    let files: Vec<_> = facts.uncommitted.iter().map(|file| format!("`{file}`")).collect();
    let what = match (files.is_empty(), &report.commit) {
        (false, _) => format!("agent {agent} did not commit {}", files.join(", ")),
        (true, ReportedCommit::Uncommitted) => format!("agent {agent} reports that it did not commit"),
        (true, ReportedCommit::Hash(_)) => return None,
    };
    Some(Violation { invariant: Invariant::I5, what })
}

/// I4: an agent that wrote a file that only the orchestrator writes (SAW-16).
pub fn orchestrators_file(agent: &AgentLetter, file: &str) -> Violation {
    let what = format!("agent {agent} touched `{file}`, which the orchestrator alone writes");
    Violation { invariant: Invariant::I4, what }
}

/// Checks the report of the owner of `files`, which was given `place`, against its branch. `orchestrators` are files that no
/// agent may touch.
pub fn reconcile(
    files: &AgentFiles,
    place: &Place,
    report: &CompletionReport,
    facts: &Facts,
    orchestrators: &BTreeSet<String>,
) -> Vec<Discrepancy> {
    let mut found = Vec::new();
    let Place { worktree, branch } = place.clone();
    let agent = &files.agent;
    if report.worktree != worktree {
        found.push(Discrepancy::OtherWorktree { reported: report.worktree.clone(), given: worktree });
    }
    if let Some(violation) = not_committed(agent, report, facts) {
        found.push(Discrepancy::Violation(violation));
    } else if facts.head == facts.base {
        found.push(Discrepancy::NothingDone { branch: branch.clone() });
    }
    if let ReportedCommit::Hash(reported) = &report.commit
        && (reported.len() < SHORTEST_HASH || !facts.head.to_string().starts_with(reported.as_str()))
    {
        found.push(Discrepancy::OtherCommit { branch, reported: reported.clone(), head: facts.head });
    }
    let declared: BTreeSet<&str> = report.files().map(FilePath::as_str).collect();
    let owned: BTreeSet<&str> = files.owns().map(FilePath::as_str).collect();
    let touched = || facts.touched.union(&facts.uncommitted);
    for file in touched() {
        let justified = report.out_of_scope_deps.iter().find(|other| other.file.as_str() == file);
        let reason = justified.map(|other| other.reason.trim()).filter(|reason| !reason.is_empty());
        let file = file.clone();
        if orchestrators.contains(&file) && !owned.contains(file.as_str()) {
            found.push(Discrepancy::Violation(orchestrators_file(agent, &file)));
        } else if owned.contains(file.as_str()) {
            if !declared.contains(file.as_str()) {
                found.push(Discrepancy::Undeclared { file });
            }
        } else {
            found.push(match reason {
                Some(reason) => Discrepancy::OutOfScope { file, reason: reason.to_owned() },
                None => Discrepancy::Unjustified { file },
            });
        }
    }
    let untouched = declared.iter().filter(|file| !touched().any(|touched| touched == *file));
    found.extend(untouched.map(|file| Discrepancy::Untouched { file: (*file).to_owned() }));
    found
}

/// The shortest abbreviation of hashes that git prints.
const SHORTEST_HASH: usize = 7;

/// The files that more than one agent lists or touched.
pub fn predict<'w>(
    wave: impl IntoIterator<Item = (&'w AgentLetter, &'w CompletionReport, &'w Facts)>,
) -> Vec<Conflict> {
    let mut agents: BTreeMap<String, BTreeSet<AgentLetter>> = BTreeMap::new();
    for (agent, report, facts) in wave {
        let declared = report.files().map(|file| file.as_str().to_owned());
        for file in declared.chain(facts.touched.iter().cloned()).chain(facts.uncommitted.iter().cloned()) {
            agents.entry(file).or_default().insert(agent.clone());
        }
    }
    let shared = agents.into_iter().filter(|(_, agents)| agents.len() > 1);
    shared.map(|(file, agents)| Conflict { file, agents: agents.into_iter().collect() }).collect()
}
