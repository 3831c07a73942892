//! The four included protocols: as a whole, against golden files, and each fact of each step.

use crate::support::{key, shipped};
use expect_test::expect_file;
use interlocking_envoy::Protocol;

/// ENV-17, ENV-18: the printed form. `UPDATE_EXPECT=1` rewrites the files.
#[test]
fn the_whole_is_golden() {
    expect_file!["../golden/implementation.txt"].assert_eq(&shipped("implementation").to_string());
    expect_file!["../golden/debugging.txt"].assert_eq(&shipped("debugging").to_string());
    expect_file!["../golden/discovery.txt"].assert_eq(&shipped("discovery").to_string());
    expect_file!["../golden/bug-discovery.txt"].assert_eq(&shipped("bug-discovery").to_string());
}

fn text(protocol: &Protocol, of: &str) -> String {
    protocol.step(key(of)).unwrap().text.clone()
}

/// Asserts that the facts are in the step's text, in this order.
fn assert_facts(protocol: &str, facts: &[(&str, &str, &[&str])]) {
    let protocol = shipped(protocol);
    for (row, step, facts) in facts {
        let text = text(&protocol, step);
        let mut rest = &*text;
        for fact in *facts {
            let at = rest.find(fact).unwrap_or_else(|| panic!("{row}: step {step} lacks {fact:?} in\n{rest}"));
            rest = &rest[at + fact.len()..];
        }
    }
}

fn inputs(protocol: &str) -> Vec<String> {
    let told = |input: &interlocking_envoy::Input| input.to_string().split(')').next().unwrap().to_owned() + ")";
    shipped(protocol).inputs.iter().map(told).collect()
}

fn outputs(protocol: &str) -> Vec<String> {
    shipped(protocol).outputs.into_iter().map(|output| output.value).collect()
}

fn keys(protocol: &str) -> Vec<String> {
    shipped(protocol).steps.iter().map(|step| step.key.to_string()).collect()
}

/// ENV-32: inputs. ENV-33: outputs. ENV-34: fifteen steps.
#[test]
fn implementation_takes_and_returns() {
    assert_eq!(
        inputs("implementation"),
        ["prompt_num (integer, required)", "variant (string, optional)", "feature_branch (string, required)"]
    );
    let returned = ["{ success: true, merged: true }", "{ success: true, merged: false, reason: \"rejected\" }"];
    assert_eq!(outputs("implementation"), returned);
    assert_eq!(keys("implementation"), (1..=15).map(|number| number.to_string()).collect::<Vec<_>>());
}

/// ENV-35 to ENV-48.
#[test]
fn the_steps_of_implementation() {
    let record = "`envoy plan record-implementation <PROMPT_NUM> [<VARIANT>] --walkthrough \"<STRUCTURED_WALKTHROUGH>\" --iteration <ITERATION>";
    assert_facts(
        "implementation",
        &[
            ("ENV-35", "1", &["`envoy plan read-prompt <PROMPT_NUM> [<VARIANT>]`", "context"]),
            (
                "ENV-36",
                "2",
                &[
                    "`<FEATURE_BRANCH>/implementation-<PROMPT_NUM>[-<VARIANT>]`",
                    "checkout hook",
                    "makes no plan",
                    "`envoy plan` commands read the plan directory of FEATURE_BRANCH",
                ],
            ),
            (
                "ENV-37",
                "3",
                &[
                    "`envoy plan start-prompt <PROMPT_NUM> [<VARIANT>] --specialist \"<AGENT_NAME>\" --worktree \"<WORKTREE_BRANCH>\"`",
                ],
            ),
            (
                "ENV-38",
                "4",
                &[
                    "It does not: create a worktree",
                    "It does:",
                    "Check it out",
                    "`envoy git diff-base`",
                    "`main` or `master`",
                    "what has been done already",
                    "Continue only if",
                    "Resume at the step that fits",
                ],
            ),
            ("ENV-39", "5", &["ITERATION = 1", "REFINEMENT_REASON = \"\"", "set both"]),
            ("ENV-40", "6", &["Create a todo list"]),
            ("ENV-40", "7", &["Implement the todo list"]),
            (
                "ENV-41",
                "8",
                &[record, "[--refinement-reason", "\"initial\" in iteration 1", "refinement in a later one"],
            ),
            (
                "ENV-42",
                "9",
                &[
                    "`envoy gemini review <PROMPT_NUM> [<VARIANT>]`",
                    "{ verdict, thoughts?, answered_questions?, suggested_changes? }",
                ],
            ),
            (
                "ENV-43",
                "10",
                &[
                    "suggested_changes",
                    "Add 1 to ITERATION",
                    "\"Review feedback: ",
                    "thoughts, answered_questions and suggested_changes",
                    record,
                    "\"review-refinement\"",
                ],
            ),
            ("ENV-44", "11", &["Commit", "again until the verdict is passed"]),
            (
                "ENV-45",
                "12",
                &[
                    "Only where requires_manual_testing",
                    "`envoy plan block-prompt-testing-gate <PROMPT_NUM> [<VARIANT>]`",
                    "{ thoughts, passed, refinements?, logs? }",
                    "passed is false",
                    "Add 1 to ITERATION",
                    "\"Testing feedback: ",
                    "Go to step 7",
                    "\"testing-refinement\"",
                ],
            ),
            (
                "ENV-46",
                "13",
                &[
                    "`envoy plan block-prompt-variants-gate <PROMPT_NUM> <VARIANT>`",
                    "no variants, it returns at once",
                    "{ thoughts, variant_solution, reason, unmerged_alternatives?: [branch names] }",
                    "`main`: merged to the feature branch; exactly one",
                    "`alternative`: its worktree is kept, the prompt is marked",
                    "nothing is merged",
                    "`discard`: its branch is renamed",
                    "archive/<WORKTREE_BRANCH>",
                    "worktree is removed",
                    "merged: false, reason: \"discard\"",
                    "merged: false, reason: \"alternative\"",
                    "go on and merge",
                ],
            ),
            (
                "ENV-47",
                "14",
                &[
                    "Commit what remains and merge the worktree to the feature branch",
                    "only the main variant",
                    "commit messages",
                ],
            ),
            (
                "ENV-48",
                "15",
                &[
                    "`envoy plan complete-prompt <PROMPT_NUM> [<VARIANT>]`",
                    "reports the worktrees of alternatives that were not merged",
                ],
            ),
        ],
    );
}

