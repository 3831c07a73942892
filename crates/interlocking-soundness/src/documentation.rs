//! Checks docs/book/src/table-format.md: its tables have the stated verdicts, and it names every field and every rule. Only in this
//! crate can they be listed so that a new one is a compile error.

use crate::{Rule, Step, Verdict, Violation, check};
use interlocking_core::net::Net;
use interlocking_core::table::{Goto, Isolation, NodeKind, NodeRow, Quorum, Table};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../docs/book/src/table-format.md");

/// The JSON blocks after `<!-- what -->`.
fn blocks(what: &str) -> Vec<Value> {
    let marker = format!("<!-- {what} -->\n```json\n");
    let blocks = PAGE.split(marker.as_str()).skip(1);
    blocks.map(|rest| serde_json::from_str(rest.split_once("```").unwrap().0).unwrap()).collect()
}

#[test]
fn the_documented_tables_have_the_documented_verdicts() {
    let (tables, verdicts) = (blocks("table"), blocks("verdict"));
    assert_eq!(tables.len(), verdicts.len());
    assert!(tables.len() >= 2, "{PAGE}");
    for (table, documented) in tables.into_iter().zip(verdicts) {
        let net = Net::new(serde_json::from_value::<Table>(table).unwrap()).unwrap();
        let mut verdict = serde_json::to_value(check(&net)).unwrap();
        verdict["graph"] = net.table().graph.clone().into();
        assert_eq!(documented, verdict, "{verdict:#}");
    }
}

/// The names of an object's fields.
fn keys(value: &Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// The lines of the page's section with this heading.
fn section(heading: &str) -> Vec<&'static str> {
    let (_, rest) = PAGE.split_once(&format!("\n{heading}\n")).unwrap();
    rest.lines().take_while(|line| !line.starts_with('#')).collect()
}

/// Asserts that a section's table has a row for each of these names, and for nothing else.
fn has_rows(heading: &str, mut names: Vec<String>) {
    let rows = section(heading).into_iter().filter_map(|line| line.strip_prefix("| `"));
    let mut documented: Vec<String> = rows.filter_map(|row| Some(row.split_once('`')?.0.to_owned())).collect();
    names.sort();
    documented.sort();
    assert_eq!(documented, names, "{heading}");
}

/// A row with every field that rows can have.
fn full_row() -> NodeRow {
    let row = NodeRow::new("all", NodeKind::Event).entry().input("T").llm("P", "O").resume().transient();
    let row = row.edge(Goto::new("a", &["*"]).times(1).exhausted(Goto::new("b", &["*"])));
    let row = row.slot("slot", "T", &["a"], true).fork(&["a", "b"], &["*"]).spawn("c").exhausted("a", &["*"]);
    let row =
        row.map("C").graph("G").adds_to("m").concurrency(1).depth(1).adopt().asks("Q", "A").report("R").observes("d");
    let mut row = row.quorum(Quorum::AtLeast(1)).cancels(&["a"]);
    row.slots[0].optional = true;
    row.visits(1)
        .attempts(1)
        .timeout_ms(1)
        .timed_out("a", &["*"])
        .failed("a", &["*"])
        .exclusive("x")
        .agent("a")
        .model("m")
        .workspace("w")
        .read_only()
        .isolation(Isolation::Sandbox)
        .blind_to("e")
        .memory("g", "T")
}

#[test]
fn every_field_of_a_table_is_documented() {
    let table = serde_json::to_value(Table::new("G", "T").with(full_row())).unwrap();
    let row = &table["nodes"][0];
    has_rows("## The table", keys(&table));
    has_rows("### A node", keys(row));
    has_rows("### A slot", keys(&row["slots"][0]));
    has_rows("### A goto", keys(&row["goto"][0]));
    has_rows("### A fork", keys(&row["fork"]));
    assert_eq!(keys(&row["memory"]), ["group", "type"]);
    assert_eq!(row["visits"], json!({ "at_most": 1 }));
}

