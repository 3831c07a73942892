//! The output of `envoy protocol`.

use crate::support::Project;
use expect_test::{expect, expect_file};

/// ENV-16: the four protocols, and the project's files.
#[test]
fn a_protocol_is_asked_for_by_name() {
    let project = Project::with_protocols(&[("ours", "name: ours\nsteps:\n  1: Do it\n")]);
    for (name, steps) in
        [("implementation", 15), ("debugging", 18), ("discovery", 6), ("bug-discovery", 6), ("ours", 1)]
    {
        let called = project.call(&["protocol", name]);
        assert_eq!((called.exit, &*called.stderr), (0, ""), "{name}");
        let numbers = called.stdout.lines().filter_map(|line| line.split_once(": ")?.0.parse::<usize>().ok());
        assert_eq!(numbers.collect::<Vec<_>>(), (1..=steps).collect::<Vec<_>>(), "{name}");
    }
    assert_eq!(project.call(&["protocol"]).exit, 2);
    assert_eq!(project.call(&["protocol", "ours", "ours"]).exit, 2, "one name");
}

/// ENV-17: plain text, steps as `n: text` from 1 on. ENV-18, ENV-95: name, description, inputs and outputs. ENV-99: the key
/// in brackets if it differs from the number.
#[test]
fn the_page_of_a_protocol() {
    let project = Project::with_protocols(&[
        (
            "base",
            "name: base\ndescription: What it is for\ninputs:\n  - {name: count, type: integer, description: how many}\n  \
             - {name: words, type: array, optional: true}\noutputs:\n  - {value: \"{ success: true }\", description: always}\n\
             steps:\n  1: |\n    Begin\n    * with `care`\n  3: Go to step 1\n",
        ),
        ("x", "name: x\nextends: base\nsteps:\n  1.1: |\n    Go on to step 3\n"),
    ]);
    expect![[r#"
        exit 0
        Protocol: x
        What it is for

        Inputs:
        - count (integer, required): how many
        - words (array, optional)

        Outputs:
        - { success: true }: always

        Steps:
        1: Begin
        * with `care`
        2: [1.1] Go on to step 3
        3: Go to step 1
    "#]]
    .assert_eq(&project.call(&["protocol", "x"]).page());
    expect![[r#"
        exit 0
        Protocol: bare

        Inputs: none

        Outputs: none

        Steps:
        1: Do it
    "#]]
    .assert_eq(
        &Project::with_protocols(&[("bare", "name: bare\nsteps: {1: Do it}\n")]).call(&["protocol", "bare"]).page(),
    );
}

/// ENV-92: all steps of `implementation`, in order. ENV-93: `debugging` on `implementation`. ENV-96: `bug-discovery` on
/// `discovery`. The same golden files as the library's.
#[test]
fn protocols_are_printed_resolved() {
    let project = Project::new();
    let printed = |name: &str| project.call(&["protocol", name]).stdout;
    expect_file!["../../../interlocking-envoy/tests/golden/implementation.txt"].assert_eq(&printed("implementation"));
    expect_file!["../../../interlocking-envoy/tests/golden/debugging.txt"].assert_eq(&printed("debugging"));
    expect_file!["../../../interlocking-envoy/tests/golden/discovery.txt"].assert_eq(&printed("discovery"));
    expect_file!["../../../interlocking-envoy/tests/golden/bug-discovery.txt"].assert_eq(&printed("bug-discovery"));
}

/// ENV-01: from any directory of the project, or with its root named.
#[test]
fn the_project_is_found() {
    let project = Project::with_protocols(&[("ours", "name: ours\nsteps: {1: Do it}\n")]);
    project.write("src/deep/x.rs", "");
    assert_eq!(project.call_in("src/deep", "", &["protocol", "ours"]).exit, 0);
    project.write("elsewhere/.git/HEAD", "");
    assert_eq!(project.call_in("elsewhere", "", &["protocol", "ours"]).exit, 2);
    assert_eq!(project.call_in("elsewhere", "", &["protocol", "ours", "--project", ".."]).exit, 0);
    let page = project.call(&["protocols"]).page();
    expect![[r#"
        exit 0
        bug-discovery (comes with envoy)
        debugging (comes with envoy)
        discovery (comes with envoy)
        implementation (comes with envoy)
        ours (ROOT/.claude/protocols/ours.yaml)
    "#]]
    .assert_eq(&page);
    let listed = project.call(&["protocols", "--json"]).json();
    assert_eq!(listed[4]["name"], "ours");
    assert_eq!(listed[0]["file"], serde_json::Value::Null);
}

#[test]
fn json_has_all_of_it() {
    let debugging = Project::new().call(&["protocol", "debugging", "--json"]).json();
    assert_eq!(debugging["extends"], serde_json::json!(["implementation"]));
    assert_eq!(debugging["steps"][6]["number"], 7);
    assert_eq!(debugging["steps"][6]["key"], "6.1");
    assert_eq!(
        debugging["inputs"][0],
        serde_json::json!({"name": "prompt_num", "type": "integer", "optional": false, "description": "the prompt's number"})
    );
}
