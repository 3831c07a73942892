//! The five preconditions, and the message about them.

use scout_and_wave::demo;
use scout_and_wave::document::{Impl, not_suitable, planned};
use scout_and_wave::protocol::plan::{AppendOnly, Finding, FindingClass, Plan};
use scout_and_wave::protocol::suitability::{
    Compared, Precondition, Recommendation, Suitability, Times, Verdict, judge,
};
use std::collections::BTreeSet;

pub(crate) fn plan() -> Plan {
    serde_json::from_str(demo::PLAN).unwrap()
}

pub(crate) fn files() -> BTreeSet<String> {
    demo::SEED.iter().map(|file| file.path.to_owned()).collect()
}

/// The verdict on the plan with one change.
fn changed(change: impl FnOnce(&mut Plan)) -> Suitability {
    let mut plan = plan();
    change(&mut plan);
    judge(&plan, &files())
}

/// Asserts that one precondition fails, for this reason only. SAW-54: it is recommended not to proceed.
#[track_caller]
fn fails(precondition: Precondition, reason: &str, change: impl FnOnce(&mut Plan)) {
    let judged = changed(change);
    let failed: Vec<_> = judged.failed.iter().map(|failed| (failed.precondition, failed.reason.as_str())).collect();
    assert_eq!(failed, [(precondition, reason)]);
    assert_eq!((judged.verdict, judged.recommendation), (Verdict::NotSuitable, Recommendation::DoNotProceed));
    assert!(judged.rationale.contains(reason), "{}", judged.rationale);
}

/// SAW-52, SAW-53, SAW-54.
#[test]
fn the_demonstrations_plan_is_suitable() {
    let judged = changed(|_| {});
    assert_eq!((judged.verdict, judged.recommendation), (Verdict::Suitable, Recommendation::Proceed));
    // CON-107: the slowest agent of each wave.
    let expected = Times {
        scout: 3,
        agents: 10 + 7 + 5,
        agent_count: 6,
        wave_count: 3,
        merge: 4,
        total: 29,
        sequential: 42,
        savings: 13,
        percent: 30,
        compared: Compared::Faster,
    };
    assert_eq!(judged.times, expected);
    let with_caveats = changed(|plan| plan.caveats = vec!["untested on Windows".to_owned()]);
    assert_eq!(with_caveats.verdict, Verdict::SuitableWithCaveats);
    assert_eq!(with_caveats.recommendation, Recommendation::ProceedWithCaveats);
}

/// CON-104: waves of one agent each are part of a plan with several.
#[test]
fn p1_is_about_the_whole_plan() {
    let judged = changed(|plan| {
        plan.waves.truncate(2);
        plan.waves.iter_mut().for_each(|wave| wave.agents.truncate(1));
        plan.waves[1].agents[0].needs.clear();
        plan.contracts.clear();
        plan.append_only.clear();
    });
    assert_eq!((judged.failed, judged.times.agent_count, judged.times.wave_count), (vec![], 2, 2));
}

/// SAW-04: a single agent, or files that several agents need.
#[test]
fn p1_wants_files_that_fall_apart() {
    let one = "there is one group of files or none: at least two agents must have files of their own";
    fails(Precondition::FileDecomposition, one, |plan| {
        plan.waves.truncate(1);
        plan.waves[0].agents.truncate(1);
        plan.contracts.clear();
        plan.estimates.sequential = 100;
    });
    let overlap = "I1 is broken: agents A and B of wave 1 both own `src/count.rs`; so the merge conflicts, or one agent's work undoes another's: give it to one of them, or put them into different waves";
    fails(Precondition::FileDecomposition, overlap, |plan| {
        let file = plan.waves[0].agents[0].creates[0].clone();
        plan.waves[0].agents[1].creates.push(file);
    });
    fails(Precondition::FileDecomposition, "agent A is to change `src/other.rs`, which is not there", |plan| {
        plan.waves[0].agents[0].changes.push("src/other.rs".to_owned().try_into().unwrap());
    });
    fails(Precondition::FileDecomposition, "agent A is to create `README.md`, which is there", |plan| {
        plan.waves[0].agents[0].creates.push("README.md".to_owned().try_into().unwrap());
    });
    fails(
        Precondition::FileDecomposition,
        "agent D needs `src/no.rs`, which is not there, and which no agent creates",
        |plan| {
            plan.waves[1].agents[0].needs.push("src/no.rs".to_owned().try_into().unwrap());
        },
    );
}

/// SAW-05: a file to which several agents only append is no obstacle, if none of them owns it.
#[test]
fn p1_lets_append_only_files_be_shared() {
    let shared = plan().append_only;
    assert!(shared.iter().all(|shared| shared.additions.len() >= 5) && changed(|_| {}).failed.is_empty());
    let owned = "agent A of wave 1 owns `README.md`, which is append-only and so the orchestrator's: take it from one of the lists";
    fails(Precondition::FileDecomposition, owned, |plan| {
        let file: interlocking::workspaces::FilePath = "README.md".to_owned().try_into().unwrap();
        plan.waves[0].agents[0].changes.push(file.clone());
        plan.append_only.push(AppendOnly { file, additions: Vec::new() });
    });
    fails(Precondition::FileDecomposition, "lines are to be added to `NEWS.md`, which is not there", |plan| {
        plan.append_only[1].file = "NEWS.md".to_owned().try_into().unwrap();
    });
}

/// SAW-06.
#[test]
fn p2_wants_nothing_to_be_found_out_first() {
    fails(Precondition::NoInvestigation, "to be found out first: why the parser is slow", |plan| {
        plan.investigations.push("why the parser is slow".to_owned());
    });
    let gate = "to be found out first: the commands that build and test the whole project: the plan has no gate";
    fails(Precondition::NoInvestigation, gate, |plan| plan.gate.clear());
}

