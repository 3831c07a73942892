//! The table is data: nodes, kinds, types by name, edges, attributes.

use super::everything::Newsroom;
use expect_test::expect;
use interlocking::graph::Graph as _;
use interlocking::table::Table;

#[test]
fn the_table_is_data() {
    let json = serde_json::to_string_pretty(Newsroom::net().table()).unwrap();
    expect![[r#"
        {
          "graph": "Newsroom",
          "output": "Verdict",
          "nodes": [
            {
              "name": "write",
              "kind": "fork",
              "entry": true,
              "input": "String",
              "fork": {
                "branches": [
                  [
                    "spelling"
                  ],
                  [
                    "facts",
                    "desk.facts"
                  ]
                ]
              },
              "visits": {
                "at_most": 5
              },
              "memory": {
                "group": "desk",
                "type": "Vec<String>"
              }
            },
            {
              "name": "spelling",
              "kind": "logic",
              "input": "String",
              "goto": [
                {
                  "to": "spelling"
                },
                {
                  "to": "desk"
                }
              ],
              "exhausted": {
                "to": "exit",
                "cancels": [
                  "*"
                ]
              },
              "attempts": 3,
              "timeout_ms": 90000
            },
            {
              "name": "facts",
              "kind": "logic",
              "input": "String",
              "goto": [
                {
                  "to": "desk"
                },
                {
                  "to": "exit",
                  "cancels": [
                    "spelling",
                    "desk"
                  ]
                }
              ],
              "visits": "unbounded"
            },
            {
              "name": "desk",
              "kind": "join",
              "slots": [
                {
                  "name": "spelling",
                  "type": "String",
                  "sources": [
                    "spelling",
                    "again"
                  ]
                },
                {
                  "name": "facts",
                  "type": "bool",
                  "sources": [
                    "facts",
                    "write"
                  ],
                  "latched": true
                }
              ],
              "goto": [
                {
                  "to": "review"
                },
                {
                  "to": "write",
                  "cancels": [
                    "desk.facts"
                  ]
                }
              ],
              "memory": {
                "group": "desk",
                "type": "Vec<String>"
              }
            },
            {
              "name": "review",
              "kind": "logic",
              "input": "String",
              "goto": [
                {
                  "to": "again"
                },
                {
                  "to": "exit"
                }
              ],
              "exhausted": {
                "to": "exit"
              },
              "visits": {
                "at_most": 2
              },
              "memory": {
                "group": "review",
                "type": "u64"
              }
            },
            {
              "name": "again",
              "kind": "logic",
              "input": "String",
              "goto": [
                {
                  "to": "desk"
                }
              ],
              "workspace": "main"
            }
          ]
        }"#]]
    .assert_eq(&json);
    let again: Table = serde_json::from_str(&json).unwrap();
    assert_eq!(again, *Newsroom::net().table());
}
