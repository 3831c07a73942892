//! Errors in a file are reported with location and remedy, all at once.

use crate::support::{Project, write};
use expect_test::expect;
use interlocking_envoy::ProtocolName;

const BASE: (&str, &str) = ("base.yaml", "name: base\nsteps:\n  1: one\n  2: two\n");

fn refusal(content: &str) -> String {
    Project::new(&[BASE, ("x.yaml", content)]).refusal("x")
}

/// ENV-21: the message names the path and the existing protocols.
#[test]
fn unknown_protocols_are_refused() {
    let project = Project::new(&[BASE, ("not a name.yaml", "name: x"), ("README.md", "# x")]);
    std::fs::create_dir(project.root().join(".claude/protocols/directory.yaml")).unwrap();
    let error = project.resolve("bas").unwrap_err();
    expect!["there is no protocol `bas`: .claude/protocols/bas.yaml does not exist; did you mean `base`?"]
        .assert_eq(&project.refusal("bas"));
    let interlocking_envoy::ResolveError::Read(interlocking_envoy::ReadError::Unknown { available, .. }) = error else {
        panic!("{error}")
    };
    let available: Vec<_> = available.iter().map(ProtocolName::as_str).collect();
    assert_eq!(available, ["base", "bug-discovery", "debugging", "discovery", "implementation"]);
    assert!(project.refusal("directory").contains("directory.yaml cannot be read\n  caused by: it is not a file"));
}

