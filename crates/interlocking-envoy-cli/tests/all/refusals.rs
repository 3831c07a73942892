//! Refusals go to standard error, with what, where and what to do; nothing goes to standard output.

use crate::support::Project;
use expect_test::expect;

fn page(files: &[(&str, &str)], words: &[&str]) -> String {
    let called = Project::with_protocols(files).call(words);
    assert_eq!(called.stdout, "");
    called.page()
}

/// ENV-20: success is 0, and diagnostics go to standard error only. ENV-30: another name in the file is a warning.
/// ENV-100: so is a reference to a step that there is not.
#[test]
fn warnings_go_to_standard_error() {
    let project = Project::with_protocols(&[("x", "name: y\nsteps:\n  1: as in step 9\n")]);
    let called = project.call(&["protocol", "x"]);
    assert_eq!(called.exit, 0);
    assert!(called.stdout.starts_with("Protocol: x\n"));
    expect![[r#"
        warning: ROOT/.claude/protocols/x.yaml:1:7: the protocol calls itself `y`, and its file is called `x`: make them the same
        warning: ROOT/.claude/protocols/x.yaml:3:6: `step 9` refers to no step of `x`: it is printed as it is written
    "#]]
    .assert_eq(&called.stderr);
    assert_eq!(project.call(&["protocol", "x", "--json"]).json()["warnings"][0]["kind"], "name_differs");
}

#[test]
fn a_project_that_is_no_directory_and_a_command_line_without_a_command() {
    let project = Project::with_protocols(&[("ours", "name: ours\nsteps: {1: a}\n")]);
    let mut pages = project.call(&["protocol", "debugging", "--project", "nowhere"]).page();
    pages += &project.call(&["protocols", "--project", ".claude/protocols/ours.yaml"]).page();
    expect![[r#"
        exit 2
        ! error: --project: ROOT/nowhere is not a directory
        !   to do: give the project's root, or leave the option out
        exit 2
        ! error: --project: ROOT/.claude/protocols/ours.yaml is not a directory
        !   to do: give the project's root, or leave the option out
    "#]]
    .assert_eq(&pages);
    let called = project.call(&[]);
    assert_eq!(called.exit, 2);
    assert!(
        called.stderr.starts_with("error: there is no command\n\nWorkflow protocols for coding agents\n"),
        "{called:?}"
    );
}

/// ENV-21, ENV-22
#[test]
fn names_without_a_protocol() {
    let mut pages = String::new();
    for name in ["nothing", "debuging", "", "../x", "a/b", ".."] {
        pages += &page(&[("ours", "name: ours\nsteps: {1: a}\n")], &["protocol", name]);
    }
    expect![[r#"
        exit 2
        ! error: there is no protocol `nothing`: ROOT/.claude/protocols/nothing.yaml does not exist
        !   to do: write that file, or name one of bug-discovery, debugging, discovery, implementation, ours
        exit 2
        ! error: there is no protocol `debuging`: ROOT/.claude/protocols/debuging.yaml does not exist; did you mean `debugging`?
        !   to do: write that file, or name one of bug-discovery, debugging, discovery, implementation, ours
        exit 2
        ! error: "" cannot be a protocol's name: it is empty; write letters, digits, `-` and `_`, such as `debugging`
        exit 2
        ! error: "../x" cannot be a protocol's name: it has a path separator; write letters, digits, `-` and `_`, such as `debugging`
        exit 2
        ! error: "a/b" cannot be a protocol's name: it has a path separator; write letters, digits, `-` and `_`, such as `debugging`
        exit 2
        ! error: ".." cannot be a protocol's name: it has `..`; write letters, digits, `-` and `_`, such as `debugging`
    "#]].assert_eq(&pages);
}

/// ENV-23 to ENV-29, ENV-31
#[test]
fn files_that_are_no_protocol() {
    let base = ("base", "name: base\nsteps: {1: a, 6: b}\n");
    let mut pages = String::new();
    for (row, content) in [
        ("ENV-23", "name: x\nsteps:\n  1: |\n    a\n   2: b\n"),
        ("ENV-24", "name: x\nextends: missing\nsteps: {}\n"),
        ("ENV-25", "name: x\nextends: y\nsteps: {}\n"),
        ("ENV-26", "name: x\nextends: base\nsteps:\n  2+: a\n"),
        ("ENV-27", "name: x\nextends: base\nsteps:\n  2.1: a\n"),
        ("ENV-28", "name: x\nsteps:\n  abc: a\n  1.2.3: a\n  0: a\n"),
        ("ENV-29", "name: x\nextends: base\nsteps:\n  6: a\n  '6': b\n"),
        ("ENV-31", "name: x\nsteps:\n  1: a\n  1+: b\n"),
    ] {
        let files = [base, ("x", content), ("y", "name: y\nextends: x\nsteps: {}\n")];
        pages += &format!("{row} {}", page(&files, &["protocol", "x"]));
    }
    expect![[r#"
        ENV-23 exit 2
        ! error: ROOT/.claude/protocols/x.yaml:5:4: this is not YAML: while parsing a block mapping, did not find expected key
        ENV-24 exit 2
        ! error: ROOT/.claude/protocols/x.yaml:2:10: `x` extends a protocol that cannot be loaded
        !   caused by: there is no protocol `missing`: ROOT/.claude/protocols/missing.yaml does not exist
        !   to do: write that file, or name one of base, bug-discovery, debugging, discovery, implementation, x, y
        ENV-25 exit 2
        ! error: ROOT/.claude/protocols/y.yaml:2:10: these extend each other in a circle: x → y → x
        !   to do: let one of them extend none
        ENV-26 exit 2
        ! error: ROOT/.claude/protocols/x.yaml:4:3: `2+` appends to a step that is not inherited: write `2`, or name one of 1, 6
        ENV-27 exit 2
        ! error: ROOT/.claude/protocols/x.yaml:4:3: `2.1` must come after step 2, but there is no such step: name one of 1, 6
        ENV-28 exit 2
        ! error: ROOT/.claude/protocols/x.yaml:3:3: `steps.abc`: "abc" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        ! ROOT/.claude/protocols/x.yaml:4:3: `steps."1.2.3"`: "1.2.3" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        ! ROOT/.claude/protocols/x.yaml:5:3: `steps.0`: "0" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        ENV-29 exit 2
        ! error: ROOT/.claude/protocols/x.yaml:5:3: `6` is here twice, first in line 4: remove one
        ENV-31 exit 2
        ! error: ROOT/.claude/protocols/x.yaml:4:3: `steps.1+`: this appends to an inherited step, and the protocol inherits none: name a base with `extends`, or write the whole text under `1`
    "#]].assert_eq(&pages);
}

#[test]
fn errors_are_json_where_that_is_asked_for() {
    let called = Project::new().call(&["protocol", "nothing", "--json"]);
    assert_eq!((called.exit, &*called.stdout), (2, ""));
    let told: serde_json::Value = serde_json::from_str(&called.stderr).unwrap();
    assert_eq!(told["error"]["exit"], 2);
    assert!(told["error"]["what"].as_str().unwrap().contains("there is no protocol `nothing`"));
    assert!(told["error"]["remedy"].as_str().unwrap().contains("discovery"));
    let called = Project::new().call(&["fly", "--json"]);
    assert!(called.stderr.starts_with("{\"error\":"), "{}", called.stderr);
}
