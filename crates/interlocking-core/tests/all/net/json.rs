//! Tables as JSON, and tables made at run time.

use super::*;

#[test]
fn a_table_survives_json() {
    for table in [protocols::hybrid(), protocols::v3(), protocols::scout_and_wave()] {
        let json = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&json).unwrap(), table);
    }
    let mut row = logic("a").entry().unbounded().attempts(1).timeout_ms(u64::MAX).agent("x").workspace("y").read_only();
    row = row.isolation(Isolation::Sandbox).blind_to("b");
    row.goto.push(Goto::of(Target { node: "a".into(), slot: None }, vec!["*".into()]));
    let table = table([row.input("A").memory("m", "M").llm("P", "O").fork(&["a|exit"], &["a"])]);
    let json = serde_json::to_value(&table).unwrap();
    assert_eq!(serde_json::from_value::<Table>(json).unwrap(), table);
}

#[test]
fn the_json_of_a_table() {
    let table = Table::new("Newsroom", "Article")
        .with(
            NodeRow::new("write", NodeKind::Llm)
                .entry()
                .input("Draft")
                .llm("WritePrompt<'_>", "Article")
                .fork(&["spell", "desk.facts|exit"], &["spell"])
                .visits(3)
                .exhausted("exit", &["*"])
                .agent("writer")
                .workspace("desk")
                .read_only()
                .isolation(Isolation::Clone)
                .blind_to("facts")
                .timeout_ms(90_000)
                .memory("desk", "Notes"),
        )
        .with(NodeRow::new("spell", NodeKind::Logic).input("Draft").goto("desk", &[]).unbounded().attempts(2))
        .with(
            NodeRow::new("desk", NodeKind::Join)
                .slot("spell", "Article", &["spell"], false)
                .slot("facts", "bool", &["write"], true)
                .goto("exit", &[]),
        );
    let json = serde_json::to_string_pretty(&table).unwrap();
    expect![[r#"
        {
          "graph": "Newsroom",
          "output": "Article",
          "nodes": [
            {
              "name": "write",
              "kind": "llm",
              "entry": true,
              "input": "Draft",
              "prompt": "WritePrompt<'_>",
              "output": "Article",
              "fork": {
                "branches": [
                  [
                    "spell"
                  ],
                  [
                    "desk.facts",
                    "exit"
                  ]
                ],
                "cancels": [
                  "spell"
                ]
              },
              "exhausted": {
                "to": "exit",
                "cancels": [
                  "*"
                ]
              },
              "visits": {
                "at_most": 3
              },
              "timeout_ms": 90000,
              "agent": "writer",
              "workspace": "desk",
              "read_only": true,
              "isolation": "clone",
              "blind_to": [
                "facts"
              ],
              "memory": {
                "group": "desk",
                "type": "Notes"
              }
            },
            {
              "name": "spell",
              "kind": "logic",
              "input": "Draft",
              "goto": [
                {
                  "to": "desk"
                }
              ],
              "visits": "unbounded",
              "attempts": 2
            },
            {
              "name": "desk",
              "kind": "join",
              "slots": [
                {
                  "name": "spell",
                  "type": "Article",
                  "sources": [
                    "spell"
                  ]
                },
                {
                  "name": "facts",
                  "type": "bool",
                  "sources": [
                    "write"
                  ],
                  "latched": true
                }
              ],
              "goto": [
                {
                  "to": "exit"
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&json);
    assert_eq!(serde_json::from_str::<Table>(&json).unwrap(), table);
}

/// A table made at run time is refused for the same names, slots and targets as the derive refuses.
#[test]
fn a_table_made_at_run_time_has_the_shape_of_a_derived_one() {
    let start = || logic("a").entry().goto("exit", &[]);
    let slot = |name: &str, sources: &[&str]| NodeRow::new("meet", NodeKind::Join).slot(name, "T", sources, false);
    let meet = || slot("one", &["a"]).goto("exit", &[]);
    let event = || NodeRow::new("message", NodeKind::Event);
    let beside = |kind| NodeRow::new("aside", kind);
    let mut branches = [logic("a").entry().fork(&["a"], &[]), start().fork(&["a"], &[])];
    branches[0].fork.as_mut().unwrap().branches.clear();
    branches[1].fork.as_mut().unwrap().branches = vec![Vec::new()];
    let [no_branch, no_target] = branches;
    let wrong = [
        as_they_are([start(), logic("*").goto("exit", &[])]),
        as_they_are([start(), logic("").goto("exit", &[])]),
        as_they_are([start(), logic("a.b").goto("exit", &[])]),
        as_they_are([start(), logic("a b").goto("exit", &[])]),
        as_they_are([start(), slot("a.b", &["a"]).goto("exit", &[])]),
        as_they_are([start(), slot("", &["a"]).goto("exit", &[])]),
        as_they_are([start(), slot("one", &[]).goto("exit", &[])]),
        as_they_are([start().spawn("aside"), slot("one", &["aside"]).goto("exit", &[]), beside(NodeKind::Advisory)]),
        as_they_are([start(), meet(), logic("b").goto("meet.one", &[])]),
        as_they_are([start(), meet(), logic("b").fork(&["a", "meet.one"], &[])]),
        as_they_are([start(), meet(), logic("b").goto("a", &[]).exhausted("meet.one", &[])]),
        as_they_are([logic("a").entry().spawn("aside"), beside(NodeKind::Advisory)]),
        as_they_are([logic("a").entry().exhausted("exit", &[]).visits(1)]),
        as_they_are([start().timed_out("exit", &[])]),
        as_they_are([start(), event().resume().timeout_ms(1).timed_out("a", &["a"])]),
        as_they_are([start(), event().resume().failed("a", &["a"])]),
        as_they_are([start().spawn("aside"), beside(NodeKind::Advisory).failed("a", &[])]),
        as_they_are([start(), meet(), logic("b").goto("a", &[]).failed("meet.one", &[])]),
        as_they_are([start(), slot("one", &["a"])]),
        as_they_are([start(), event()]),
        as_they_are([no_branch]),
        as_they_are([no_target]),
        as_they_are([start().goto("a", &["message"]), event().resume()]),
        as_they_are([start().goto("a", &["aside"]), beside(NodeKind::Observer)]),
    ];
    let messages: Vec<String> = wrong.map(|table| Net::new(table).unwrap_err().to_string()).into();
    expect![[r#"
        node `*`: `*` is no name: one word of letters, digits and `_` is
        node ``: `` is no name: one word of letters, digits and `_` is
        node `a.b`: `a.b` is no name: one word of letters, digits and `_` is
        node `a b`: `a b` is no name: one word of letters, digits and `_` is
        node `meet`: `a.b` is no name: one word of letters, digits and `_` is
        node `meet`: `` is no name: one word of letters, digits and `_` is
        node `meet`: slot `one` is filled from nothing: name a node in its `sources`
        node `meet`: slot `one` cannot be filled from `aside`, which works beside the graph and leads nowhere
        node `b`: slot `meet.one` does not name it as a source: name it there
        node `b`: slot `meet.one` does not name it as a source: name it there
        node `b`: slot `meet.one` does not name it as a source: name it there
        node `a`: it leads nowhere: say where it goes, by a `goto` or a `fork`
        node `a`: it leads nowhere: say where it goes, by a `goto` or a `fork`
        node `a`: it has no `timeout`, so it is never timed out: give it one, or take the route away
        node `message`: it takes no token that could go elsewhere: no `timed_out`, no `failed`
        node `message`: it takes no token that could go elsewhere: no `timed_out`, no `failed`
        node `aside`: it works beside the graph and leads nowhere: take its targets away
        node `b`: slot `meet.one` does not name it as a source: name it there
        node `meet`: it leads nowhere: say where it goes, by a `goto` or a `fork`
        node `message`: it leads nowhere: let it `resume`, or redirect the run by a `goto`
        node `a`: its fork has no branches, or one without a target: each branch names where it goes
        node `a`: its fork has no branches, or one without a target: each branch names where it goes
        node `a`: `message` holds no token of the run, so nothing of it is cleared: leave it out
        node `a`: `aside` holds no token of the run, so nothing of it is cleared: leave it out"#]]
    .assert_eq(&messages.join("\n"));
    for name in ["a_1", "größe", "क्ष", "_"] {
        let named = as_they_are([start(), logic(name).goto("exit", &[])]);
        assert!(Net::new(named).is_ok(), "{name}");
    }
}
