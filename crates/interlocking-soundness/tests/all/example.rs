//! The command that checks a table: `examples/soundness.rs`, run on the tables beside it.

use expect_test::expect;

#[expect(dead_code, reason = "its `main` only prints what `run` returns")]
#[path = "../../examples/soundness.rs"]
mod command;

/// The result of the command: exit code, standard output, standard error.
fn soundness(arguments: &[&str], input: &str) -> (u8, String, String) {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    match command::run(&arguments, input.as_bytes()) {
        Ok((text, code)) => (code, text + "\n", String::new()),
        Err(text) => (command::BAD_INPUT, String::new(), text + "\n"),
    }
}

/// The error message for an invalid input.
fn refused(arguments: &[&str], input: &str) -> String {
    let (code, out, error) = soundness(arguments, input);
    assert_eq!((code, out.as_str()), (3, ""), "{error}");
    error
}

#[test]
fn the_protocols_are_sound() {
    for (file, graph) in [("hybrid", "Hybrid"), ("v3", "V3"), ("scout-and-wave", "ScoutAndWave")] {
        let (code, out, error) = soundness(&[&format!("examples/tables/{file}.json")], "");
        assert_eq!((code, error.as_str()), (0, ""), "{out}");
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&report["graph"], &report["verdict"]), (&graph.into(), &"sound".into()));
        assert!(report["markings"].as_u64().unwrap() > 10, "{out}");
    }
}

#[test]
fn an_unsound_table_is_reported_with_the_way_there() {
    let (code, out, error) = soundness(&["examples/tables/starved-join.json"], "");
    assert_eq!((code, error.as_str()), (1, ""));
    expect![[r#"
        {
          "graph": "Gated",
          "verdict": "unsound",
          "violations": [
            {
              "rule": "starved_join",
              "join": "gate",
              "missing": [
                "gate.adversary"
              ],
              "blame": "gate",
              "path": [
                {
                  "node": "types",
                  "to": [
                    "skeleton",
                    "adversary"
                  ]
                },
                {
                  "node": "skeleton",
                  "to": [
                    "gate.skeleton"
                  ]
                },
                {
                  "node": "adversary",
                  "to": [
                    "gate.adversary"
                  ]
                },
                {
                  "node": "gate",
                  "to": [
                    "types_fix"
                  ]
                },
                {
                  "node": "types_fix",
                  "to": [
                    "skeleton"
                  ]
                },
                {
                  "node": "skeleton",
                  "to": [
                    "gate.skeleton"
                  ]
                }
              ],
              "shortest": true,
              "marking": [
                "gate.skeleton"
              ],
              "trace": "entry → types → {skeleton, adversary} → gate → types_fix → skeleton → gate, which still needs `adversary`",
              "remedy": "let `types_fix` continue on both: `fork(skeleton, adversary)`"
            }
          ]
        }
    "#]]
    .assert_eq(&out);
}

#[test]
fn a_limit_that_is_too_low_decides_nothing() {
    let (code, out, error) = soundness(&["--limit", "5", "examples/tables/v3.json"], "");
    assert_eq!((code, error.as_str()), (2, ""));
    expect![[r#"
        {
          "graph": "V3",
          "verdict": "undecided",
          "limit": 5
        }
    "#]]
    .assert_eq(&out);
}

#[test]
fn standard_input_is_a_table_too() {
    let (code, out, _) = soundness(&["-"], &std::fs::read_to_string("examples/tables/v3.json").unwrap());
    assert_eq!(code, 0, "{out}");
}

#[test]
fn what_is_no_table_is_refused_with_file_position_and_field() {
    let table = r#"{
  "graph": "Release", "output": "Report",
  "nodes": [
    { "name": "plan", "kind": "logic", "entry": true, "goto": [{ "to": "exit" }] },
    { "name": "code", "kind": "KIND", "GOTO": [{ "to": "TARGET" }] }
  ]
}
"#;
    let refused_with = |kind: &str, goto: &str, target: &str| {
        refused(&["-"], &table.replace("KIND", kind).replace("GOTO", goto).replace("TARGET", target))
    };
    let said = [
        refused_with("logik", "goto", "exit"),
        refused_with("logic", "gotos", "exit"),
        refused_with("logic", "goto", "plam"),
        refused_with("event", "goto", "exit"),
        refused(&["-"], &table.replace("KIND", "logic").replace("GOTO", "goto").replace("  ", "")),
        refused(&["-"], "{ \"graph\": \"Release\", \"output\": \"Report\" }"),
        refused(&["-"], "{ \"graph\": "),
        refused(&["-"], "{ \"graph\": \"G\", \"output\": \"T\", \"nodes\": [] } []"),
        refused(&["-"], "{ \"graph\": \"G\", \"output\": \"T\", \"nodes\": [] }"),
        refused(&["nowhere.json"], ""),
    ];
    expect![[r#"
        error: standard input:5:37: nodes[1].kind: unknown variant `logik`, expected one of `llm`, `logic`, `fork`, `join`, `map`, `graph`, `human`, `advisory`, `observer`, `event`
        help: every field of a table is described in docs/book/src/table-format.md

        error: standard input:5:46: nodes[1].gotos: unknown field `gotos`, expected one of `name`, `kind`, `entry`, `input`, `slots`, `prompt`, `output`, `goto`, `fork`, `spawn`, `resume`, `transient`, `map`, `concurrency`, `depth`, `adopt`, `graph`, `quorum`, `cancels`, `adds_to`, `question`, `answer`, `report`, `observes`, `exhausted`, `visits`, `attempts`, `timeout_ms`, `timed_out`, `failed`, `exclusive`, `agent`, `model`, `workspace`, `read_only`, `isolation`, `blind_to`, `memory`
        help: every field of a table is described in docs/book/src/table-format.md

        error: standard input:5:5: nodes[1]: node `code` names `plam`, which is not in the table
        help: the rules for names and kinds are in docs/book/src/table-format.md

        error: standard input:5:5: nodes[1]: node `code`: a redirect takes the run from somewhere: say what it clears, `cancels(…)`
        help: the rules for names and kinds are in docs/book/src/table-format.md

        error: standard input:5:1: nodes[1]: node `code` names `TARGET`, which is not in the table
        help: the rules for names and kinds are in docs/book/src/table-format.md

        error: standard input:1:42: missing field `nodes`
        help: every field of a table is described in docs/book/src/table-format.md

        error: standard input:1:11: graph: EOF while parsing a value
        help: every field of a table is described in docs/book/src/table-format.md

        error: standard input:1:46: trailing characters
        help: every field of a table is described in docs/book/src/table-format.md

        error: standard input: nodes: no node is the entry: mark one
        help: the rules for names and kinds are in docs/book/src/table-format.md

        error: nowhere.json cannot be read: No such file or directory (os error 2)
        help: name a JSON file in UTF-8, or `-`
    "#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn wrong_arguments_are_refused_with_the_usage() {
    for (arguments, problem) in [
        (&[][..], "no table is named"),
        (&["a.json", "b.json"], "one table at a time"),
        (&["--limits", "5"], "there is no option `--limits`"),
        (&["--limit"], "`--limit` needs a whole number, at least 1"),
        (&["--limit", "many", "a.json"], "`--limit` needs a whole number, at least 1"),
        (&["--limit", "0", "a.json"], "`--limit` needs a whole number, at least 1"),
    ] {
        let error = refused(arguments, "");
        assert!(error.starts_with(&format!("error: {problem}\nhelp: usage: soundness")), "{error}");
    }
    let (code, out, _) = soundness(&["--help"], "");
    assert!(code == 0 && out.starts_with("usage: soundness"), "{out}");
}
