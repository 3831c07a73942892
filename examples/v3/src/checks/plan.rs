//! Checks a scaffold's plan against its specification, without reading files.

use super::Violation;
use crate::types::lineage::Lineage;
use crate::types::scaffold::{ClarificationNeeded, InitWork};
use crate::types::spec::{ChildSpec, Criterion, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong with a plan: tests for each criterion (V3-46), criteria divided among children (V3-47), ids (V3-12), and the files
/// of contract and children (V3-44, V3-48).
pub fn violations(spec: &Spec, lineage: &Lineage, work: &InitWork) -> Vec<Violation> {
    let criteria = spec.criteria();
    let mut found = Vec::new();
    let no_such =
        |place: String, criterion: &str| Violation::NoSuchCriterion { place, criterion: criterion.to_owned() };
    for test in work.test_plan.iter().filter(|test| !criteria.contains(test.criterion_id.as_str())) {
        found.push(no_such(format!("the planned test `{}`", test.planned_test_name), &test.criterion_id));
    }
    let planned: BTreeSet<_> = work.test_plan.iter().map(|test| test.criterion_id.as_str()).collect();
    found.extend(criteria.difference(&planned).map(|none| Violation::NoTest { criterion: (*none).to_owned() }));

    let (mut ids, mut given) = (BTreeSet::new(), BTreeMap::new());
    for child in work.children() {
        if !child.id.is_child_of(&spec.id) || !ids.insert(&child.id) {
            found.push(Violation::ChildId { id: child.id.clone(), parent: spec.id.clone() });
        }
        if let Err(error) = child.to_spec(spec).check() {
            found.push(Violation::UnusableChild { reason: error.to_string() });
        }
        for criterion in &child.acceptance_criteria {
            let id = criterion.id.as_str();
            if !criteria.contains(id) {
                found.push(no_such(format!("the child `{}`", child.id), id));
            } else if !spec.acceptance_criteria.iter().any(|own| is_same(own, criterion)) {
                found.push(Violation::OtherCriterion { child: child.id.clone(), criterion: id.to_owned() });
            }
            if let Some(one) = given.insert(id, &child.id).filter(|one| **one != child.id) {
                let (one, other) = (one.clone(), child.id.clone());
                found.push(Violation::SharedCriterion { criterion: id.to_owned(), one, other });
            }
        }
        found.extend(files_of_others(spec, lineage, work, child));
    }
    found.extend(contract_of_others(spec, lineage, work));
    if !work.children().is_empty() && work.interfaces.as_ref().is_none_or(Vec::is_empty) {
        found.push(Violation::NoInterfaces);
    }
    found
}

/// Whether two criteria are the same. A prompt does not show the blanks around a text.
fn is_same(one: &Criterion, other: &Criterion) -> bool {
    one.id == other.id && one.text.trim() == other.text.trim()
}

/// What the contract's file is, if it is not the contract's own.
fn contract_of_others(spec: &Spec, lineage: &Lineage, work: &InitWork) -> Option<Violation> {
    let path = &work.contract_suite;
    let whose = if *path == spec.target_path {
        "the file of its implementation"
    } else if *path == spec.test_path {
        "the file of its tests"
    } else if work.interface_files().contains(path) || lineage.interface_files.contains(path) {
        "an interface file"
    } else if lineage.tests_of_others.contains(path) {
        "a file of another node's tests"
    } else {
        return None;
    };
    Some(Violation::FileOfAnother { node: spec.id.clone(), path: path.clone(), purpose: "contract", whose })
}

/// The files of a child that are not its own: it could change what it is checked by, or what checks a sibling.
fn files_of_others(spec: &Spec, lineage: &Lineage, work: &InitWork, child: &ChildSpec) -> Vec<Violation> {
    let siblings = || work.children().iter().filter(|sibling| sibling.id != child.id);
    let interfaces = [work.interface_files(), lineage.interface_files.clone()].concat();
    let mut tests = [&lineage.tests_of_others[..], &[spec.test_path.clone(), work.contract_suite.clone()]].concat();
    tests.extend(siblings().map(|sibling| sibling.test_path.clone()));
    let targets: Vec<_> = siblings().map(|sibling| &sibling.target_path).chain([&spec.target_path]).collect();
    let mut found = Vec::new();
    for (purpose, path) in [("target", &child.target_path), ("tests", &child.test_path)] {
        let whose = if interfaces.contains(path) {
            "an interface file, and read-only for it"
        } else if tests.contains(path) {
            "a file of another node's tests"
        } else if purpose == "tests" && targets.contains(&path) {
            "the file of another node's implementation"
        } else {
            continue;
        };
        found.push(Violation::FileOfAnother { node: child.id.clone(), path: path.clone(), purpose, whose });
    }
    found
}

/// Checks a question: its sentence must be in the specification (V3-35).
pub fn question_violations(spec: &Spec, question: &ClarificationNeeded) -> Vec<Violation> {
    let sentence = question.spec_sentence.trim();
    let is_there = !sentence.is_empty() && spec.text().contains(sentence);
    let not_there = Violation::NotInSpec { sentence: question.spec_sentence.clone() };
    if is_there { Vec::new() } else { vec![not_there] }
}