/// SAW-63, SAW-66: the fields of a prompt are stamped from the plan, and none of these may be empty.
#[test]
fn p2_wants_a_task_and_a_check_of_each_agent() {
    fails(Precondition::NoInvestigation, "to be found out first: what agent A is to implement", |plan| {
        plan.waves[0].agents[0].task = " \n".to_owned();
    });
    let check = "to be found out first: the commands that check the work of agent B";
    fails(Precondition::NoInvestigation, check, |plan| plan.waves[0].agents[1].verification.clear());
}

/// SAW-07.
#[test]
fn p3_wants_every_interface_written_down() {
    fails(Precondition::Interfaces, "an interface that cannot be written down yet: the plugin's", |plan| {
        plan.open_interfaces.push("the plugin's".to_owned());
    });
    fails(Precondition::Interfaces, "the contract `count` has no signature", |plan| {
        plan.contracts[1].signature = " ".to_owned();
    });
    fails(Precondition::Interfaces, "the contract `count` names an agent Z, and the plan has none", |plan| {
        plan.contracts[1].called_by.push("Z".parse().unwrap());
    });
}

/// SAW-51, SAW-60, SAW-81: who calls a contract works in the wave of its provider or later.
#[test]
fn p3_wants_contracts_of_earlier_waves() {
    let early = "agent A of wave 1 calls `report`, which agent D provides in wave 2: it belongs to a later wave";
    fails(Precondition::Interfaces, early, |plan| {
        plan.contracts.last_mut().unwrap().called_by.push("A".parse().unwrap());
    });
    // They work at the same time: the contract is what both follow.
    let beside = changed(|plan| plan.contracts[1].called_by.push("B".parse().unwrap()));
    assert_eq!(beside.failed, []);
}

/// SAW-08.
#[test]
fn p4_wants_every_finding_classed() {
    let finding = |id: &str, class| Finding { id: id.to_owned(), what: "a finding".to_owned(), class };
    fails(Precondition::Findings, "finding F1 is not classed as TO-DO, DONE or PARTIAL", |plan| {
        plan.findings.push(finding("F1", None));
    });
    fails(Precondition::Findings, "finding F2 is DONE, and agent B has it", |plan| {
        plan.findings.push(finding("F2", Some(FindingClass::Done)));
        plan.waves[0].agents[1].findings.push("F2".to_owned());
    });
    fails(Precondition::Findings, "no agent takes care of finding F3", |plan| {
        plan.findings.push(finding("F3", Some(FindingClass::Partial)));
    });
    let judged = changed(|plan| {
        plan.findings.push(finding("F1", Some(FindingClass::Done)));
        plan.findings.push(finding("F2", Some(FindingClass::ToDo)));
        plan.waves[0].agents[1].findings.push("F2".to_owned());
    });
    assert_eq!(judged.failed, []);
}

/// SAW-09: strictly less.
#[test]
fn p5_wants_time_to_be_saved() {
    let nothing = |sequential| format!("it takes 29 minutes, and one agent alone {sequential}: nothing is saved");
    fails(Precondition::WorthIt, &nothing(28), |plan| plan.estimates.sequential = 28);
    fails(Precondition::WorthIt, &nothing(29), |plan| plan.estimates.sequential = 29);
    let just = changed(|plan| plan.estimates.sequential = 30);
    assert_eq!((just.failed.len(), just.times.savings, just.times.compared), (0, 1, Compared::Faster));
    let slower = changed(|plan| plan.estimates.sequential = 20).times;
    assert_eq!((slower.savings, slower.percent, slower.compared), (-9, -45, Compared::Slower));
}

/// SAW-09, SAW-53: estimates that are too large are capped, and save nothing.
#[test]
fn endless_estimates_save_nothing() {
    let judged = changed(|plan| {
        plan.waves.iter_mut().flat_map(|wave| &mut wave.agents).for_each(|agent| agent.minutes = u32::MAX);
    });
    assert_eq!((judged.times.agents, judged.times.total), (u32::MAX, u32::MAX));
    assert_eq!((judged.verdict, judged.times.savings < 0), (Verdict::NotSuitable, true));
}

/// All preconditions are checked, and those that fail are named.
#[test]
fn every_failure_is_named() {
    let judged = changed(|plan| {
        plan.investigations.push("a".to_owned());
        plan.open_interfaces.push("b".to_owned());
        plan.estimates.sequential = 1;
    });
    let failed: Vec<_> = judged.failed.iter().map(|failed| failed.precondition).collect();
    assert_eq!(failed, [Precondition::NoInvestigation, Precondition::Interfaces, Precondition::WorthIt]);
}

/// SAW-52: the message is read back unchanged. SAW-56: for an unsuitable task only the verdict is written.
#[test]
fn the_message_is_in_the_document() {
    let judged = changed(|_| {});
    let read = Impl::read("IMPL.md", &planned(&plan(), None, &judged).unwrap()).unwrap();
    assert_eq!(read.suitability, judged);
    let mut plan = plan();
    plan.investigations.push("why: it is slow".to_owned());
    let judged = judge(&plan, &files());
    let text = not_suitable(&plan, &judged).unwrap();
    let headings: Vec<_> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings, ["# IMPL: Text statistics", "## Suitability"]);
    assert!(text.contains("verdict: NOT SUITABLE\n") && text.contains("recommendation: Do not proceed\n"), "{text}");
    let problems = Impl::read("IMPL.md", &text).unwrap_err().to_string();
    assert!(!problems.contains("Suitability"), "the verdict itself is read: {problems}");
}
