//! Prompts as they are rendered. Golden files are in `tests/prompts`.

mod python;

use askama::Template;
use expect_test::expect_file;

use super::*;
use crate::demo;
use crate::language::Language;
use crate::spec::{SpecFormat, Task};
use crate::types::{
    ConcreteExample, EchoChannel, FailurePattern, FailureType, FixApplied, FixType, FunctionSpec, HardeningHint,
    HoleType, Identifier, NonEmpty, PriorTypeFix, PropertySketch, PropertyType, Severity, StructuredFailure,
    TrivialTestsFeedback, TypeHole, UnderstandingState,
};
use crate::types::{MutantEdit, MutationFixTemplateCtx, MutationTemplateCtx, MutationType, SurvivingMutant};
use crate::verdicts::mutation_fix_targets;
use interlocking::rust_source::SourceRules;
use interlocking::toolchain::{CommandLine, NamedCommand};

#[track_caller]
fn golden(name: &str, prompt: &impl Template) -> String {
    let text = prompt.render().unwrap();
    expect_file![format!("{}/tests/prompts/{name}.md", env!("CARGO_MANIFEST_DIR"))].assert_eq(&text);
    assert!(!text.contains("\n\n\n"), "{name}: more than one blank line in a row");
    assert!(!text.lines().any(|line| line.ends_with(' ')), "{name}: a line ends with a space");
    text
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing");
    }
}

fn task() -> Task {
    Task::parse("demo/spec.toml", demo::SPEC, SpecFormat::Toml).unwrap()
}

fn function() -> FunctionSpec {
    let example = |input: &str, expected: &str, edge_case| ConcreteExample {
        description: format!("about {input}"),
        input: input.to_owned(),
        expected: expected.to_owned(),
        edge_case,
    };
    let sketch = |name: &str, invariant: &str, property_type| PropertySketch {
        name: name.to_owned(),
        description: format!("{name} holds."),
        invariant: invariant.to_owned(),
        property_type,
    };
    FunctionSpec {
        name: "Stack::push".to_owned(),
        signature: "pub fn push<T: Into<i64> & Copy>(&mut self, value: T) -> Result<(), Full>".to_owned(),
        brief: "Puts a value on top.".to_owned(),
        behavior: "The value becomes the top, if height < capacity && capacity > 0.".to_owned(),
        examples: NonEmpty::of(example("push 1", "Ok(())", false)).and(example(
            "push onto a full stack",
            "Err(Full(1))",
            true,
        )),
        properties: NonEmpty::of(sketch("prop_undo", "push; pop = id", PropertyType::Inverse)).and(sketch(
            "prop_spread",
            "a(b + c) = ab + ac",
            PropertyType::Other("distributive".to_owned()),
        )),
        priority: 1,
    }
}

fn types() -> TypesAgentOutput {
    TypesAgentOutput {
        type_name: "Stack".to_owned(),
        type_kind: "struct".to_owned(),
        type_description: "A stack.".to_owned(),
        constructors: vec!["Stack::new".to_owned(), "Stack::with_capacity".to_owned()],
        functions: vec![function()],
        imports: vec![],
        design_notes: "Fields are private.".to_owned(),
        blocker: None,
    }
}

fn hole(severity: Severity, description: &str) -> TypeHole {
    TypeHole {
        hole_type: HoleType::RepresentableInvalid,
        description: description.to_owned(),
        invariant_broken: "height <= capacity".to_owned(),
        exploit_sketch: "Build it by hand.".to_owned(),
        severity,
        suggested_fix: "Make the fields private.".to_owned(),
    }
}

fn hints() -> Vec<HardeningHint> {
    vec![HardeningHint {
        context: "Minor, still open: capacity zero".to_owned(),
        guidance: "Try zero.".to_owned(),
        source: "typeAdversary".to_owned(),
    }]
}

fn echoes() -> EchoChannel {
    EchoChannel {
        from_impl: vec![Identifier::new("Stack::push").unwrap()],
        from_tests: vec![Identifier::new("prop_undo").unwrap()],
    }
}

fn tests_context() -> TestsTemplateCtx {
    TestsTemplateCtx {
        type_name: "Stack".to_owned(),
        constructors: types().constructors,
        functions: vec![function()],
        test_path: CratePath::new("tests/properties.rs").unwrap(),
        prior_feedback: Some(TrivialTestsFeedback {
            why_rejected: "They pass on stubs.".to_owned(),
            properties_wrote: vec!["prop_nothing".to_owned()],
            suggestion: "Call the functions.".to_owned(),
        }),
        echoes: Some(echoes()),
        hardening_hints: hints(),
    }
}

