//! What is left to do after a run.

use crate::types::{
    Action, HoleType, HybridResult, MutationAdversary, MutationAdversaryResult, MutationType, SurvivingMutant,
    TypeHole, WorkItem,
};

/// The work items that follow from a run's findings: first the types, then the tests.
pub fn work_items(result: &HybridResult) -> Vec<WorkItem> {
    let holes = result.type_adversary.iter().flat_map(|found| &found.output.holes).map(of_hole);
    let survivors = match &result.mutation_adversary {
        MutationAdversary::Ran(found) => &found.survivors[..],
        MutationAdversary::NotRun | MutationAdversary::NoReport { .. } => &[],
    };
    let mut items: Vec<WorkItem> = holes.chain(survivors.iter().map(of_survivor)).collect();
    if let MutationAdversary::Ran(MutationAdversaryResult { mechanical: Some(mechanical), .. }) =
        &result.mutation_adversary
    {
        let item = |mutant: &String| WorkItem {
            action: Action::LookAtMutant,
            about: mutant.clone(),
            detail: "no test notices this change; it may be none in what the code does".to_owned(),
            suggested_property: None,
        };
        items.extend(mechanical.survivors.iter().map(item));
    }
    if let Some(coverage) = &result.tests_coverage {
        let item = |action, about: &str, detail: &str| WorkItem {
            action,
            about: about.to_owned(),
            detail: detail.to_owned(),
            suggested_property: None,
        };
        let functions = coverage.functions_uncovered.iter();
        items.extend(functions.map(|name| item(Action::CoverFunction, name, "no property is seen to call it")));
        let sketches = coverage.sketches_uncovered.iter();
        items.extend(sketches.map(|name| item(Action::WriteSketch, name, "no property is seen to implement it")));
        let missing = coverage.examples_total.saturating_sub(coverage.examples_covered);
        if missing > 0 {
            let detail = format!("{missing} of {} examples are asserted by no property", coverage.examples_total);
            items.push(item(Action::ExpandExamples, "the contract's examples", &detail));
        }
    }
    items
}

fn of_hole(hole: &TypeHole) -> WorkItem {
    let action = match hole.hole_type {
        HoleType::RepresentableInvalid => Action::RedesignType,
        HoleType::LeakyAbstraction => Action::HideInside,
        HoleType::PartialFunction => Action::MakeTotal,
        HoleType::TypeConfusion => Action::SplitType,
    };
    let detail = format!("{}: {} {}", hole.severity, hole.description, hole.suggested_fix);
    WorkItem { action, about: hole.invariant_broken.clone(), detail, suggested_property: None }
}

fn of_survivor(survivor: &SurvivingMutant) -> WorkItem {
    let action = match survivor.mutation_type {
        MutationType::BoundaryMutation => Action::AddBoundaryProperty,
        _ => Action::AddProperty,
    };
    let detail = format!("{} {}", survivor.description, survivor.missing_test);
    WorkItem {
        action,
        about: survivor.function.clone(),
        detail,
        suggested_property: Some(survivor.suggested_prop.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// HY-239, HY-240, HY-241, HY-242, HY-243: what each finding asks for. HY-244: a suggestion can stand in a contract as it is.
    #[test]
    fn each_finding_asks_for_something() {
        let hole = |class: &str| {
            json!({"holeType": class, "description": "Fields are public.", "invariantBroken": "height <= capacity",
                "exploitSketch": "e", "severity": "Minor", "suggestedFix": "Make them private."})
        };
        let classes = ["RepresentableInvalid", "LeakyAbstraction", "PartialFunction", "TypeConfusion"];
        let sketch = |name: &str| json!({"name": name, "description": "d", "invariant": "i", "type": "Boundary"});
        let survivor = |kind: &str| {
            json!({"function": "push", "mutationType": kind, "description": "Off.", "whyDangerous": "w", "missingTest": "Push more.",
                "suggestedProp": sketch("prop_limit")})
        };
        let survivors = [survivor("BoundaryMutation"), survivor("ConditionFlip")];
        let result: HybridResult = serde_json::from_value(json!({
            "success": false, "failure": {"StubNotUndefined": {"function": "f"}},
            "lattice": serde_json::to_value(crate::types::LatticeReport::new(
                crate::types::StrictnessConfig::default(), &std::collections::BTreeMap::new())).unwrap(),
            "attempts": 0, "spec": [],
            "testsCoverage": {"functionsCovered": [], "functionsUncovered": ["peek"], "examplesCovered": 3, "examplesTotal": 5,
                "sketchesCovered": [], "sketchesUncovered": ["prop_peek"]},
            "understanding": {"failuresSeen": [], "fixesApplied": [], "learnings": [], "converging": true},
            "typeAdversary": {"output": {"holes": classes.map(hole), "analysis": "a", "confident": true}, "verdict": "TypeSystemMinorHoles"},
            "mutationAdversary": {"Ran": {"output": {"mutantsTried": 9, "survivors": survivors, "analysis": "a"},
                "verdict": "TestSuiteHasGaps", "survivors": survivors,
                "mechanical": {"tried": 2, "caught": 1, "survivors": ["src/lib.rs:3:1: in `push`, `a` becomes `b`"]}}},
            "witness": {"observations": [], "narrative": "n", "concerns": [], "suggestions": []}, "totalCost": 0
        }))
        .unwrap();
        let items = work_items(&result);
        let seen: Vec<(Action, &str)> = items.iter().map(|item| (item.action, item.about.as_str())).collect();
        assert_eq!(
            seen,
            [
                (Action::RedesignType, "height <= capacity"),
                (Action::HideInside, "height <= capacity"),
                (Action::MakeTotal, "height <= capacity"),
                (Action::SplitType, "height <= capacity"),
                (Action::AddBoundaryProperty, "push"),
                (Action::AddProperty, "push"),
                (Action::LookAtMutant, "src/lib.rs:3:1: in `push`, `a` becomes `b`"),
                (Action::CoverFunction, "peek"),
                (Action::WriteSketch, "prop_peek"),
                (Action::ExpandExamples, "the contract's examples"),
            ]
        );
        assert_eq!(items[0].detail, "Minor: Fields are public. Make them private.");
        assert_eq!(items[9].detail, "2 of 5 examples are asserted by no property");
        let suggested = serde_json::to_value(&items[4].suggested_property).unwrap();
        let function = json!({"name": "push", "signature": "s", "brief": "b", "behavior": "b", "priority": 0,
            "examples": [{"description": "d", "input": "i", "expected": "e", "edgeCase": false}], "properties": [suggested]});
        let function: crate::types::FunctionSpec = serde_json::from_value(function).unwrap();
        assert_eq!(function.properties.iter().next().unwrap().name, "prop_limit");
    }
}
