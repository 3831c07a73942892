//! Diagrams of routing tables, compared with the expected ones.

use crate::protocols;
use expect_test::{Expect, expect, expect_file};
use interlocking_core::draw::{dot, mermaid};
use interlocking_core::table::{Goto, Isolation, NodeKind, NodeRow, Quorum, Table};

fn check(table: &Table, in_mermaid: Expect, in_dot: Expect) {
    in_mermaid.assert_eq(&mermaid(table));
    in_dot.assert_eq(&dot(table));
}

/// HY-69: the graph is data (nodes, kinds, types, edges) and can be printed.
#[test]
fn hybrid_is_drawn_with_its_nodes_kinds_types_and_edges() {
    expect_file!["../drawings/hybrid.mmd"].assert_eq(&mermaid(&protocols::hybrid()));
    expect_file!["../drawings/hybrid.dot"].assert_eq(&dot(&protocols::hybrid()));
}

#[test]
fn v3_is_drawn_with_its_regions_and_its_branch_that_may_be_skipped() {
    expect_file!["../drawings/v3.mmd"].assert_eq(&mermaid(&protocols::v3()));
    expect_file!["../drawings/v3.dot"].assert_eq(&dot(&protocols::v3()));
}

#[test]
fn scout_and_wave_is_drawn_with_its_people() {
    expect_file!["../drawings/scout_and_wave.mmd"].assert_eq(&mermaid(&protocols::scout_and_wave()));
    expect_file!["../drawings/scout_and_wave.dot"].assert_eq(&dot(&protocols::scout_and_wave()));
}