fn impl_context() -> ImplTemplateCtx {
    ImplTemplateCtx {
        type_name: "Stack".to_owned(),
        constructors: types().constructors,
        functions: vec![function()],
        impl_path: CratePath::new("src/lib.rs").unwrap(),
        echoes: Some(echoes()),
        hardening_hints: hints(),
    }
}

fn fix_context() -> FixTemplateCtx {
    FixTemplateCtx {
        failures: vec![
            StructuredFailure {
                property_name: "prop_undo".to_owned(),
                failure_type: FailureType::PropertyFailed,
                counterexample: Some("value = 7".to_owned()),
                expected: Some("6".to_owned()),
                actual: Some("8".to_owned()),
                message: "assertion failed".to_owned(),
            },
            StructuredFailure {
                property_name: "prop_spread".to_owned(),
                failure_type: FailureType::ExceptionThrown,
                counterexample: None,
                expected: None,
                actual: None,
                message: "index out of bounds".to_owned(),
            },
        ],
        understanding: UnderstandingState {
            failures_seen: vec![FailurePattern {
                signature: "s".to_owned(),
                affected_fns: vec!["Stack::push".to_owned(), "Stack::pop".to_owned()],
                category: FailureType::PropertyFailed,
                occurrences: 2,
            }],
            fixes_applied: vec![FixApplied {
                function: "Stack::push".to_owned(),
                what_changed: "Compare with >=.".to_owned(),
                why_failed: "One too many.".to_owned(),
                fix_type: FixType::BoundaryFix,
            }],
            learnings: vec!["Limits are inclusive.".to_owned()],
            converging: true,
        },
        functions: vec![function()],
        impl_path: CratePath::new("src/lib.rs").unwrap(),
    }
}

#[test]
fn the_types_prompt() {
    let task = task();
    let text = golden("types", &TypesTpl::new(&task.spec, &task.toolchain));
    // HY-193, TC-16, TC-17: the file with its stubs, and that it has to build.
    has(&text, &["`src/lib.rs`", "cargo build --all-targets", "`todo!()`"]);
    // HY-192: the task, with every criterion.
    has(&text, &["bounded_stack", &task.spec.description]);
    for criterion in &task.spec.acceptance_criteria {
        has(&text, &[criterion]);
    }
    // HY-194, HY-195: the description, with every field of it.
    let schema = serde_json::to_value(schemars::schema_for!(TypesAgentOutput)).unwrap();
    for fields in [&schema["properties"], &schema["$defs"]["FunctionSpec"]["properties"]] {
        for field in fields.as_object().unwrap().keys() {
            has(&text, &[&format!("`{field}`")]);
        }
    }
    // HY-196: that both lists are required, and why.
    has(&text, &["required, at least one", "is refused", "examples ground", "properties define"]);
    // HY-198: the edges, and that others see nothing else.
    has(&text, &["private fields", "Think of the edges", "All they get is what you specify here"]);
}

/// HY-197: the example in the prompt is a specification that parses.
#[test]
fn the_example_in_the_types_prompt_parses() {
    let task = task();
    let text = TypesTpl::new(&task.spec, &task.toolchain).render().unwrap();
    let json = text.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let function: FunctionSpec = serde_json::from_str(json).unwrap();
    assert!(function.examples.iter().any(|example| example.edge_case));
    assert_eq!(function.properties.len(), 2);
}

/// What a real agent must know and a scripted one need not: where it works, that its questions are not answered, that it must not
/// commit, and how its answer is read.
#[test]
fn the_ground_rules() {
    let toolchain = task().toolchain;
    let text = golden("ground_rules", &GroundRules::new(&toolchain, Language::Rust));
    has(&text, &["own copy", "`blocker`", "Do not commit", "structured output"]);
}

/// TC-01, TC-02, TC-05, TC-12: prompts name the configured commands, whatever they are.
#[test]
fn prompts_name_the_configured_commands() {
    let task = task();
    let toolchain = Toolchain {
        build_command: CommandLine::new("make", &["all"]),
        test_command: CommandLine::new("./check", &["--every one"]),
        commands: [("lint".to_owned(), NamedCommand::new(CommandLine::new("./lint", &["all"])))].into(),
        source: SourceRules {
            stub_markers: vec!["undefined()".to_owned()],
            property_prefix: "law_".to_owned(),
            ..SourceRules::default()
        },
        ..Toolchain::default()
    };
    let types = TypesTpl::new(&task.spec, &toolchain).render().unwrap();
    has(&types, &["`make all`", "`undefined()`", "`law_`"]);
    let rules = GroundRules::new(&toolchain, Language::Rust).render().unwrap();
    has(&rules, &["`make all` and `./check '--every one'`, for lint `./lint all`, as they stand"]);
    let tests = TestsTpl::new(&tests_context(), &toolchain).render().unwrap();
    has(&tests, &["`make all`", "`./check '--every one'`", "`law_`"]);
    let fix = FixTpl::new(fix_context(), &toolchain).render().unwrap();
    has(&fix, &["`make all`, `./check '--every one'`"]);
    for text in [types, tests, fix, ImplTpl::new(&impl_context(), &toolchain).render().unwrap()] {
        assert!(!text.contains("cargo"));
    }
}

