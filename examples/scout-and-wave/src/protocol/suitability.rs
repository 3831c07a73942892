//! Whether a task is suitable for this protocol: the five preconditions, judged by the plan and by the existing files (SAW-04 to
//! SAW-11), and the message about it (SAW-52 to SAW-54).

use super::agent::AgentLetter;
use super::bootstrap::TYPES_WAVE;
use super::ownership::{self, waves_of};
use super::plan::{Contract, FindingClass, Plan, PlannedAgent};
use interlocking::workspaces::FilePath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The preconditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Precondition {
    /// At least two groups of files, and no two agents that need one file.
    #[serde(rename = "P1 file decomposition")]
    FileDecomposition,
    /// Nothing has to be found out first.
    #[serde(rename = "P2 no investigation")]
    NoInvestigation,
    /// Every interface between agents can be written down.
    #[serde(rename = "P3 interfaces")]
    Interfaces,
    /// Every finding is classified, and findings that are done have no agent.
    #[serde(rename = "P4 findings")]
    Findings,
    /// It is faster than one agent.
    #[serde(rename = "P5 worth it")]
    WorthIt,
}

/// A precondition that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// The precondition.
    pub precondition: Precondition,
    /// Why not.
    pub reason: String,
}

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// All five hold.
    #[serde(rename = "SUITABLE")]
    Suitable,
    /// All five hold, and the person who approves has to acknowledge something (CON-108).
    #[serde(rename = "SUITABLE WITH CAVEATS")]
    SuitableWithCaveats,
    /// One does not hold.
    #[serde(rename = "NOT SUITABLE")]
    NotSuitable,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recommendation {
    /// For a suitable task.
    #[serde(rename = "Proceed")]
    Proceed,
    /// For a suitable task with caveats.
    #[serde(rename = "Proceed with caveats")]
    ProceedWithCaveats,
    /// For a task that is not suitable.
    #[serde(rename = "Do not proceed")]
    DoNotProceed,
}

/// How long it takes, in minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// The scout.
    pub scout: u32,
    /// The agents: the sum of the slowest agent of each wave (CON-107).
    pub agents: u32,
    /// How many agents there are.
    pub agent_count: usize,
    /// In how many waves they work side by side.
    pub wave_count: usize,
    /// Merges and verifications.
    pub merge: u32,
    /// The sum of these.
    pub total: u32,
    /// One agent that does everything, one thing after the other.
    pub sequential: u32,
    /// The saved time; negative if time is lost.
    pub savings: i64,
    /// The same as a percentage of the sequential time.
    pub percent: i64,
    /// In a word.
    pub compared: Compared,
}

/// How the total compares with one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// Faster than one agent.
    Faster,
    /// As slow as one agent, or slower.
    Slower,
}

/// The message about suitability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suitability {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, in a paragraph.
    pub rationale: String,
    /// How long it takes.
    pub times: Times,
    /// What to do.
    pub recommendation: Recommendation,
    /// What has to be acknowledged.
    pub caveats: Vec<String>,
    /// The preconditions that do not hold.
    pub failed: Vec<Failed>,
}

impl Verdict {
    /// The recommendation.
    pub fn recommendation(self) -> Recommendation {
        match self {
            Self::Suitable => Recommendation::Proceed,
            Self::SuitableWithCaveats => Recommendation::ProceedWithCaveats,
            Self::NotSuitable => Recommendation::DoNotProceed,
        }
    }
}

