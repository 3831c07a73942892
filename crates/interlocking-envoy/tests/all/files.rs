//! One file: its location, its fields, its texts byte for byte.

use crate::support::{Project, key, named, steps, write};
use interlocking_envoy::{Edit, Input, InputType, Library, Output, Place, Protocol, ProtocolFile, project_root};
use proptest::prelude::*;

const EVERYTHING: &str = "\
name: everything
description: All fields
extends: null
inputs:
  - name: count
    type: integer
    optional: false
    description: how many
  - name: word
    type: string
    optional: true
    description: which one
  - name: list
    type: array
    description: several
outputs:
  - value: \"{ success: true }\"
    description: when it went well
steps:
  1: |
    Do it
";

/// ENV-01: the files are those of the project, whichever of its directories the call is made from.
#[test]
fn files_are_found_from_below_the_root() {
    let project = Project::new(&[("everything.yaml", EVERYTHING)]);
    let below = project.root().join("src/deep");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(Library::discover(&below), project.library());
    assert_eq!(steps(&Library::discover(&below).resolve(&named("everything")).unwrap()), ["1: Do it"]);
    // A nested repository is a project of its own, whatever directory contains it.
    std::fs::create_dir_all(below.join(".git")).unwrap();
    std::fs::write(below.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(project_root(&below), below);
    assert!(Library::discover(&below).resolve(&named("everything")).is_err());
}

/// A link that leads nowhere is no reason to take the embedded protocol instead.
#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_not_passed_over() {
    let project = Project::new(&[("x.yaml", EVERYTHING)]);
    std::os::unix::fs::symlink("nowhere", project.root().join(".claude/protocols/debugging.yaml")).unwrap();
    assert!(project.refusal("debugging").starts_with(".claude/protocols/debugging.yaml cannot be read"));
}

/// ENV-02: all fields. ENV-03: inputs and their types (CON-120). ENV-04: outputs.
#[test]
fn a_file_has_these_fields() {
    let file = ProtocolFile::parse("everything.yaml", EVERYTHING.as_bytes()).unwrap();
    assert_eq!(file.name, "everything");
    assert_eq!(file.name_at, Place { file: "everything.yaml".to_owned(), line: 1, column: 7 });
    assert_eq!(file.description.as_deref(), Some("All fields"));
    assert_eq!(file.extends, None);
    let input = |name: &str, kind, optional, description: &str| Input {
        name: name.to_owned(),
        kind,
        optional,
        description: description.to_owned(),
    };
    let inputs = [
        input("count", InputType::Integer, false, "how many"),
        input("word", InputType::String, true, "which one"),
        input("list", InputType::Array, false, "several"),
    ];
    assert_eq!(file.inputs.unwrap(), inputs);
    let output = Output { value: "{ success: true }".to_owned(), description: "when it went well".to_owned() };
    assert_eq!(file.outputs.unwrap(), [output]);
    let step = &file.steps[&(key("1"), Edit::Set)];
    assert_eq!((&*step.text, step.text_at.line, step.text_at.column, step.is_literal), ("Do it\n", 21, 5, true));

    let extension = ProtocolFile::parse("x.yaml", b"name: x\nextends: everything\nsteps: {}\n").unwrap();
    assert_eq!(extension.extends.unwrap().0, named("everything"));
    assert_eq!((extension.inputs, extension.outputs, extension.description), (None, None, None));
}

