//! Specifications, good and bad.

use expect_test::{Expect, expect};

use super::*;
use interlocking::toolchain::{CommandLine, Harness};

const GOOD: &str = r#"
moduleName = "bounded_stack"
description = "A stack."
acceptanceCriteria = ["It stacks."]
implPath = "src/lib.rs"
testPath = "tests/properties.rs"
"#;

#[track_caller]
fn check(text: &str, format: SpecFormat, expected: Expect) {
    let name = if format == SpecFormat::Toml { "spec.toml" } else { "spec.json" };
    let shown = match Task::parse(name, text, format) {
        Ok(task) => format!("{task:#?}"),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

/// HY-71, HY-73, TC-01, TC-02: omitted fields have their defaults.
#[test]
fn defaults_fill_what_is_left_out() {
    let task = Task::parse("spec.toml", GOOD, SpecFormat::Toml).unwrap();
    assert_eq!(
        task.spec.strictness,
        StrictnessConfig { mutation_blocking: false, max_fix_attempts: 5, require_coverage: true }
    );
    assert_eq!(task.toolchain, Toolchain::default());
    assert_eq!(task.toolchain.build_command.to_string(), "cargo build --all-targets");
    assert!(task.toolchain.test_command.to_string().starts_with("cargo test"));
}

/// TC-15: the module's name is a path in the crate.
#[test]
fn a_module_is_named_as_rust_names_it() {
    for name in ["bounded_stack", "data::stack", "a::b::c"] {
        let task = Task::parse("spec.toml", &GOOD.replace("\"bounded_stack\"", &format!("{name:?}")), SpecFormat::Toml);
        assert_eq!(task.unwrap().spec.module_name, name);
    }
    for name in ["Data.Stack", "data::", "1st", ""] {
        let refused =
            Task::parse("spec.toml", &GOOD.replace("\"bounded_stack\"", &format!("{name:?}")), SpecFormat::Toml);
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("moduleName") && said.contains("joined by `::`"), "{said}");
    }
}

/// HY-74: the strict preset is one word.
#[test]
fn strict_is_a_preset() {
    let strict = format!("{GOOD}strictness = \"strict\"\n");
    let task = Task::parse("spec.toml", &strict, SpecFormat::Toml).unwrap();
    assert_eq!(
        task.spec.strictness,
        StrictnessConfig { mutation_blocking: true, max_fix_attempts: 5, require_coverage: true }
    );
}

/// TC-01, TC-02, TC-05, TC-12, TC-25: nothing in the file ties it to cargo.
#[test]
fn the_toolchain_is_configurable() {
    let text = format!(
        "{GOOD}[toolchain]\nbuildCommand = [\"true\"]\ntest_command = [\"sh\", \"check.sh\"]\nharness = \"exitCode\"\n\
         stubMarkers = [\"undefined()\"]\npropertyPrefix = \"law_\"\n"
    );
    let task = Task::parse("spec.toml", &text, SpecFormat::Toml).unwrap();
    assert_eq!(task.toolchain.build_command, CommandLine::new("true", &[]));
    assert_eq!(task.toolchain.test_command, CommandLine::new("sh", &["check.sh"]));
    assert_eq!(task.toolchain.harness, Harness::ExitCode);
    assert_eq!(task.toolchain.source.property_prefix, "law_");
}

/// TC-03, TC-23: further commands, by name; a mistake in one is reported at its place.
#[test]
fn commands_are_read_by_name() {
    let text = format!(
        "{GOOD}[toolchain.commands.lint]\ncommand = [\"cargo\", \"clippy\"]\n\
         [toolchain.commands.gate]\ncommand = [\"go\", \"test\", \"-json\"]\nharness = \"goTest\"\ntimeout_seconds = 9\n"
    );
    let task = Task::parse("spec.toml", &text, SpecFormat::Toml).unwrap();
    let lint = task.toolchain.named("lint").unwrap();
    assert_eq!(
        (lint.command.to_string(), lint.harness, lint.timeout_seconds),
        ("cargo clippy".to_owned(), Harness::ExitCode, 600)
    );
    let gate = task.toolchain.named("gate").unwrap();
    assert_eq!((gate.harness, gate.timeout_seconds), (Harness::GoTest, 9));
    let wrong = "[toolchain.commands]\nbuild = { command = [\"true\"] }\nunit = [\"true\"]\n\
        empty = { command = [] }\nnone = { harness = \"exitCode\", comand = 1 }\n\
        other = { command = [\"make\"], harness = \"libtest\" }\nnever = { command = [\"make\"], timeoutSeconds = 0 }\n";
    check(
        &format!("{GOOD}{wrong}"),
        SpecFormat::Toml,
        expect![[r#"
            spec.toml:8:9: `toolchain.commands.build`: not a name for one of these; write `buildCommand` in `[toolchain]`
            spec.toml:9:8: `toolchain.commands.unit`: expected a table, found a list
            spec.toml:10:21: `toolchain.commands.empty.command`: the command is empty; give the program and its arguments as a list, such as ["cargo", "test"]
            spec.toml:11:8: `toolchain.commands.none`: the field `command` is missing: write it
            spec.toml:11:32: `toolchain.commands.none.comand`: there is no such field (did you mean `command`?); the fields are `command`, `harness` and `timeoutSeconds`
            spec.toml:12:21: `toolchain.commands.other.command`: `make` is not a `cargo test`, and with `harness = "libtest"` each test is run by itself, from what `cargo test` builds; name that, or use `harness = "exitCode"`, where the command's exit code is all that counts
            spec.toml:13:48: `toolchain.commands.never.timeoutSeconds`: nothing finishes in no time; use at least 1"#]],
    );
    let no_table = format!("{GOOD}[toolchain]\ncommands = 1\n");
    check(&no_table, SpecFormat::Toml, expect!["spec.toml:8:12: `toolchain.commands`: expected a table, found `1`"]);
}

/// HY-70: the protocol's original names and snake_case are accepted, in TOML and JSON.
#[test]
fn original_names_are_understood() {
    let json = r#"{"specModuleName": "stack", "specDescription": "A stack.", "specAcceptanceCriteria": ["It stacks."],
        "specImplPath": "src/lib.rs", "specTestPath": "tests/p.rs",
        "specStrictness": {"scMutationBlocking": true, "scMaxFixAttempts": 3, "scRequireCoverage": false}}"#;
    let task = Task::parse("spec.json", json, SpecFormat::Json).unwrap();
    let snake = "module_name = 'stack'\ndescription = 'A stack.'\nacceptance_criteria = ['It stacks.']\n\
        impl_path = 'src/lib.rs'\ntest_path = 'tests/p.rs'\n\
        [strictness]\nmutation_blocking = true\nmax_fix_attempts = 3\nrequire_coverage = false\n";
    assert_eq!(Task::parse("spec.toml", snake, SpecFormat::Toml).unwrap(), task);
    assert_eq!(task.spec.strictness.max_fix_attempts, 3);
}

/// Every problem is reported, with its place and what to do.
#[test]
fn every_problem_is_told_at_once() {
    let text = r#"
moduleName = "bounded-stack"
acceptanceCriteria = []
implPath = "--help"
testPath = "Cargo.toml"
modulName = "x"

[strictness]
maxFixAttempts = 11
requireCoverage = "yes"

[toolchain]
testCommand = []
stubMarkers = ["todo!("]
testTimeoutSeconds = 0
"#;
    check(
        text,
        SpecFormat::Toml,
        expect![[r#"
            spec.toml:1:1: the field `description` is missing: write it
            spec.toml:2:14: `moduleName`: not a module's name; use Rust identifiers joined by `::`, such as `bounded_stack`
            spec.toml:3:22: `acceptanceCriteria`: give at least one criterion, and none that is blank
            spec.toml:4:12: `implPath`: "--help" is not a file inside the crate: it begins with a dash, which a command line reads as an option; write it relative to the crate, such as `src/lib.rs`
            spec.toml:5:12: `testPath`: a file that defines the build; agents may not write it
            spec.toml:6:1: `modulName`: there is no such field (did you mean `moduleName`?); the fields are `moduleName`, `description`, `acceptanceCriteria`, `implPath`, `testPath`, `sharedPaths`, `strictness`, `toolchain`, `resolveConflicts`, `mutationDeadlineSeconds` and `mechanicalMutants`
            spec.toml:9:18: `strictness.maxFixAttempts`: out of range; use 1 to 10
            spec.toml:10:19: `strictness.requireCoverage`: expected `true` or `false`, found "yes"
            spec.toml:13:15: `toolchain.testCommand`: the command is empty; give the program and its arguments as a list, such as ["cargo", "test"]
            spec.toml:14:15: `toolchain.stubMarkers`: the stub marker `todo!(` is not a Rust expression: cannot parse string into token stream; write it as it stands in a body, such as `todo!()`
            spec.toml:15:22: `toolchain.testTimeoutSeconds`: nothing finishes in no time; use at least 1"#]],
    );
}

/// HY-34: both blind agents may write to shared files, so these are neither code nor what decides how code is built or
/// tested, in either language.
#[test]
fn code_is_not_shared() {
    let with = |path: &str| Task::parse("spec.toml", &format!("{GOOD}sharedPaths = [{path:?}]\n"), SpecFormat::Toml);
    for path in ["README.md", "docs/notes.txt", "data/cases.json", "data/cases.csv"] {
        assert_eq!(with(path).unwrap().spec.shared_paths.len(), 1, "{path}");
    }
    let of_rust = ["src/help.rs", "rustfmt.toml", "Cargo.lock", ".cargo/config"];
    let of_python = [
        "conftest.py",
        "src/helpers.py",
        "src/helpers.pyi",
        "pytest.ini",
        ".pytest.ini",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "src/a.pth",
        "src/helpers.pyc",
        "src/helpers.so",
    ];
    for path in of_rust.into_iter().chain(of_python) {
        let said = with(path).unwrap_err().to_string();
        let expected = "spec.toml:7:15: `sharedPaths`: code, or a file that decides how it is built or tested; both sides may \
                        write to documents and data alone";
        assert_eq!(said, expected, "{path}");
    }
}

/// The same for JSON, whose parser keeps no places.
#[test]
fn json_problems_have_places_too() {
    let text = "{\n  \"moduleName\": \"stack\", \"description\": \"\\\"implPath\\\": \",\n  \"acceptanceCriteria\": [\"a\", \" \"],\n  \"implPath\": \"src/lib.rs\",\n  \"testPath\": \"src/lib.rs\",\n  \"strictness\": {\"maxFixAttempts\": 0}\n}";
    check(
        text,
        SpecFormat::Json,
        expect![[r#"
            spec.json:3:25: `acceptanceCriteria`: give at least one criterion, and none that is blank
            spec.json:5:15: `testPath`: the same file as `implPath`; tests and implementation are written by agents that must not see each other's file
            spec.json:6:36: `strictness.maxFixAttempts`: out of range; use 1 to 10"#]],
    );
}

#[test]
fn what_is_not_well_formed_is_told_with_its_place() {
    check(
        "moduleName = \n[a\ndescription = 'x'\n",
        SpecFormat::Toml,
        expect![[r#"
            spec.toml:1:14: this is not TOML: string values must be quoted, expected literal string
            spec.toml:2:3: this is not TOML: unclosed table, expected `]`"#]],
    );
    check("{\n  \"moduleName\": }", SpecFormat::Json, expect!["spec.json:2:17: this is not JSON: expected value"]);
    check("[]", SpecFormat::Json, expect!["spec.json:1:1: expected a table, found a list"]);
}

#[test]
fn files_are_told_by_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("spec.toml");
    std::fs::write(&path, GOOD).unwrap();
    assert_eq!(Task::read(&path).unwrap().spec.module_name, "bounded_stack");
    assert!(matches!(Task::read(&directory.path().join("none.toml")), Err(SpecError::Unreadable { .. })));
    assert!(matches!(Task::read(&directory.path().join("spec.yaml")), Err(SpecError::UnknownFormat { .. })));
}
