//! Departures from contracts, and the agents that have to be told of them before the next wave (SAW-73, SAW-74).

use super::agent::AgentLetter;
use super::report::{CompletionReport, InterfaceDeviation};
use serde::{Deserialize, Serialize};

/// A departure from a contract of which an agent of a later wave has to be told: that agent's section of the document has to be
/// changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error(
    "agent {by} departed from a contract ({description}), and the section of agent {affects} is as it was before: change it"
)]
pub struct OpenDeviation {
    /// The agent that departed from it.
    pub by: AgentLetter,
    /// How.
    pub description: String,
    /// The agent that has to be told.
    pub affects: AgentLetter,
    /// The hash of that agent's section when this was reported.
    pub section: String,
}

/// A departure that does not name the agents that have to be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Misdirected {
    /// It names no agent, although there are later agents.
    #[error("it reports that later agents have to be told of a deviation ({description}), and does not name them")]
    Nobody {
        /// The departure.
        description: String,
    },
    /// It names an agent that is not in a later wave.
    #[error("it reports a deviation ({description}) that affects agent {agent}, and no later wave has such an agent")]
    NotLater {
        /// The departure.
        description: String,
        /// The named agent.
        agent: AgentLetter,
    },
}

/// The misdirected deviations of a report, if these agents are in later waves.
pub fn misdirected(report: &CompletionReport, later: &[AgentLetter]) -> Vec<Misdirected> {
    let mut found = Vec::new();
    for InterfaceDeviation { description, affects, .. } in downstream(report) {
        let description = || description.clone();
        if affects.is_empty() && !later.is_empty() {
            found.push(Misdirected::Nobody { description: description() });
        }
        let strangers = affects.iter().filter(|agent| !later.contains(agent));
        found.extend(strangers.map(|agent| Misdirected::NotLater { description: description(), agent: agent.clone() }));
    }
    found
}

/// The deviations in an agent's report of which others have to be told; `section` returns the hash of an agent's section, if it
/// has one.
pub fn open_after(
    by: &AgentLetter,
    report: &CompletionReport,
    section: impl Fn(&AgentLetter) -> Option<String>,
) -> Vec<OpenDeviation> {
    let affected = downstream(report)
        .flat_map(|deviation| deviation.affects.iter().map(move |affects| (deviation.description.clone(), affects)));
    affected
        .filter_map(|(description, affects)| {
            let (by, affects, section) = (by.clone(), affects.clone(), section(affects)?);
            Some(OpenDeviation { by, description, affects, section })
        })
        .collect()
}

fn downstream(report: &CompletionReport) -> impl Iterator<Item = &InterfaceDeviation> {
    report.interface_deviations.iter().filter(|deviation| deviation.downstream_action_required)
}