/// ENV-02, ENV-03, ENV-04: JSON output is read back unchanged.
#[test]
fn a_protocol_survives_json() {
    let protocol = Project::new(&[("everything.yaml", EVERYTHING)]).resolve("everything").unwrap();
    let json = serde_json::to_string_pretty(&protocol).unwrap();
    assert_eq!(serde_json::from_str::<Protocol>(&json).unwrap(), protocol);
    expect_test::expect![[r#"
        {
          "name": "everything",
          "description": "All fields",
          "extends": [],
          "inputs": [
            {
              "name": "count",
              "type": "integer",
              "optional": false,
              "description": "how many"
            },
            {
              "name": "word",
              "type": "string",
              "optional": true,
              "description": "which one"
            },
            {
              "name": "list",
              "type": "array",
              "optional": false,
              "description": "several"
            }
          ],
          "outputs": [
            {
              "value": "{ success: true }",
              "description": "when it went well"
            }
          ],
          "steps": [
            {
              "number": 1,
              "key": "1",
              "text": "Do it"
            }
          ],
          "warnings": []
        }"#]]
    .assert_eq(&json);
}

/// ENV-05: sub-bullets, fences, backticks, tabs, trailing blanks, quotes, `#` and `: ` are kept.
#[test]
fn block_text_is_kept_byte_for_byte() {
    let text = "Call `envoy x \"<Y>\"`  \n  * sub: bullet # no comment\n\n    ```sh\n\ttab 'q' \\n\t\n    ```\n* é → 💡 `step 9`\n%TAG --- & * !";
    let indented: String =
        text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect();
    let file = format!("name: verbatim\nsteps:\n  1: |\n{indented}");
    let project = Project::new(&[("verbatim.yaml", &file)]);
    assert_eq!(project.resolve("verbatim").unwrap().steps[0].text, text);
    // Without a final line end, and with Windows line ends, which YAML reads as one character.
    for file in [file.trim_end().to_owned(), file.replace('\n', "\r\n")] {
        write(&project.root().join(".claude/protocols/verbatim.yaml"), &file);
        assert_eq!(project.resolve("verbatim").unwrap().steps[0].text, text);
    }
}

/// ENV-06: keys are text, so 6.1 and 6.10 are two steps, and so are `2` and `2+`; quoted or not.
#[test]
fn keys_of_steps_are_text() {
    let base = "name: base\nsteps:\n  6.10: ten\n  '6.2': two\n  7: seven\n  6: six\n  \"6.1\": one\n";
    let project = Project::new(&[("base.yaml", base)]);
    let protocol = project.resolve("base").unwrap();
    assert_eq!(steps(&protocol), ["6: six", "6.1: one", "6.2: two", "6.10: ten", "7: seven"]);
    assert_eq!(protocol.steps.iter().map(|step| step.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let file = ProtocolFile::parse("x.yaml", b"name: x\nextends: base\nsteps: {2: a, 2+: b, 2.1: c}\n").unwrap();
    let keys = [(key("2"), Edit::Set), (key("2"), Edit::Append), (key("2.1"), Edit::Set)];
    assert_eq!(file.steps.into_keys().collect::<Vec<_>>(), keys);
}

/// ENV-03: a protocol is given its inputs by their names.
#[test]
fn two_inputs_of_one_name_are_refused() {
    let text = b"name: x\ninputs:\n  - {name: a, type: string}\n  - {name: a, type: integer}\nsteps: {1: b}\n";
    let told = ProtocolFile::parse("x.yaml", text).unwrap_err().to_string();
    assert_eq!(told, "x.yaml:4:5: `inputs`: there is an input `a` already: give this one another name");
}

/// ENV-07: `inputs: null` and no `inputs` inherit; an empty list takes nothing.
#[test]
fn null_inputs_are_inherited() {
    let project = Project::new(&[
        ("everything.yaml", EVERYTHING),
        ("null.yaml", "name: 'null'\nextends: everything\ninputs: null\nsteps: null\n"),
        ("tilde.yaml", "name: tilde\nextends: everything\ninputs: ~\nsteps: {}\n"),
        ("absent.yaml", "name: absent\nextends: everything\nsteps:\n"),
        ("none.yaml", "name: none\nextends: everything\ninputs: []\nsteps: {}\n"),
    ]);
    let inputs = |name: &str| project.resolve(name).unwrap().inputs;
    let all = inputs("everything");
    assert_eq!(all.len(), 3);
    for name in ["null", "tilde", "absent"] {
        assert_eq!(inputs(name), all, "{name}");
    }
    assert_eq!(inputs("none"), []);
}

/// ENV-104: the four protocols are included, and need neither file nor network. A project's own file of the
/// same name has precedence.
#[test]
fn a_projects_own_file_wins() {
    let names = ["bug-discovery", "debugging", "discovery", "implementation"];
    let listed = |library: &Library| library.list().unwrap();
    let shipped = listed(&Library::embedded());
    assert!(shipped.iter().all(|listed| listed.file.is_none()));
    assert_eq!(shipped.iter().map(|listed| listed.name.as_str()).collect::<Vec<_>>(), names);
    for name in names {
        assert!(!Library::embedded().resolve(&named(name)).unwrap().steps.is_empty());
    }

    let project = Project::new(&[(
        "implementation.yaml",
        "name: implementation\nsteps:\n  6: ours\n  7: too\n  8: and\n  12: so\n  13: on\n  14: .\n",
    )]);
    assert_eq!(project.resolve("implementation").unwrap().steps.len(), 6);
    // An extension of it extends the project's file.
    let debugging = project.resolve("debugging").unwrap();
    assert_eq!(debugging.steps[0].text, "ours\n* Put the logging tasks first.");
    let path = project.root().join(".claude/protocols/implementation.yaml");
    let listed = listed(&project.library());
    assert_eq!(listed.iter().find(|listed| listed.file.is_some()).unwrap().file.as_ref(), Some(&path));
}

fn word() -> impl Strategy<Value = String> {
    // Text that YAML could misread, and text that it could not.
    prop_oneof![
        "[ -~é→]{1,12}",
        Just("null".to_owned()),
        Just("6.10".to_owned()),
        Just("yes".to_owned()),
        Just("a: b # c".to_owned()),
    ]
    .prop_filter("a blank is no text", |word| !word.trim().is_empty())
}

/// A double-quoted scalar.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// ENV-02 to ENV-06: written text is read back, whatever it looks like.
    #[test]
    fn what_is_written_is_read(
        description in word(),
        mut inputs in prop::collection::vec((word(), 0..3usize, any::<bool>(), word()), 0..4),
        outputs in prop::collection::vec((word(), word()), 0..3),
        lines in prop::collection::vec("[ -~é→\t]{0,12}", 1..6),
        number in 1..1000u32,
    ) {
        // Two inputs of one name are refused.
        inputs.sort();
        inputs.dedup_by(|one, other| one.0 == other.0);
        // The first line determines the indentation, so it has no leading blanks.
        let text = format!("x{}\n", lines.join("\n").trim_end());
        let mut yaml = format!("name: n\ndescription: {}\ninputs:\n", quoted(&description));
        for (name, kind, optional, description) in &inputs {
            let kind = InputType::ALL[*kind].name();
            yaml += &format!("  - {{name: {}, type: {kind}, optional: {optional}, description: {}}}\n", quoted(name), quoted(description));
        }
        if inputs.is_empty() {
            yaml = yaml.replace("inputs:", "inputs: []");
        }
        yaml += "outputs:\n";
        for (value, description) in &outputs {
            yaml += &format!("  - value: {}\n    description: {}\n", quoted(value), quoted(description));
        }
        yaml += &format!("steps:\n  {number}: |\n");
        for line in text.lines() {
            yaml += &if line.is_empty() { "\n".to_owned() } else { format!("      {line}\n") };
        }
        let file = ProtocolFile::parse("n.yaml", yaml.as_bytes()).map_err(|error| TestCaseError::fail(format!("{error}\n{yaml}")))?;
        prop_assert_eq!(file.description, Some(description));
        let read: Vec<_> = file.inputs.unwrap().into_iter().map(|input| {
            let kind = InputType::ALL.iter().position(|kind| *kind == input.kind).unwrap();
            (input.name, kind, input.optional, input.description)
        }).collect();
        prop_assert_eq!(read, inputs);
        let read: Vec<_> = file.outputs.unwrap_or_default().into_iter().map(|output| (output.value, output.description)).collect();
        prop_assert_eq!(read, outputs);
        prop_assert_eq!(&file.steps[&(key(&number.to_string()), Edit::Set)].text, &text);
    }
}