/// HY-232, CON-96: types, holes with severity and suggestion, attempt of maximum, earlier repairs.
#[test]
fn the_types_fix_prompt() {
    let task = task();
    let found = TypeHolesFound {
        original_types: types(),
        holes: vec![hole(Severity::Major, "Fields are public."), hole(Severity::Minor, "No capacity.")],
        attempt: 2,
        max_attempts: 5,
        prior_fixes: vec![PriorTypeFix {
            attempt: 1,
            holes: vec![hole(Severity::Critical, "No constructor.")],
            design_notes: "Added one.".to_owned(),
        }],
    };
    let text = golden("types_fix", &TypesFixTpl::new(&found, &task.spec, &task.toolchain));
    has(&text, &["repair 2 of at most 5", "**Major**", "Fields are public.", "Suggested: Make the fields private."]);
    has(&text, &["Earlier repairs", "Repair 1: Added one.", "Critical, No constructor.", "Stack::push"]);
    let first = TypeHolesFound { attempt: 1, prior_fixes: vec![], ..found };
    let text = golden("types_fix_first", &TypesFixTpl::new(&first, &task.spec, &task.toolchain));
    assert!(!text.contains("Earlier repairs"));
}

#[test]
fn the_type_adversary_prompt() {
    let path = CratePath::new("src/lib.rs").unwrap();
    let constraints = vec![
        "```rust\npub struct Stack {\n    items: Vec<i64>,\n}\n```".to_owned(),
        "```rust\npub struct Full(pub i64)\n```".to_owned(),
    ];
    let types = types();
    let prompt = TypeAdversaryTpl::new(&types, &path, constraints.clone(), "rust-analyzer 1.95.0".to_owned());
    let text = golden("type_adversary", &prompt);
    // HY-165: the data types, and the source of that.
    has(&text, &["As rust-analyzer 1.95.0 has it:", &constraints[0], &constraints[1]]);
    // HY-214: the mission.
    has(&text, &["red team", "break this type system", "`Stack::new`, `Stack::with_capacity`"]);
    // HY-215: types, signatures and properties.
    has(&text, &[&function().signature, &function().brief, "push; pop = id", "a(b + c) = ab + ac"]);
    // HY-216, HY-217: the four questions, and the four classes of holes.
    has(&text, &["empty that claims not to be", "inside is invalid", "no answer for some input", "two meanings"]);
    for class in ["RepresentableInvalid", "LeakyAbstraction", "PartialFunction", "TypeConfusion"] {
        has(&text, &[&format!("**{class}**:")]);
    }
    // HY-218: what to answer; nothing is an answer.
    for field in ["holes", "holeType", "description", "severity", "suggestedFix", "analysis", "confident"] {
        has(&text, &[&format!("`{field}`")]);
    }
    has(&text, &["an empty list is a good answer"]);
}