/// ENV-22
#[test]
fn unsafe_names_are_refused() {
    for name in
        ["", ".", "..", "../x", "a/b", "a\\b", "/etc/passwd", ".hidden", "-x", "a b", "a\0", "a\n", "x..y", "c:x", "x."]
    {
        assert!(name.parse::<ProtocolName>().is_err(), "{name:?}");
    }
    assert!("x".repeat(101).parse::<ProtocolName>().is_err());
    for name in ["a", "bug-discovery", "v1.2", "größe_2", "x".repeat(100).as_str()] {
        assert_eq!(name.parse::<ProtocolName>().unwrap().as_str(), name);
    }
    expect![[r#".claude/protocols/x.yaml:1:20: `extends`: "../base" cannot be a protocol's name: it has a path separator; write letters, digits, `-` and `_`, such as `debugging`"#]]
        .assert_eq(&refusal("{name: x, extends: ../base, steps: {}}"));
}

/// ENV-23: the file, the line and the column.
#[test]
fn what_is_not_yaml_is_refused() {
    let mut told = String::new();
    for content in [
        "name: x\nsteps:\n  1: |\n    text\n   2: less\n",
        "name: 'x\n",
        "name: x: y\n",
        "name: [x\nsteps: {}\n",
        "",
        "# nothing\n",
        "name: x\n---\nname: y\n",
        "%YAML 1.2\n---\nname: x\n",
        "- a\n",
        "text\n",
    ] {
        told += &format!("{}\n", refusal(content));
    }
    let project = Project::new(&[]);
    write(&project.root().join(".claude/protocols/x.yaml"), b"name: x\ndescription: gr\xfc\xdfe\n");
    told += &project.refusal("x");
    expect![[r#"
        .claude/protocols/x.yaml:5:4: this is not YAML: while parsing a block mapping, did not find expected key
        .claude/protocols/x.yaml:2:1: this is not YAML: invalid indentation in multiline quoted scalar
        .claude/protocols/x.yaml:1:8: this is not YAML: mapping values are not allowed in this context
        .claude/protocols/x.yaml:2:6: this is not YAML: illegal placement of ':' indicator
        .claude/protocols/x.yaml:1:1: there is no YAML document here: write one
        .claude/protocols/x.yaml:1:1: there is no YAML document here: write one
        .claude/protocols/x.yaml:3:1: a second YAML document begins here: write exactly one
        .claude/protocols/x.yaml:1:1: this is not YAML: YAML directives are disallowed
        .claude/protocols/x.yaml:1:1: expected a table, found a list
        .claude/protocols/x.yaml:1:1: expected a table, found "text"
        .claude/protocols/x.yaml:2:16: this is not UTF-8 from here on: store it as UTF-8"#]]
    .assert_eq(&told);
}

/// ENV-28, ENV-29, ENV-31, and every other error, each with its location and all at once.
#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let base = "\
name: [x]
descripton: near
nothing: like it
name: y
inputs:
  - name: a
    type: number
    optional: perhaps
    extra: 1
  - type: string
outputs: text
steps:
  abc: a
  1.2.3: a
  0: a
  01: a
  1.0: a
  +: a
  1+: a
  -1: a
  6: |
    six
  6: again
  '6': again
";
    expect![[r#"
        .claude/protocols/x.yaml:1:7: `name`: expected text, found a list
        .claude/protocols/x.yaml:2:1: `descripton`: there is no such field (did you mean `description`?); the fields are `name`, `description`, `extends`, `inputs`, `outputs` and `steps`
        .claude/protocols/x.yaml:3:1: `nothing`: there is no such field; the fields are `name`, `description`, `extends`, `inputs`, `outputs` and `steps`
        .claude/protocols/x.yaml:4:1: `name` is here twice, first in line 1: remove one
        .claude/protocols/x.yaml:7:11: `inputs.type`: expected `integer`, `string` or `array`, found "number"
        .claude/protocols/x.yaml:8:15: `inputs.optional`: expected `true` or `false`, found "perhaps"
        .claude/protocols/x.yaml:9:5: `inputs.extra`: there is no such field; the fields are `name`, `type`, `optional` and `description`
        .claude/protocols/x.yaml:10:5: `inputs`: the field `name` is missing: write it
        .claude/protocols/x.yaml:11:10: `outputs`: expected a list, found "text"
        .claude/protocols/x.yaml:13:3: `steps.abc`: "abc" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        .claude/protocols/x.yaml:14:3: `steps."1.2.3"`: "1.2.3" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        .claude/protocols/x.yaml:15:3: `steps.0`: "0" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        .claude/protocols/x.yaml:16:3: `steps.01`: "01" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        .claude/protocols/x.yaml:17:3: `steps."1.0"`: "1.0" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        .claude/protocols/x.yaml:18:3: `steps.+`: "+" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        .claude/protocols/x.yaml:19:3: `steps.1+`: this appends to an inherited step, and the protocol inherits none: name a base with `extends`, or write the whole text under `1`
        .claude/protocols/x.yaml:20:3: `steps.-1`: "-1" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step
        .claude/protocols/x.yaml:23:3: `6` is here twice, first in line 21: remove one
        .claude/protocols/x.yaml:24:3: `6` is here twice, first in line 21: remove one"#]].assert_eq(&refusal(base));
    expect![[r#"
        .claude/protocols/x.yaml:1:1: the field `name` is missing: write it
        .claude/protocols/x.yaml:1:1: the field `steps` is missing: write it"#]]
    .assert_eq(&refusal("description: d\n"));
    expect![".claude/protocols/x.yaml:1:1: a protocol that extends none needs steps: write at least `1`"]
        .assert_eq(&refusal("name: x\nsteps: {}\n"));
    expect![".claude/protocols/x.yaml:2:8: `steps`: expected a table, found a list"]
        .assert_eq(&refusal("name: x\nsteps: [a]\n"));
    expect![[r#"
        .claude/protocols/x.yaml:3:3: `steps.7`: there is no text: write it as a block, after `7: |`
        .claude/protocols/x.yaml:4:3: `steps.8`: there is no text: write it as a block, after `8: |`
        .claude/protocols/x.yaml:5:6: `steps.9`: expected text, found a list
        .claude/protocols/x.yaml:6:3: a key is a text, and here is a list: write a text
        .claude/protocols/x.yaml:7:3: `steps.11`: there is no text: write it as a block, after `11: |`"#]]
    .assert_eq(&refusal("name: x\nsteps:\n  7:\n  8: ''\n  9: [a]\n  [10]: a\n  11: ' \n\n '\n"));
    let many: String = (0..100).map(|index| format!("field{index}: x\n")).collect();
    let told = refusal(&many);
    assert!(told.ends_with("and 82 further problems"), "{told}");
}

/// ENV-24: a missing base, with the location that names it. ENV-25: a cycle of extensions.
#[test]
fn bases_that_lead_nowhere_are_refused() {
    expect![[r#"
        .claude/protocols/x.yaml:2:10: `x` extends a protocol that cannot be loaded
          caused by: there is no protocol `bass`: .claude/protocols/bass.yaml does not exist; did you mean `base`?"#]]
    .assert_eq(&refusal("name: x\nextends: bass\nsteps: {}\n"));
    expect![".claude/protocols/x.yaml:2:10: these extend each other in a circle: x → x"]
        .assert_eq(&refusal("name: x\nextends: x\nsteps: {}\n"));
    let project = Project::new(&[
        ("a.yaml", "name: a\nextends: b\nsteps: {}\n"),
        ("b.yaml", "name: b\nextends: c\nsteps: {}\n"),
        ("c.yaml", "name: c\nextends: b\nsteps: {}\n"),
    ]);
    expect![".claude/protocols/c.yaml:2:10: these extend each other in a circle: b → c → b"]
        .assert_eq(&project.refusal("a"));
    let project =
        Project::new(&[("a.yaml", "name: a\nextends: b\nsteps: {}\n"), ("b.yaml", "name: b\nsteps: {0: x}\n")]);
    expect![[r#"
        .claude/protocols/a.yaml:2:10: `a` extends a protocol that cannot be loaded
          caused by: .claude/protocols/b.yaml:2:9: `steps.0`: "0" is not a step: write a number from 1 such as `7`, or `7.1` for a step between 7 and 8; a `+` after it appends to an inherited step"#]].assert_eq(&project.refusal("a"));
}

/// ENV-26: an append to nothing. ENV-27: an insertion after nothing.
#[test]
fn entries_without_a_step_are_refused() {
    expect![[r#"
        .claude/protocols/x.yaml:4:3: `3+` appends to a step that is not inherited: write `3`, or name one of 1, 2
        .claude/protocols/x.yaml:5:3: `1.1+` appends to a step that is not inherited: write `1.1`, or name one of 1, 2
        .claude/protocols/x.yaml:6:3: `4.1` must come after step 4, but there is no such step: name one of 1, 2"#]]
    .assert_eq(&refusal("name: x\nextends: base\nsteps:\n  3+: a\n  1.1+: b\n  4.1: c\n  2+: fine\n"));
    expect![".claude/protocols/x.yaml:4:3: `2.1` must come after step 2, but there is no such step: name one of 1"]
        .assert_eq(&refusal("name: x\nsteps:\n  1: a\n  2.1: b\n"));
}

/// ENV-30
#[test]
fn another_name_in_the_file_is_a_warning() {
    let project = Project::new(&[("x.yaml", "name: y\nsteps: {1: a}\n")]);
    let resolved = project.resolve("x").unwrap();
    assert_eq!(resolved.name.as_str(), "x");
    let told: Vec<_> = resolved.warnings.iter().map(ToString::to_string).collect();
    let path = project.root().join(".claude/protocols/x.yaml");
    assert_eq!(
        told,
        [format!(
            "{}:1:7: the protocol calls itself `y`, and its file is called `x`: make them the same",
            path.display()
        )]
    );
}