/// ENV-49: inputs are inherited, outputs its own. ENV-56: eighteen steps in this order, four of them inherited.
#[test]
fn debugging_extends_implementation() {
    let (base, debugging) = (shipped("implementation"), shipped("debugging"));
    assert_eq!(debugging.extends, std::slice::from_ref(&base.name));
    assert_eq!(debugging.inputs, base.inputs);
    assert_eq!(outputs("debugging"), outputs("implementation"));
    assert!(debugging.outputs[0].description.contains("fix") && debugging.outputs[1].description.contains("fix"));
    let order = "1 2 3 4 5 6 6.1 6.2 7 8 9 10 11 12 13 13.1 14 15";
    assert_eq!(keys("debugging").join(" "), order);
    assert_eq!(debugging.steps.len(), 18);
    for inherited in ["1", "2", "3", "4", "5", "9", "10", "11", "15"] {
        assert_eq!(text(&debugging, inherited), text(&base, inherited));
    }
}

/// ENV-50 to ENV-55. ENV-89: the cleanup comes after the gate and before the merge.
#[test]
fn the_steps_of_debugging() {
    assert_facts(
        "debugging",
        &[
            ("ENV-50", "6", &["Create a todo list", "logging tasks first"]),
            (
                "ENV-51",
                "6.1",
                &[
                    "[DEBUG-TEMP] markers",
                    "// [DEBUG-TEMP]\n",
                    "`// [DEBUG-TEMP]`",
                    "`# [DEBUG-TEMP]`",
                    "MUST be on consecutive lines below the marker",
                    "blank line MUST come before real code",
                ],
            ),
            (
                "ENV-51",
                "6.2",
                &["`envoy plan block-debugging-logging-gate <PROMPT_NUM> [<VARIANT>]`", "{ thoughts, logs }"],
            ),
            ("ENV-52", "7", &["fix", "hypothesis", "thoughts", "logs"]),
            (
                "ENV-52",
                "8",
                &[
                    "envoy plan record-implementation",
                    "\"initial\" in iteration 1",
                    "\"testing-refinement\" in a later one",
                ],
            ),
            (
                "ENV-53",
                "12",
                &[
                    "Run `envoy plan block-prompt-testing-gate <PROMPT_NUM> [<VARIANT>]`",
                    "{ thoughts, passed, user_required_changes?, logs? }",
                    "passed is false",
                    "Add 1 to ITERATION",
                    "\"Testing feedback: {summary of user_required_changes}\"",
                    // The printed number; the file says 10 (CON-117).
                    "Go to step 12",
                    "\"testing-refinement\"",
                ],
            ),
            (
                "ENV-54",
                "13",
                &[
                    "`envoy plan block-prompt-variants-gate <PROMPT_NUM> <VARIANT> --debug`",
                    "returns at once",
                    "{ thoughts, variant_solution, reason }",
                    "`alternative` is treated as a `discard`",
                    "only one fix can be main",
                    "archived",
                ],
            ),
            (
                "ENV-55",
                "13.1",
                &[
                    "`envoy plan cleanup-debug-logs`",
                    "consecutive lines",
                    "first blank line",
                    "build and tests before you merge",
                ],
            ),
            ("ENV-55", "14", &["Commit", "merge the worktree to the feature branch"]),
        ],
    );
    assert!(!text(&shipped("debugging"), "12").contains("Only where"), "it is unconditional");
    let number = |of: &str| shipped("debugging").step(key(of)).unwrap().number;
    assert!(number("13") < number("13.1") && number("13.1") < number("14"));
}