#[test]
fn the_tests_prompt() {
    let toolchain = Toolchain::default();
    let text = golden("tests_again", &TestsTpl::new(&tests_context(), &toolchain));
    // HY-199: the role, and that it is blind.
    has(&text, &["You write tests", "you cannot see it", "verify the **specification**"]);
    // HY-200: why earlier tests were refused.
    has(&text, &["were refused", "They pass on stubs.", "`prop_nothing`", "Call the functions.", "Write new tests"]);
    // HY-201: the other side's names.
    has(&text, &["the other side works on", "`Stack::push`", "Its code stays out of your sight"]);
    // HY-202, HY-12: what adversaries found.
    has(&text, &["From typeAdversary: Minor, still open: capacity zero", "Try zero.", "exercise these"]);
    // HY-203: the specification.
    has(&text, &["`Stack::new`, `Stack::with_capacity`", &function().signature, &function().behavior]);
    // HY-204: every example.
    has(&text, &["must be covered", "push 1 → Ok(())", "1 **(edge case)**: about push onto a full stack"]);
    // HY-205: every property.
    has(&text, &["`prop_spread` (distributive): prop_spread holds. Invariant: a(b + c) = ab + ac"]);
    // HY-206, TC-08, TC-19: what to deliver, with the commands.
    has(&text, &["`tests/properties.rs`", "generators", "cargo build --all-targets", "cargo test", "must fail"]);
    // HY-207: the rule.
    has(&text, &["passes on stubs is trivial", "Set `selfVerified` only if"]);
    // A claim counts only if the file shows it.
    has(&text, &["counts only where it can be read", "compare what the function returns with its outcome"]);
    // HY-208: every field of the answer.
    let schema = serde_json::to_value(schemars::schema_for!(crate::types::TestsAgentOutput)).unwrap();
    for field in schema["properties"].as_object().unwrap().keys() {
        has(&text, &[&format!("`{field}`")]);
    }
    // HY-200, HY-201, HY-202: a prompt without any of these does not mention them.
    let bare = TestsTemplateCtx { prior_feedback: None, echoes: None, hardening_hints: vec![], ..tests_context() };
    let text = golden("tests", &TestsTpl::new(&bare, &toolchain));
    for absent in ["refused\n", "the other side works on", "adversaries found", "src/lib.rs"] {
        assert!(!text.contains(absent), "{absent}");
    }
}

#[test]
fn the_implementation_prompt() {
    let toolchain = Toolchain::default();
    let text = golden("implementation_again", &ImplTpl::new(&impl_context(), &toolchain));
    // HY-209: the role, and that it is blind.
    has(&text, &["You write the implementation", "you cannot see them", "Work from the **specification**"]);
    // HY-210: the other side's names.
    has(&text, &["the other side asserts", "`prop_undo`", "The tests' code stays out of your sight"]);
    // HY-211, HY-12: what adversaries found. HY-212: the specification.
    has(&text, &["capacity zero", "robust against these", &function().signature, &function().behavior]);
    has(&text, &["- push 1 → Ok(())\n", "- push onto a full stack → Err(Full(1)) **(edge case)**", "- push; pop = id"]);
    // HY-213, TC-19: what to deliver, with the command and every field.
    has(&text, &["Replace the stubs in `src/lib.rs`", "cargo build --all-targets"]);
    let schema = serde_json::to_value(schemars::schema_for!(crate::types::ImplAgentOutput)).unwrap();
    for field in schema["properties"].as_object().unwrap().keys() {
        has(&text, &[&format!("`{field}`")]);
    }
    // HY-210, HY-211: a prompt without any of these does not mention them.
    let bare = ImplTemplateCtx { echoes: None, hardening_hints: vec![], ..impl_context() };
    let text = golden("implementation", &ImplTpl::new(&bare, &toolchain));
    for absent in ["the other side asserts", "adversaries found", "tests/properties.rs", "prop_undo"] {
        assert!(!text.contains(absent), "{absent}");
    }
}

#[test]
fn the_fix_prompt() {
    let toolchain = Toolchain::default();
    let text = golden("fix_again", &FixTpl::new(fix_context(), &toolchain));
    // HY-219: each failure, with everything that is known of it.
    has(
        &text,
        &[
            "`prop_undo` (PropertyFailed): assertion failed\n  - counterexample: value = 7\n  - expected: 6\n  - actual: 8",
        ],
    );
    has(&text, &["`prop_spread` (ExceptionThrown): index out of bounds\n\n"]);
    // HY-220, CON-62: behaviour and invariants, which the prompt's context has.
    has(&text, &[&function().behavior, "push; pop = id"]);
    // HY-221: what to deliver.
    has(&text, &["root cause", "Change `src/lib.rs`", "Build, then test: `cargo build --all-targets`, `cargo test"]);
    // HY-222: the tests are right.
    has(&text, &["**The tests are right.**", "seen to fail on stubs", "Fix the implementation and nothing else"]);
    // HY-223, HY-224, HY-13: earlier fixes, and what they taught.
    has(&text, &["`Stack::push`: Compare with >=. (BoundaryFix)", "Limits are inclusive."]);
    // HY-225: patterns.
    has(&text, &["PropertyFailed, seen 2 times, in Stack::push, Stack::pop"]);
    // HY-226: to build on that, and what to answer.
    has(&text, &["Build on what earlier rounds taught", "Do not try again"]);
    let schema = serde_json::to_value(schemars::schema_for!(crate::types::FixAgentOutput)).unwrap();
    for field in schema["properties"].as_object().unwrap().keys() {
        has(&text, &[&format!("`{field}`")]);
    }
    // HY-223, HY-224, HY-225: the prompt of the first round has none of it.
    let bare = FixTemplateCtx { understanding: UnderstandingState::default(), ..fix_context() };
    let text = golden("fix", &FixTpl::new(bare.clone(), &toolchain));
    for absent in ["Fixes so far", "What they taught", "Patterns across rounds"] {
        assert!(!text.contains(absent), "{absent}");
    }
}