#[test]
fn every_kind_is_documented() {
    use NodeKind::{Advisory, Event, Fork, Graph, Human, Join, Llm, Logic, Map, Observer};
    let kinds = section("### Kinds").join("\n");
    let row = section("### A node").into_iter().find(|line| line.starts_with("| `kind`")).unwrap();
    for kind in [Llm, Logic, Fork, Join, Map, Graph, Human, Advisory, Observer, Event] {
        let name = serde_json::to_value(kind).unwrap();
        assert!(row.contains(&format!("`{name}`")), "{name}");
        assert!(kinds.contains(&format!("`{}`", name.as_str().unwrap())), "{name}");
    }
}

/// One instance of each rule. A match without a default arm makes a new rule a compile error until it is in this list.
fn rules() -> Vec<Rule> {
    let (name, names) = (String::new, Vec::new);
    let first = Rule::DoubleToken { from: name(), place: name() };
    let next = |rule: &Rule| match rule {
        Rule::DoubleToken { .. } => Some(Rule::LiveAtExit { from: name(), live: names() }),
        Rule::LiveAtExit { .. } => Some(Rule::StarvedJoin { join: name(), missing: names() }),
        Rule::StarvedJoin { .. } => Some(Rule::Deadlock { joins: names(), missing: names() }),
        Rule::Deadlock { .. } => Some(Rule::UnboundedCycle { nodes: names() }),
        Rule::UnboundedCycle { .. } => Some(Rule::NeverRuns { node: name() }),
        Rule::NeverRuns { .. } => Some(Rule::SharedWorkspace { workspace: name(), nodes: names() }),
        Rule::SharedWorkspace { .. } => Some(Rule::ExitUnreachable),
        Rule::ExitUnreachable => Some(Rule::NoWayOut { nodes: names() }),
        Rule::NoWayOut { .. } => None,
    };
    std::iter::successors(Some(first), next).collect()
}

#[test]
fn every_field_of_a_verdict_and_every_rule_is_documented() {
    let rules = rules();
    let lines = section("### Rules");
    let mut names = Vec::new();
    for rule in &rules {
        let value = serde_json::to_value(rule).unwrap();
        let name = value["rule"].as_str().unwrap().to_owned();
        let fields: Vec<String> =
            keys(&value).into_iter().filter(|key| key != "rule").map(|key| format!("`{key}`")).collect();
        let row = format!("| `{name}` | {}", fields.join(", "));
        assert!(lines.iter().any(|line| line.starts_with(row.trim_end())), "{row}");
        names.push(name);
    }
    has_rows("### Rules", [vec!["rule".to_owned()], names].concat());

    let step = Step {
        node: "a".into(),
        to: vec!["b".into()],
        none: vec!["b".into()],
        exhausted: true,
        timed_out: true,
        failed: true,
    };
    has_rows("### A step", keys(&serde_json::to_value(&step).unwrap()));
    let violation = Violation {
        rule: Rule::ExitUnreachable,
        blame: "a".into(),
        path: vec![step],
        shortest: true,
        marking: vec!["a".into()],
        trace: "a".into(),
        remedy: "b".into(),
    };
    has_rows("### A violation", keys(&serde_json::to_value(&violation).unwrap()));
    let verdicts = [
        Verdict::Sound { markings: 1 },
        Verdict::Unsound { violations: vec![violation] },
        Verdict::Undecided { limit: 1 },
    ];
    for verdict in verdicts {
        let value = serde_json::to_value(&verdict).unwrap();
        let field = keys(&value).into_iter().find(|key| key != "verdict").unwrap();
        let row = format!("| `{}` | `{field}` |", value["verdict"]);
        assert!(section("## The verdict").iter().any(|line| line.starts_with(&row)), "{row}");
        assert_eq!(serde_json::from_value::<Verdict>(value).unwrap(), verdict);
    }
}
