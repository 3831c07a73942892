//! The rule of the variants gate, without git.

use interlocking_envoy::gate::{Answer, Decision, Decisions, GateReturn, RuleError};
use interlocking_envoy::{Prompt, PromptKind};
use serde_json::json;

fn prompt(variant: &str) -> Prompt {
    let variant = (!variant.is_empty()).then(|| variant.parse().unwrap());
    Prompt { feature_branch: "feature/tides".to_owned(), number: 3, variant, kind: PromptKind::Implementation }
}

fn answer(decision: Decision) -> Answer {
    Answer { decision, reason: "because".to_owned(), thoughts: "well".to_owned() }
}

fn record(decisions: &mut Decisions, variant: &str, decision: Decision) -> Result<GateReturn, RuleError> {
    let prompt = prompt(variant);
    decisions.record(&prompt, &prompt.worktree_branches()[0], &answer(decision))
}

/// ENV-36: the names of branches. The second name is for repositories in which the feature's branch occupies the first.
#[test]
fn branches_are_named_for_their_prompt() {
    assert_eq!(
        prompt("").worktree_branches(),
        ["feature/tides/implementation-3", "feature/tides-prompts/implementation-3"]
    );
    assert_eq!(prompt("B").worktree_branches()[0], "feature/tides/implementation-3-B");
}

#[test]
fn a_branch_tells_its_feature() {
    for (branch, feature) in [
        ("feature/tides/implementation-3", Some("feature/tides")),
        ("tides/implementation-3-A", Some("tides")),
        ("tides-prompts/implementation-12-B", Some("tides")),
        ("a/implementation-1/implementation-2", Some("a/implementation-1")),
        ("main", None),
        ("tides/implementation-x", None),
        ("tides/implementation-3-AB", None),
        ("implementation-3", None),
    ] {
        assert_eq!(Prompt::feature_of(branch), feature, "{branch}");
    }
}

/// ENV-75
#[test]
fn a_second_main_is_refused() {
    let mut decisions = Decisions::default();
    record(&mut decisions, "A", Decision::Main).unwrap();
    let before = decisions.clone();
    let error = record(&mut decisions, "B", Decision::Main).unwrap_err();
    assert_eq!(
        error.to_string(),
        "prompt 3_B of feature/tides cannot be main, because variant A already is: decide `alternative` or `discard`; or revert what was \
         merged of A, and remove A from .git/interlocking/envoy-variants.json"
    );
    assert_eq!(decisions, before);
    // The same once more is no second one, and other prompts and features have mains of their own.
    record(&mut decisions, "A", Decision::Main).unwrap();
    for other in [Prompt { number: 4, ..prompt("B") }, Prompt { feature_branch: "other".to_owned(), ..prompt("B") }] {
        decisions.record(&other, "branch", &answer(Decision::Main)).unwrap();
    }
    record(&mut decisions, "B", Decision::Alternative).unwrap();
    assert!(matches!(record(&mut decisions, "A", Decision::Discard), Err(RuleError::IsMain { .. })));
    record(&mut decisions, "B", Decision::Discard).unwrap();
    assert!(matches!(record(&mut decisions, "B", Decision::Alternative), Err(RuleError::IsDiscarded { .. })));
}

/// ENV-76: only main is merged. ENV-79: the others return success, merged and the decision as reason (CON-119).
#[test]
fn only_main_goes_on() {
    let mut decisions = Decisions::default();
    let alternative = record(&mut decisions, "A", Decision::Alternative).unwrap();
    assert_eq!(
        serde_json::to_value(&alternative).unwrap(),
        json!({
            "thoughts": "well",
            "variant_solution": "alternative",
            "reason": "because",
            "unmerged_alternatives": ["feature/tides/implementation-3-A"],
            "result": { "success": true, "merged": false, "reason": "alternative" },
        })
    );
    let discard = record(&mut decisions, "B", Decision::Discard).unwrap();
    assert_eq!(
        serde_json::to_value(&discard.result).unwrap(),
        json!({ "success": true, "merged": false, "reason": "discard" })
    );
    let main = record(&mut decisions, "C", Decision::Main).unwrap();
    assert_eq!(main.result, None);
    assert_eq!(main.variant_solution, Some(Decision::Main));
}

/// ENV-77: the result is immediate, and nothing is recorded (CON-129).
#[test]
fn a_prompt_without_variants_returns_at_once() {
    let mut decisions = Decisions::default();
    let returned = record(&mut decisions, "", Decision::Discard).unwrap();
    assert_eq!(returned, GateReturn::without_variants());
    assert_eq!(
        serde_json::to_value(returned).unwrap(),
        json!({ "thoughts": "", "variant_solution": null, "reason": "", "result": null })
    );
    assert_eq!(decisions, Decisions::default());
}

/// ENV-78
#[test]
fn of_a_debug_prompt_an_alternative_is_a_discard() {
    let mut decisions = Decisions::default();
    let debug = Prompt { kind: PromptKind::Debug, ..prompt("A") };
    let returned = decisions.record(&debug, "branch", &answer(Decision::Alternative)).unwrap();
    assert_eq!(returned.variant_solution, Some(Decision::Discard));
    assert_eq!(returned.result.unwrap().reason, "discard");
    assert!(returned.unmerged_alternatives.is_empty());
    let main =
        decisions.record(&Prompt { kind: PromptKind::Debug, ..prompt("B") }, "b", &answer(Decision::Main)).unwrap();
    assert_eq!(main.result, None);
}

/// ENV-80: the report of `complete-prompt`.
#[test]
fn completing_reports_unmerged_alternatives() {
    let mut decisions = Decisions::default();
    record(&mut decisions, "A", Decision::Alternative).unwrap();
    record(&mut decisions, "B", Decision::Discard).unwrap();
    record(&mut decisions, "D", Decision::Alternative).unwrap();
    let main = record(&mut decisions, "C", Decision::Main).unwrap();
    assert_eq!(main.unmerged_alternatives, ["feature/tides/implementation-3-A", "feature/tides/implementation-3-D"]);
    assert_eq!(
        serde_json::to_value(decisions.completion("feature/tides", 3)).unwrap(),
        json!({ "unmerged_alternatives": [
            { "variant": "A", "branch": "feature/tides/implementation-3-A", "reason": "because" },
            { "variant": "D", "branch": "feature/tides/implementation-3-D", "reason": "because" },
        ] })
    );
    assert!(decisions.completion("feature/tides", 4).unmerged_alternatives.is_empty());
    let kept = serde_json::to_string(&decisions).unwrap();
    assert_eq!(serde_json::from_str::<Decisions>(&kept).unwrap(), decisions);
}

/// Two decisions have alternative names (CON-118), and are written with their own.
#[test]
fn decisions_have_other_names() {
    for (text, decision) in [
        ("main", Decision::Main),
        ("alternative", Decision::Alternative),
        ("accepted", Decision::Alternative),
        ("discard", Decision::Discard),
        ("rejected", Decision::Discard),
    ] {
        assert_eq!(text.parse(), Ok(decision));
        assert_eq!(serde_json::from_value::<Decision>(json!(text)).unwrap(), decision);
    }
    assert_eq!(serde_json::to_value(Decision::ALL).unwrap(), json!(["main", "alternative", "discard"]));
    assert!("merge".parse::<Decision>().is_err());
}