fn survivor() -> SurvivingMutant {
    SurvivingMutant {
        function: "Stack::push".to_owned(),
        mutation_type: MutationType::BoundaryMutation,
        description: "The limit is one higher.".to_owned(),
        why_dangerous: "It overflows.".to_owned(),
        missing_test: "Push to the limit.".to_owned(),
        suggested_prop: PropertySketch {
            name: "prop_limit".to_owned(),
            description: "The limit holds.".to_owned(),
            invariant: "height <= capacity".to_owned(),
            property_type: PropertyType::Boundary,
        },
        edit: Some(MutantEdit {
            original: "self.items.len() >= 3".to_owned(),
            replacement: "self.items.len() > 3".to_owned(),
        }),
    }
}

#[test]
fn the_mutation_adversary_prompt() {
    let toolchain = Toolchain::default();
    let context = MutationTemplateCtx {
        impl_path: CratePath::new("src/lib.rs").unwrap(),
        test_path: CratePath::new("tests/properties.rs").unwrap(),
        functions: vec![function()],
        targets: vec!["Stack::push".to_owned(), "grow".to_owned()],
        targets_by: "rust-analyzer 1.95.0".to_owned(),
    };
    let text = golden("mutation_adversary", &MutationAdversaryTpl::new(&context, &toolchain));
    // HY-227: the role, and what to read.
    has(&text, &["red team", "where the tests would let a bug through", "change no file"]);
    has(&text, &["Read these with your tools", "`src/lib.rs`", "`tests/properties.rs`"]);
    // HY-228: what the functions have to do.
    has(&text, &["### `Stack::push`", &function().behavior]);
    // HY-164: the functions, and the source of the list.
    has(&text, &["by rust-analyzer 1.95.0:\n\n- `Stack::push`\n- `grow`\n"]);
    // HY-229: the mission in four steps.
    has(&text, &["1. Read the implementation", "2. Think of mutants", "3. Judge of each", "4. Report each"]);
    has(&text, &["with which every test would still pass: there is a gap in the tests"]);
    // HY-230: the seven kinds, each with what to change.
    for kind in [
        "BoundaryMutation",
        "ConditionFlip",
        "OffByOne",
        "SwappedArgs",
        "RemovedCheck",
        "ChangedOperator",
        "ReturnedWrongBranch",
    ] {
        has(&text, &[&format!("- **{kind}**: ")]);
    }
    // HY-231: every field of the answer, a suggestion for each survivor, and how it is used.
    let schema = serde_json::to_value(schemars::schema_for!(crate::types::MutationAdversaryOutput)).unwrap();
    let of = |name: &str| schema["$defs"][name]["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let own: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    for field in [own, of("SurvivingMutant"), of("PropertySketch"), of("MutantEdit")].concat() {
        has(&text, &[&format!("`{field}`")]);
    }
    has(
        &text,
        &[
            "a property that would catch it",
            "Your findings decide what is tested next",
            "an empty list is a good answer",
        ],
    );
}

/// HY-250, HY-253: what to add and why, which round it is, and nothing of the implementation.
#[test]
fn the_mutation_fix_prompt() {
    let toolchain = Toolchain::default();
    let context = MutationFixTemplateCtx {
        fix_targets: mutation_fix_targets(&[survivor()]),
        functions: vec![function()],
        test_path: CratePath::new("tests/properties.rs").unwrap(),
        attempt: 2,
        max_attempts: 5,
    };
    let text = golden("mutation_fix", &MutationFixTpl::new(context, &toolchain));
    has(&text, &["round 2 of at most 5", "`prop_limit` (Boundary), for `Stack::push`: The limit holds."]);
    has(&text, &["Invariant: height <= capacity", "The limit is one higher. It overflows."]);
    has(&text, &["take nothing away", "**every property must fail**", "cargo build --all-targets", "cargo test"]);
    assert!(!text.contains("self.items"), "the change itself is code of the other side");
    let schema = serde_json::to_value(schemars::schema_for!(crate::types::TestsAgentOutput)).unwrap();
    for field in schema["properties"].as_object().unwrap().keys() {
        has(&text, &[&format!("`{field}`")]);
    }
}
