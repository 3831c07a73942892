//! Departures from contracts, and who has to be told of them before the next wave (SAW-73, SAW-74).

use super::agent::AgentLetter;
use super::report::{CompletionReport, InterfaceDeviation};
use serde::{Deserialize, Serialize};

/// A departure from a contract that an agent of a later wave has to be told of: that agent's section of the document is to be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error(
    "agent {by} departed from a contract ({description}), and the section of agent {affects} is as it was before: change it"
)]
pub struct OpenDeviation {
    /// Who departed from it.
    pub by: AgentLetter,
    /// How.
    pub description: String,
    /// Who has to be told.
    pub affects: AgentLetter,
    /// The hash of that agent's section when this was reported.
    pub section: String,
}

/// A departure of which it is not known who has to be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Misdirected {
    /// It names nobody, and there are later agents.
    #[error("it reports that later agents have to be told of a deviation ({description}), and does not name them")]
    Nobody {
        /// The departure.
        description: String,
    },
    /// It names somebody who is no agent of a later wave.
    #[error("it reports a deviation ({description}) that affects agent {agent}, and no later wave has such an agent")]
    NotLater {
        /// The departure.
        description: String,
        /// Who is named.
        agent: AgentLetter,
    },
}

/// Those of a report, where these agents are in later waves.
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

/// What the report of an agent leaves to be told; `section` gives the hash of an agent's section, if it has one.
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