/// ENV-57: inputs and output. ENV-64: six steps.
#[test]
fn discovery_takes_and_returns() {
    assert_eq!(
        inputs("discovery"),
        [
            "agent_name (string, required)",
            "segment_context (string, required)",
            "approach_references (array, optional)"
        ]
    );
    assert_eq!(outputs("discovery"), ["{ success: true }"]);
    assert_eq!(keys("discovery"), ["1", "2", "3", "4", "5", "6"]);
}

const APPROACH: &str = "`envoy plan write-approach <AGENT_NAME> <approach_num> --description \"<";
const OPTIONS: &str =
    ">\" [--variant <LETTER>] --context \"<full_context>\" --files \"<file1>,<file2>\" [--questions \"<q1>|<q2>\"]`";
const RULES: [&str; 5] = [
    "stands alone OR has variants (A, B, …), NEVER both",
    "ALL have letters (1_A, 1_B)",
    "has no --variant",
    "INVALID: approach 1 + approach 1_A + approach 1_B",
    "VALID: approach 1 (alone), or approach 1_A + 1_B",
];

/// ENV-58 to ENV-63, ENV-65.
#[test]
fn the_steps_of_discovery() {
    assert_facts(
        "discovery",
        &[
            (
                "ENV-58",
                "1",
                &[
                    "documentation first",
                    "`envoy knowledge search docs \"<",
                    "full phrases, not in keywords",
                    "several times",
                    "reuse patterns",
                    "constraints and anti-patterns",
                ],
            ),
            ("ENV-59", "2", &["design manifest", "if one is needed"]),
            (
                "ENV-60",
                "3",
                &[
                    "handed back",
                    "`envoy plan get-finding-approach <specialist_name> <approach_num>` for each",
                    "Address the pending_refinement",
                ],
            ),
            ("ENV-61", "4", &["Gather the code", "extraction skill if there is one"]),
            ("ENV-62", "5", &["key notes", "Refer to the documentation", "step 1"]),
            ("ENV-63", "6", &[APPROACH, OPTIONS, "for each approach"]),
            ("ENV-65", "6", &RULES),
            (
                "ENV-65",
                "6",
                &[
                    "\n1. Propose several variants",
                    "\n2. Letters begin with A",
                    "\n3. Name the files",
                    "\n4. ",
                    "best practices",
                    "\n5. ",
                    "ask",
                ],
            ),
        ],
    );
}

/// ENV-66 to ENV-73.
#[test]
fn bug_discovery_extends_discovery() {
    let (base, bug) = (shipped("discovery"), shipped("bug-discovery"));
    assert_eq!(bug.extends, std::slice::from_ref(&base.name));
    // ENV-66
    assert_eq!(inputs("bug-discovery"), inputs("discovery"));
    assert!(bug.inputs[1].description.contains("the bug") && bug.inputs[1].description.contains("symptoms"));
    assert_eq!(outputs("bug-discovery"), ["{ success: true }"]);
    assert!(bug.outputs[0].description.contains("hypotheses"));
    // ENV-69
    assert_eq!(text(&bug, "3"), text(&base, "3"));
    // ENV-73
    assert_eq!(keys("bug-discovery"), ["1", "2", "3", "4", "5", "6"]);
    // ENV-70
    assert!(text(&bug, "4").starts_with(&format!("{}\nover suspected bug areas", text(&base, "4"))));
    assert_facts(
        "bug-discovery",
        &[
            (
                "ENV-67",
                "1",
                &["<suspected area and symptoms", "anti-patterns", "constraints that a fix has to preserve"],
            ),
            ("ENV-68", "2", &["compiler and the linter", "Capture their errors", "context"]),
            (
                "ENV-71",
                "5",
                &[
                    "Best practices",
                    "Constraints",
                    "Error messages, stack traces and symptoms",
                    "Dependencies and APIs",
                ],
            ),
            ("ENV-72", "6", &[APPROACH, "hypothesis", OPTIONS]),
            ("ENV-72", "6", &RULES),
            (
                "ENV-72",
                "6",
                &[
                    "**hypothesis**",
                    "FREE TEXT",
                    "analysis of the problem area",
                    "logging statements to add",
                    "potential fixes",
                ],
            ),
        ],
    );
}
