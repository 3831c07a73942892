//! The prompts of agents of a project in Python.

use super::*;

/// A task in Python, and its tools.
fn in_python() -> (Task, Toolchain) {
    let mut task = task();
    task.spec.impl_path = CratePath::new("src/bounded_stack.py").unwrap();
    task.spec.test_path = CratePath::new("tests/test_bounded_stack.py").unwrap();
    let toolchain = Toolchain {
        build_command: CommandLine::new("python3", &["-m", "compileall", "-q", "src", "tests"]),
        test_command: CommandLine::new("python3", &["-m", "pytest"]),
        source: SourceRules { stub_markers: vec!["NotImplementedError".to_owned()], ..SourceRules::default() },
        ..Toolchain::default()
    };
    (task, toolchain)
}

/// TC-25: every prompt, and the ground rules, name Python and its tools, and no other language's.
#[test]
fn prompts_speak_the_language_of_the_project() {
    let (task, toolchain) = in_python();
    let (implementation, tests) = (task.spec.impl_path.clone(), task.spec.test_path.clone());
    let rules = golden("ground_rules_python", &GroundRules::new(&toolchain, Language::of_task(&task.spec)));
    has(&rules, &["one Python module", "Hypothesis", "pytest", "Pyright", "`python3 -m pytest`"]);
    let types_text = golden("types_python", &TypesTpl::new(&task.spec, &toolchain));
    has(
        &types_text,
        &["`raise` with `NotImplementedError`", "Hypothesis, with pytest", "`Type.method`", "def withdraw"],
    );
    let json = types_text.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let entry: FunctionSpec = serde_json::from_str(json).unwrap();
    assert!(entry.examples.iter().any(|example| example.edge_case) && entry.properties.len() == 2);

    // The agents' own outputs are in Python.
    let function = FunctionSpec {
        signature: "def push(self, value: int) -> None".to_owned(),
        name: "Stack.push".to_owned(),
        behavior: "The value becomes the top.".to_owned(),
        ..function()
    };
    let types =
        TypesAgentOutput { functions: vec![function.clone()], constructors: vec!["Stack".to_owned()], ..types() };
    let context = TestsTemplateCtx {
        functions: vec![function.clone()],
        test_path: tests.clone(),
        constructors: types.constructors.clone(),
        echoes: None,
        ..tests_context()
    };
    let tests_text = golden("tests_python", &TestsTpl::new(&context, &toolchain));
    has(&tests_text, &["in Python", "Hypothesis strategies", "an error of syntax or of an import", "`stack: T = …`"]);
    let of_implementation = ImplTemplateCtx {
        functions: vec![function.clone()],
        impl_path: implementation.clone(),
        constructors: types.constructors.clone(),
        echoes: None,
        ..impl_context()
    };
    let found = TypeHolesFound {
        original_types: types.clone(),
        holes: vec![hole(Severity::Major, "Attributes are public.")],
        attempt: 1,
        max_attempts: 5,
        prior_fixes: vec![],
    };
    let fix = FixTemplateCtx {
        functions: vec![function.clone()],
        impl_path: implementation.clone(),
        understanding: UnderstandingState::default(),
        ..fix_context()
    };
    let attacked = MutationTemplateCtx {
        impl_path: implementation.clone(),
        test_path: tests.clone(),
        functions: vec![function.clone()],
        targets: vec!["Stack.push".to_owned()],
        targets_by: "Pyright 1.1".to_owned(),
    };
    let strengthen = MutationFixTemplateCtx {
        fix_targets: vec![],
        functions: vec![function],
        test_path: tests,
        attempt: 1,
        max_attempts: 5,
    };
    let constraints = vec!["class Stack".to_owned()];
    let all = [
        rules,
        types_text,
        tests_text,
        TypesFixTpl::new(&found, &task.spec, &toolchain).render().unwrap(),
        TypeAdversaryTpl::new(&types, &implementation, constraints, "Pyright 1.1".to_owned()).render().unwrap(),
        ImplTpl::new(&of_implementation, &toolchain).render().unwrap(),
        FixTpl::new(fix, &toolchain).render().unwrap(),
        MutationAdversaryTpl::new(&attacked, &toolchain).render().unwrap(),
        MutationFixTpl::new(strengthen, &toolchain).render().unwrap(),
    ];
    for text in all {
        for word in
            ["cargo", "Cargo", "crate", "Rust", "proptest", "todo!", "newtype", "macro", "`::", "panic", "&&", "!x"]
        {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}
