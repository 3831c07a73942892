//! Checks a scaffold's plan against its specification, without reading files.

use super::Violation;
use crate::types::scaffold::{ClarificationNeeded, InitWork};
use crate::types::spec::Spec;
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong with a plan: tests for each criterion (V3-46), criteria divided among children (V3-47), ids (V3-12).
pub fn violations(spec: &Spec, work: &InitWork) -> Vec<Violation> {
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
            }
            if let Some(one) = given.insert(id, &child.id).filter(|one| **one != child.id) {
                let (one, other) = (one.clone(), child.id.clone());
                found.push(Violation::SharedCriterion { criterion: id.to_owned(), one, other });
            }
        }
        if work.interface_files().contains(&child.target_path) {
            found.push(Violation::TargetIsInterface { child: child.id.clone(), path: child.target_path.clone() });
        }
    }
    if !work.children().is_empty() && work.interfaces.as_ref().is_none_or(Vec::is_empty) {
        found.push(Violation::NoInterfaces);
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