impl Times {
    /// The times that follow from the plan's estimates.
    pub fn of(plan: &Plan) -> Self {
        let slowest =
            |wave: &super::plan::PlannedWave| wave.agents.iter().map(|agent| agent.minutes).max().unwrap_or(0);
        // An agent gives the estimates, so they may have any size.
        let agents = plan.waves.iter().map(slowest).fold(0, u32::saturating_add);
        let super::plan::Estimates { scout, merge, sequential } = plan.estimates;
        let total = scout.saturating_add(agents).saturating_add(merge);
        let savings = i64::from(sequential) - i64::from(total);
        let percent = if sequential == 0 { 0 } else { savings * 100 / i64::from(sequential) };
        let compared = if savings > 0 { Compared::Faster } else { Compared::Slower };
        let (agent_count, wave_count) = (plan.agents().count(), plan.waves.len());
        Self { scout, agents, agent_count, wave_count, merge, total, sequential, savings, percent, compared }
    }
}

/// Judges a plan for a project that has these files.
pub fn judge(plan: &Plan, files: &BTreeSet<String>) -> Suitability {
    let times = Times::of(plan);
    let checks: [(Precondition, Vec<String>); 5] = [
        (Precondition::FileDecomposition, decomposition(plan, files)),
        (Precondition::NoInvestigation, investigations(plan)),
        (Precondition::Interfaces, interfaces(plan)),
        (Precondition::Findings, findings(plan)),
        (Precondition::WorthIt, worth(&times)),
    ];
    let failed: Vec<_> = checks
        .into_iter()
        .flat_map(|(precondition, reasons)| reasons.into_iter().map(move |reason| Failed { precondition, reason }))
        .collect();
    let verdict = match (failed.is_empty(), plan.caveats.is_empty()) {
        (false, _) => Verdict::NotSuitable,
        (true, true) => Verdict::Suitable,
        (true, false) => Verdict::SuitableWithCaveats,
    };
    let rationale = rationale(&failed, &times);
    let recommendation = verdict.recommendation();
    Suitability { verdict, rationale, times, recommendation, caveats: plan.caveats.clone(), failed }
}

fn decomposition(plan: &Plan, files: &BTreeSet<String>) -> Vec<String> {
    let mut reasons = Vec::new();
    if plan.agents().count() < 2 {
        reasons
            .push("there is one group of files or none: at least two agents must have files of their own".to_owned());
    }
    let problems = ownership::problems(plan.first_wave, &waves_of(plan), &plan.append_only);
    reasons.extend(problems.iter().map(ToString::to_string));
    let has = |file: &FilePath| files.contains(file.as_str());
    let created_before =
        |wave: u32, file: &FilePath| plan.agents().any(|(other, agent)| other < wave && agent.creates.contains(file));
    let is_created = |file: &FilePath| plan.agents().any(|(_, agent)| agent.creates.contains(file));
    for (wave, PlannedAgent { agent, changes, creates, needs, .. }) in plan.agents() {
        for file in changes.iter().filter(|file| !has(file) && !created_before(wave, file)) {
            reasons.push(format!("agent {agent} is to change `{file}`, which is not there"));
        }
        for file in creates.iter().filter(|file| has(file)) {
            reasons.push(format!("agent {agent} is to create `{file}`, which is there"));
        }
        for file in needs.iter().filter(|file| !has(file) && !is_created(file)) {
            reasons.push(format!("agent {agent} needs `{file}`, which is not there, and which no agent creates"));
        }
    }
    for shared in plan.append_only.iter().filter(|shared| !has(&shared.file) && !is_created(&shared.file)) {
        reasons.push(format!("lines are to be added to `{}`, which is not there", shared.file));
    }
    if plan.first_wave == TYPES_WAVE {
        let makes_types = |agent: &&PlannedAgent| !agent.creates.is_empty();
        if plan.waves.first().is_none_or(|wave| wave.agents.iter().filter(makes_types).count() != 1) {
            reasons.push(format!("wave {TYPES_WAVE} is one agent, which creates the shared types"));
        }
    }
    reasons
}