#[test]
fn every_kind_has_a_shape_and_every_attribute_a_word() {
    let kinds = [
        NodeKind::Llm,
        NodeKind::Logic,
        NodeKind::Fork,
        NodeKind::Map,
        NodeKind::Human,
        NodeKind::Advisory,
        NodeKind::Observer,
        NodeKind::Event,
    ];
    let mut table = Table::new("Kinds", "T");
    for (name, kind) in ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().zip(kinds) {
        table = table.with(NodeRow::new(name, kind));
    }
    table.nodes[0] = table.nodes[0].clone().entry().input("A").visits(3).attempts(2).timeout_ms(90_000).agent("writer");
    table.nodes[0] = table.nodes[0].clone().workspace("desk").exclusive("ink").read_only().exhausted("b", &["c", "d"]);
    table.nodes[0] = table.nodes[0].clone().isolation(Isolation::Sandbox).blind_to("h").blind_to("b");
    table.nodes[1] = table.nodes[1].clone().unbounded().timeout_ms(1).goto("exit", &["*"]).goto("b", &[]);
    table.nodes[1] = table.nodes[1].clone().timed_out("c", &[]).failed("exit", &["*"]);
    check(
        &table,
        expect![[r#"
            flowchart TD
              run_entry(["entry"])
              run_messages(["messages"])
              n_a("a: A<br/>LLMNode, visits 3, attempts 2, timeout 90 s, exclusive ink, agent writer, workspace desk, read-only, isolation sandbox, blind to h and b")
              n_b["b<br/>LogicNode, visits unbounded, timeout 1 ms"]
              n_c[/"c<br/>ForkNode"\]
              n_d[["d<br/>MapNode"]]
              n_e[/"e<br/>HumanNode"/]
              n_f{{"f<br/>AdvisoryNode"}}
              n_g>"g<br/>ObserverNode"]
              n_h(("h<br/>EventNode"))
              run_exit((("exit: T")))
              run_entry --> n_a
              n_a -.->|"exhausted<br/>✕ c, d"| n_b
              n_b -->|"✕ *"| run_exit
              n_b --> n_b
              n_b -.->|"timed out"| n_c
              n_b -.->|"failed<br/>✕ *"| run_exit
              n_f -.->|"report"| run_exit
              n_g -.->|"report"| run_exit
              run_messages -.->|"message"| n_h
        "#]],
        expect![[r#"
            digraph "Kinds" {
              rankdir=TB
              run_entry [label="entry", shape=plaintext]
              run_messages [label="messages", shape=plaintext]
              n_a [label="a: A\nLLMNode, visits 3, attempts 2, timeout 90 s, exclusive ink, agent writer, workspace desk, read-only, isolation sandbox, blind to h and b", shape=box, style=rounded]
              n_b [label="b\nLogicNode, visits unbounded, timeout 1 ms", shape=box]
              n_c [label="c\nForkNode", shape=trapezium]
              n_d [label="d\nMapNode", shape=box, peripheries=2]
              n_e [label="e\nHumanNode", shape=parallelogram]
              n_f [label="f\nAdvisoryNode", shape=hexagon]
              n_g [label="g\nObserverNode", shape=note]
              n_h [label="h\nEventNode", shape=ellipse]
              run_exit [label="exit: T", shape=doubleoctagon]
              run_entry -> n_a
              n_a -> n_b [label="exhausted\n✕ c, d", style=dotted]
              n_b -> run_exit [label="✕ *"]
              n_b -> n_b
              n_b -> n_c [label="timed out", style=dotted]
              n_b -> run_exit [label="failed\n✕ *", style=dotted]
              n_f -> run_exit [label="report", style=dotted]
              n_g -> run_exit [label="report", style=dotted]
              run_messages -> n_h [label="message", style=dotted]
            }
        "#]],
    );
}

/// A map with its child, a person with question and answer, and the relations without tokens: spawns, sights, messages,
/// reports.
#[test]
fn what_goes_on_beside_the_graph_is_dotted() {
    let table = Table::new("Desk", "Edition")
        .with(NodeRow::new("split", NodeKind::Logic).entry().input("Plan").goto("chapters", &[]).spawn("hint"))
        .with(
            NodeRow::new("chapters", NodeKind::Map)
                .input("Plan")
                .map("Vec<\"Desk\">")
                .concurrency(2)
                .quorum(Quorum::AtLeast(2))
                .depth(3)
                .adopt()
                .goto("approve", &[]),
        )
        .with(NodeRow::new("approve", NodeKind::Human).input("Plan").asks("Question", "bool").goto("exit", &["*"]))
        .with(NodeRow::new("hint", NodeKind::Advisory).input("Plan").report("Hint"))
        .with(NodeRow::new("witness", NodeKind::Observer).observes("split").observes("rebase").report("Seen"))
        .with(
            NodeRow::new("rebase", NodeKind::Event)
                .input("Merged")
                .resume()
                .transient()
                .adds_to("chapters")
                .spawn("hint")
                .visits(4)
                .goto("split", &["chapters", "approve"])
                .exhausted("exit", &["*"]),
        );
    check(
        &table,
        expect![[r#"
            flowchart TD
              run_entry(["entry"])
              run_messages(["messages"])
              n_split["split: Plan<br/>LogicNode"]
              n_chapters[["chapters: Plan<br/>MapNode, runs Vec#lt;#quot;Desk#quot;#gt;, concurrency 2, quorum 2, depth 3, adopts"]]
              n_approve[/"approve: Plan<br/>HumanNode, asks Question, answer bool"/]
              n_hint{{"hint: Plan<br/>AdvisoryNode"}}
              n_witness>"witness<br/>ObserverNode"]
              n_rebase(("rebase: Merged<br/>EventNode, visits 4, may resume, transient"))
              run_exit((("exit: Edition")))
              run_entry --> n_split
              n_split --> n_chapters
              n_split -.->|"spawn"| n_hint
              n_chapters --> n_approve
              n_approve -->|"✕ *"| run_exit
              n_hint -.->|"report: Hint"| run_exit
              n_split -.->|"observed"| n_witness
              n_rebase -.->|"observed"| n_witness
              n_witness -.->|"report: Seen"| run_exit
              n_rebase -->|"✕ chapters, approve"| n_split
              n_rebase -.->|"exhausted<br/>✕ *"| run_exit
              n_rebase -.->|"spawn"| n_hint
              run_messages -.->|"message"| n_rebase
              n_rebase -.->|"adds items"| n_chapters
        "#]],
        expect![[r#"
            digraph "Desk" {
              rankdir=TB
              run_entry [label="entry", shape=plaintext]
              run_messages [label="messages", shape=plaintext]
              n_split [label="split: Plan\nLogicNode", shape=box]
              n_chapters [label="chapters: Plan\nMapNode, runs Vec<\"Desk\">, concurrency 2, quorum 2, depth 3, adopts", shape=box, peripheries=2]
              n_approve [label="approve: Plan\nHumanNode, asks Question, answer bool", shape=parallelogram]
              n_hint [label="hint: Plan\nAdvisoryNode", shape=hexagon]
              n_witness [label="witness\nObserverNode", shape=note]
              n_rebase [label="rebase: Merged\nEventNode, visits 4, may resume, transient", shape=ellipse]
              run_exit [label="exit: Edition", shape=doubleoctagon]
              run_entry -> n_split
              n_split -> n_chapters
              n_split -> n_hint [label="spawn", style=dotted]
              n_chapters -> n_approve
              n_approve -> run_exit [label="✕ *"]
              n_hint -> run_exit [label="report: Hint", style=dotted]
              n_split -> n_witness [label="observed", style=dotted]
              n_rebase -> n_witness [label="observed", style=dotted]
              n_witness -> run_exit [label="report: Seen", style=dotted]
              n_rebase -> n_split [label="✕ chapters, approve"]
              n_rebase -> run_exit [label="exhausted\n✕ *", style=dotted]
              n_rebase -> n_hint [label="spawn", style=dotted]
              run_messages -> n_rebase [label="message", style=dotted]
              n_rebase -> n_chapters [label="adds items", style=dotted]
            }
        "#]],
    );
}

#[test]
fn an_edge_shows_its_budget_and_where_the_run_goes_beyond_it() {
    let judge = NodeRow::new("judge", NodeKind::Logic)
        .goto("exit", &[])
        .edge(Goto::new("work", &["aside"]).times(5).exhausted(Goto::new("exit", &["*"])))
        .edge(Goto::new("aside", &[]).times(1));
    let table = Table::new("Loop", "T")
        .with(NodeRow::new("work", NodeKind::Logic).entry().goto("judge", &[]))
        .with(judge)
        .with(NodeRow::new("aside", NodeKind::Logic).goto("judge", &[]));
    check(
        &table,
        expect![[r#"
        flowchart TD
          run_entry(["entry"])
          n_work["work<br/>LogicNode"]
          n_judge["judge<br/>LogicNode"]
          n_aside["aside<br/>LogicNode"]
          run_exit((("exit: T")))
          run_entry --> n_work
          n_work --> n_judge
          n_judge --> run_exit
          n_judge -->|"at most 5 times<br/>✕ aside"| n_work
          n_judge -->|"at most once"| n_aside
          n_judge -.->|"exhausted: work<br/>✕ *"| run_exit
          n_aside --> n_judge
    "#]],
        expect![[r#"
        digraph "Loop" {
          rankdir=TB
          run_entry [label="entry", shape=plaintext]
          n_work [label="work\nLogicNode", shape=box]
          n_judge [label="judge\nLogicNode", shape=box]
          n_aside [label="aside\nLogicNode", shape=box]
          run_exit [label="exit: T", shape=doubleoctagon]
          run_entry -> n_work
          n_work -> n_judge
          n_judge -> run_exit
          n_judge -> n_work [label="at most 5 times\n✕ aside"]
          n_judge -> n_aside [label="at most once"]
          n_judge -> run_exit [label="exhausted: work\n✕ *", style=dotted]
          n_aside -> n_judge
        }
    "#]],
    );
}

#[test]
fn slots_branches_and_regions_are_told_apart() {
    let table = Table::new("Edges", "T")
        .with(NodeRow::new("split", NodeKind::Fork).entry().fork(&["a", "b|meet.right|meet.left"], &["meet", "a"]))
        .with(NodeRow::new("a", NodeKind::Logic).goto("meet", &[]))
        .with(NodeRow::new("b", NodeKind::Logic).goto("meet.right", &["meet.right"]))
        .with(
            NodeRow::new("meet", NodeKind::Join)
                .slot("left", "Left", &["a"], false)
                .slot("right", "Right", &["b"], true)
                .goto("exit", &[]),
        );
    check(
        &table,
        expect![[r#"
        flowchart TD
          run_entry(["entry"])
          n_split[/"split<br/>ForkNode"\]
          n_a["a<br/>LogicNode"]
          n_b["b<br/>LogicNode"]
          n_meet[\"meet<br/>JoinNode"/]
          run_exit((("exit: T")))
          run_entry --> n_split
          n_split ==>|"fork 1<br/>✕ meet, a"| n_a
          n_split -.->|"fork 2, one of"| n_b
          n_split -.->|"fork 2, one of<br/>right: Right (latched)"| n_meet
          n_split -.->|"fork 2, one of<br/>left: Left"| n_meet
          n_a -->|"left: Left"| n_meet
          n_b -->|"right: Right (latched)<br/>✕ meet.right"| n_meet
          n_meet --> run_exit
          linkStyle 2,3,4 stroke-width:3px,stroke-dasharray:9 4
    "#]],
        expect![[r#"
        digraph "Edges" {
          rankdir=TB
          run_entry [label="entry", shape=plaintext]
          n_split [label="split\nForkNode", shape=trapezium]
          n_a [label="a\nLogicNode", shape=box]
          n_b [label="b\nLogicNode", shape=box]
          n_meet [label="meet\nJoinNode", shape=invtrapezium]
          run_exit [label="exit: T", shape=doubleoctagon]
          run_entry -> n_split
          n_split -> n_a [label="fork 1\n✕ meet, a", style=bold]
          n_split -> n_b [label="fork 2, one of", style="bold,dashed"]
          n_split -> n_meet [label="fork 2, one of\nright: Right (latched)", style="bold,dashed"]
          n_split -> n_meet [label="fork 2, one of\nleft: Left", style="bold,dashed"]
          n_a -> n_meet [label="left: Left"]
          n_b -> n_meet [label="right: Right (latched)\n✕ meet.right"]
          n_meet -> run_exit
        }
    "#]],
    );
}

#[test]
fn reserved_words_and_odd_characters_are_safe() {
    let row = |name: &str| NodeRow::new(name, NodeKind::Logic);
    let table = Table::new("He said \"hi\" \\ <b>", "Vec<Result<&'static str, \"`#1\"\n>>")
        .with(row("end").entry().input("HashMap<K, V>").goto("graph", &[]).goto("style", &[]))
        .with(row("graph").goto("subgraph", &[]).goto("o", &[]).goto("x", &[]).goto("node", &[]))
        .with(row("style").goto("run_exit", &[]))
        .with(row("subgraph").goto("exit", &[]))
        .with(row("o").goto("exit", &[]))
        .with(row("x").input("%%{init: 1}%%").goto("exit", &[]))
        .with(row("node").goto("größe", &[]))
        .with(row("größe").goto("a\"]; b", &[]))
        .with(row("a\"]; b").goto("nowhere", &[]))
        .with(row("run_exit").goto("exit", &[]));
    check(
        &table,
        expect![[r#"
        flowchart TD
          run_entry(["entry"])
          n_end["end: HashMap#lt;K, V#gt;<br/>LogicNode"]
          n_graph["graph<br/>LogicNode"]
          n_style["style<br/>LogicNode"]
          n_subgraph["subgraph<br/>LogicNode"]
          n_o["o<br/>LogicNode"]
          n_x["x: #37;#37;{init: 1}#37;#37;<br/>LogicNode"]
          n_node["node<br/>LogicNode"]
          n7["größe<br/>LogicNode"]
          n8["a#quot;]; b<br/>LogicNode"]
          n_run_exit["run_exit<br/>LogicNode"]
          run_exit((("exit: Vec#lt;Result#lt;#amp;'static str, #quot;#96;#35;1#quot; #gt;#gt;")))
          run_entry --> n_end
          n_end --> n_graph
          n_end --> n_style
          n_graph --> n_subgraph
          n_graph --> n_o
          n_graph --> n_x
          n_graph --> n_node
          n_style --> n_run_exit
          n_subgraph --> run_exit
          n_o --> run_exit
          n_x --> run_exit
          n_node --> n7
          n7 --> n8
          n8 --> unknown
          n_run_exit --> run_exit
    "#]],
        expect![[r#"
        digraph "He said \"hi\" \\ <b>" {
          rankdir=TB
          run_entry [label="entry", shape=plaintext]
          n_end [label="end: HashMap<K, V>\nLogicNode", shape=box]
          n_graph [label="graph\nLogicNode", shape=box]
          n_style [label="style\nLogicNode", shape=box]
          n_subgraph [label="subgraph\nLogicNode", shape=box]
          n_o [label="o\nLogicNode", shape=box]
          n_x [label="x: %%{init: 1}%%\nLogicNode", shape=box]
          n_node [label="node\nLogicNode", shape=box]
          n7 [label="größe\nLogicNode", shape=box]
          n8 [label="a\"]; b\nLogicNode", shape=box]
          n_run_exit [label="run_exit\nLogicNode", shape=box]
          run_exit [label="exit: Vec<Result<&amp;'static str, \"`#1\" >>", shape=doubleoctagon]
          run_entry -> n_end
          n_end -> n_graph
          n_end -> n_style
          n_graph -> n_subgraph
          n_graph -> n_o
          n_graph -> n_x
          n_graph -> n_node
          n_style -> n_run_exit
          n_subgraph -> run_exit
          n_o -> run_exit
          n_x -> run_exit
          n_node -> n7
          n7 -> n8
          n8 -> unknown
          n_run_exit -> run_exit
        }
    "#]],
    );
}

#[test]
fn a_quorum_is_drawn_with_what_it_clears() {
    let count = NodeRow::new("count", NodeKind::Join).slot("a", "Vote", &["a"], false);
    let count = count.optional_slot("b", "Vote", &["b"]).optional_slot("c", "Vote", &["c"]);
    let count = count.quorum(Quorum::AtLeast(2)).cancels(&["a", "b", "c"]).visits(3).goto("exit", &[]);
    let table = Table::new("Election", "Vote")
        .with(NodeRow::new("ask", NodeKind::Fork).entry().fork(&["a", "b|count.b", "count.c"], &[]))
        .with(NodeRow::new("a", NodeKind::Llm).goto("count", &[]))
        .with(NodeRow::new("b", NodeKind::Llm).goto("count", &[]))
        .with(count);
    check(
        &table,
        expect![[r#"
        flowchart TD
          run_entry(["entry"])
          n_ask[/"ask<br/>ForkNode"\]
          n_a("a<br/>LLMNode")
          n_b("b<br/>LLMNode")
          n_count[\"count<br/>JoinNode, 2 of 3, ✕ a, b, c, visits 3"/]
          run_exit((("exit: Vote")))
          run_entry --> n_ask
          n_ask ==>|"fork 1"| n_a
          n_ask -.->|"fork 2, one of"| n_b
          n_ask -.->|"fork 2, one of<br/>b: Vote (or none)"| n_count
          n_ask ==>|"fork 3<br/>c: Vote (or none)"| n_count
          n_a -->|"a: Vote"| n_count
          n_b -->|"b: Vote (or none)"| n_count
          n_count --> run_exit
          linkStyle 2,3 stroke-width:3px,stroke-dasharray:9 4
    "#]],
        expect![[r#"
        digraph "Election" {
          rankdir=TB
          run_entry [label="entry", shape=plaintext]
          n_ask [label="ask\nForkNode", shape=trapezium]
          n_a [label="a\nLLMNode", shape=box, style=rounded]
          n_b [label="b\nLLMNode", shape=box, style=rounded]
          n_count [label="count\nJoinNode, 2 of 3, ✕ a, b, c, visits 3", shape=invtrapezium]
          run_exit [label="exit: Vote", shape=doubleoctagon]
          run_entry -> n_ask
          n_ask -> n_a [label="fork 1", style=bold]
          n_ask -> n_b [label="fork 2, one of", style="bold,dashed"]
          n_ask -> n_count [label="fork 2, one of\nb: Vote (or none)", style="bold,dashed"]
          n_ask -> n_count [label="fork 3\nc: Vote (or none)", style=bold]
          n_a -> n_count [label="a: Vote"]
          n_b -> n_count [label="b: Vote (or none)"]
          n_count -> run_exit
        }
    "#]],
    );
}