fn investigations(plan: &Plan) -> Vec<String> {
    let gate =
        plan.gate.is_empty().then_some("the commands that build and test the whole project: the plan has no gate");
    // SAW-66: without them, a field of the agent's prompt would be empty.
    let unclear = plan.agents().flat_map(|(_, PlannedAgent { agent, task, verification, .. })| {
        let task = task.trim().is_empty().then(|| format!("what agent {agent} is to implement"));
        let check = verification.is_empty().then(|| format!("the commands that check the work of agent {agent}"));
        task.into_iter().chain(check)
    });
    let open = plan.investigations.iter().cloned().chain(gate.map(str::to_owned)).chain(unclear);
    open.map(|what| format!("to be found out first: {what}")).collect()
}

fn interfaces(plan: &Plan) -> Vec<String> {
    let open = plan.open_interfaces.iter().map(|what| format!("an interface that cannot be written down yet: {what}"));
    let empty = plan.contracts.iter().filter(|contract| contract.signature.trim().is_empty());
    let empty = empty.map(|contract| format!("the contract `{}` has no signature", contract.name));
    let is_known = |letter: &AgentLetter| plan.agents().any(|(_, agent)| agent.agent == *letter);
    let unknown = plan.contracts.iter().flat_map(|contract| {
        let parties = contract.provided_by.iter().chain(&contract.called_by);
        parties
            .filter(|letter| !is_known(letter))
            .map(|letter| format!("the contract `{}` names an agent {letter}, and the plan has none", contract.name))
    });
    open.chain(empty).chain(unknown).chain(called_too_early(plan)).collect()
}

/// The calls of what a later wave provides (SAW-60).
fn called_too_early(plan: &Plan) -> Vec<String> {
    let wave_of = |letter: &AgentLetter| plan.agents().find(|(_, agent)| agent.agent == *letter).map(|(wave, _)| wave);
    let mut reasons = Vec::new();
    for Contract { name, provided_by, called_by, .. } in &plan.contracts {
        let Some((provider, provided_in)) = provided_by.as_ref().and_then(|by| Some((by, wave_of(by)?))) else {
            continue;
        };
        for (caller, wave) in called_by.iter().filter_map(|caller| Some((caller, wave_of(caller)?))) {
            if wave < provided_in {
                reasons.push(format!(
                    "agent {caller} of wave {wave} calls `{name}`, which agent {provider} provides in wave {provided_in}: it belongs to a \
                     later wave"
                ));
            }
        }
    }
    reasons
}

fn findings(plan: &Plan) -> Vec<String> {
    let mut reasons = Vec::new();
    for finding in &plan.findings {
        let agents: Vec<_> = plan
            .agents()
            .filter(|(_, agent)| agent.findings.contains(&finding.id))
            .map(|(_, agent)| &agent.agent)
            .collect();
        match (finding.class, &agents[..]) {
            (None, _) => reasons.push(format!("finding {} is not classed as TO-DO, DONE or PARTIAL", finding.id)),
            (Some(FindingClass::Done), [agent, ..]) => {
                reasons.push(format!("finding {} is DONE, and agent {agent} has it", finding.id));
            }
            (Some(FindingClass::ToDo | FindingClass::Partial), []) => {
                reasons.push(format!("no agent takes care of finding {}", finding.id));
            }
            _ => {}
        }
    }
    reasons
}

/// `sequential - agents > scout + merge`, strictly.
fn worth(times: &Times) -> Vec<String> {
    if times.savings > 0 {
        return Vec::new();
    }
    let Times { total, sequential, .. } = times;
    vec![format!("it takes {total} minutes, and one agent alone {sequential}: nothing is saved")]
}

fn rationale(failed: &[Failed], times: &Times) -> String {
    let Times { agent_count, wave_count, total, sequential, .. } = times;
    match failed {
        [] => format!(
            "{agent_count} agents own files of their own in {wave_count} waves, every interface between them is written down, and {total} \
             minutes compare with {sequential} of one agent alone."
        ),
        failed => {
            let reasons: Vec<_> = failed.iter().map(|failed| failed.reason.as_str()).collect();
            format!("It does not hold that the task can be split: {}.", reasons.join("; "))
        }
    }
}
