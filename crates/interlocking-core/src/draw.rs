//! Diagrams of a routing table: Mermaid and DOT.
//!
//! Both show the same. A node's shape shows its kind; its first line has name and type, its second kind and attributes.
//! Edges are thick for the branches of a fork, dashed where a branch chooses among targets, and dotted for the routes
//! that the run takes without the handler (exhausted, timed out, failed) and for activity beside the graph: the start
//! of advisory nodes, observed outcomes, messages, and reports at the exit. An edge into a join is labelled with the
//! slot, an edge that cancels with what it clears, an edge with a budget with the budget, and the route of an edge's
//! exhausted budget with that edge. A join with a quorum shows how many of how many values it needs, and what it
//! clears.

use crate::table::{EXIT, Goto, NodeKind, NodeRow, Quorum, Table, Target, Visits};
use std::fmt::Write;

/// The table as a Mermaid flowchart.
///
/// Nodes may be called `end` or `graph`: their ids are prefixed, their labels quoted and escaped.
pub fn mermaid(table: &Table) -> String {
    let mut text = String::from("flowchart TD\n");
    let _ = writeln!(text, "  {ENTRY_ID}([\"entry\"])");
    if has_messages(table) {
        let _ = writeln!(text, "  {MESSAGES_ID}([\"messages\"])");
    }
    for (index, row) in table.nodes.iter().enumerate() {
        let (open, close) = mermaid_shape(row.kind);
        let label = mermaid_text(&node_lines(row));
        let _ = writeln!(text, "  {}{open}\"{label}\"{close}", node_id(index, &row.name));
    }
    let _ = writeln!(text, "  {EXIT_ID}(((\"{}\")))", mermaid_text(&[exit_line(table)]));
    for edge in edges(table) {
        let arrow = match edge.style {
            Style::Plain => "-->",
            Style::Fork => "==>",
            Style::Choice | Style::Dotted => "-.->",
        };
        let label = mermaid_text(&edge.labels);
        let label = if label.is_empty() { label } else { format!("|\"{label}\"|") };
        let _ = writeln!(text, "  {} {arrow}{label} {}", edge.from, edge.to);
    }
    // Mermaid has one dotted arrow and no dashed one.
    let choices = edges(table).enumerate().filter(|(_, edge)| edge.style == Style::Choice);
    let choices: Vec<String> = choices.map(|(index, _)| index.to_string()).collect();
    if !choices.is_empty() {
        let _ = writeln!(text, "  linkStyle {} stroke-width:3px,stroke-dasharray:9 4", choices.join(","));
    }
    text
}

/// The table as a DOT digraph.
pub fn dot(table: &Table) -> String {
    let mut text = format!("digraph \"{}\" {{\n", dot_text(std::slice::from_ref(&table.graph)));
    text.push_str("  rankdir=TB\n");
    let _ = writeln!(text, "  {ENTRY_ID} [label=\"entry\", shape=plaintext]");
    if has_messages(table) {
        let _ = writeln!(text, "  {MESSAGES_ID} [label=\"messages\", shape=plaintext]");
    }
    for (index, row) in table.nodes.iter().enumerate() {
        let (id, label, shape) = (node_id(index, &row.name), dot_text(&node_lines(row)), dot_shape(row.kind));
        let _ = writeln!(text, "  {id} [label=\"{label}\", {shape}]");
    }
    let _ = writeln!(text, "  {EXIT_ID} [label=\"{}\", shape=doubleoctagon]", dot_text(&[exit_line(table)]));
    for edge in edges(table) {
        let style = match edge.style {
            Style::Plain => "",
            Style::Fork => "style=bold",
            Style::Choice => "style=\"bold,dashed\"",
            Style::Dotted => "style=dotted",
        };
        let label = dot_text(&edge.labels);
        let label = if label.is_empty() { label } else { format!("label=\"{label}\"") };
        let attributes: Vec<&str> = [label.as_str(), style].into_iter().filter(|part| !part.is_empty()).collect();
        let attributes = if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
        let _ = writeln!(text, "  {} -> {}{attributes}", edge.from, edge.to);
    }
    text.push_str("}\n");
    text
}

const ENTRY_ID: &str = "run_entry";
const EXIT_ID: &str = "run_exit";
const MESSAGES_ID: &str = "run_messages";

/// An arrow, ready to be written in either language.
struct Edge {
    from: String,
    to: String,
    style: Style,
    /// One line each.
    labels: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// One of a node's alternatives, or the entry.
    Plain,
    /// A fork's branch with one target.
    Fork,
    /// One of several targets of a fork's branch.
    Choice,
    /// Taken without the handler, or beside the graph.
    Dotted,
}

fn edges(table: &Table) -> impl Iterator<Item = Edge> + '_ {
    let entries = table.nodes.iter().filter(|row| row.entry).map(|row| Edge {
        from: ENTRY_ID.into(),
        to: target_id(table, &row.name),
        style: Style::Plain,
        labels: Vec::new(),
    });
    entries.chain(table.nodes.iter().flat_map(|row| node_edges(table, row)))
}

fn node_edges(table: &Table, row: &NodeRow) -> Vec<Edge> {
    let edge = |style, target: &Target, role: Option<String>, cancels: &[String]| Edge {
        from: target_id(table, &row.name),
        to: target_id(table, &target.node),
        style,
        labels: [role, slot_label(table, row, target), cancel_label(cancels)].into_iter().flatten().collect(),
    };
    let goto = |style, role: Option<&str>, goto: &Goto| edge(style, &goto.to, role.map(str::to_owned), &goto.cancels);
    let plain = row.goto.iter().map(|found| {
        let times = found.times.map(|limit| format!("at most {}", times(limit)));
        goto(Style::Plain, times.as_deref(), found)
    });
    let mut edges: Vec<Edge> = plain.collect();
    if let Some(fork) = &row.fork {
        for (nth, targets) in (1..).zip(&fork.branches) {
            // A fork clears its region once, before any branch starts, so only the first branch has the label.
            let cancels: &[String] = if nth == 1 { &fork.cancels } else { &[] };
            let (style, role) = match targets.len() {
                1 => (Style::Fork, format!("fork {nth}")),
                _ => (Style::Choice, format!("fork {nth}, one of")),
            };
            edges.extend(targets.iter().map(|target| edge(style, target, Some(role.clone()), cancels)));
        }
    }
    for (route, role) in [(&row.exhausted, "exhausted"), (&row.timed_out, "timed out"), (&row.failed, "failed")] {
        edges.extend(route.iter().map(|found| goto(Style::Dotted, Some(role), found)));
    }
    for spent in &row.goto {
        let role = format!("exhausted: {}", spent.to);
        edges.extend(spent.exhausted.iter().map(|found| goto(Style::Dotted, Some(&role), found)));
    }
    let spawned = row.spawn.iter().map(|name| Target::from(name.as_str()));
    edges.extend(spawned.map(|target| edge(Style::Dotted, &target, Some("spawn".into()), &[])));
    edges.extend(edges_beside(table, row));
    edges
}

/// Edges that no token takes: observed outcomes, messages, items added to a map, reports.
fn edges_beside(table: &Table, row: &NodeRow) -> Vec<Edge> {
    let own = target_id(table, &row.name);
    let dotted = |from: String, to: String, label: String| Edge { from, to, style: Style::Dotted, labels: vec![label] };
    let observed = row.observes.iter().map(|name| dotted(target_id(table, name), own.clone(), "observed".into()));
    let mut edges: Vec<Edge> = observed.collect();
    match row.kind {
        NodeKind::Event => {
            edges.push(dotted(MESSAGES_ID.into(), own.clone(), "message".into()));
            let maps = row.adds_to.iter().map(|map| target_id(table, map));
            edges.extend(maps.map(|map| dotted(own.clone(), map, "adds items".into())));
        }
        NodeKind::Advisory | NodeKind::Observer => {
            let report = row.report.as_ref().map(|ty| format!("report: {ty}"));
            edges.push(dotted(own, EXIT_ID.into(), report.unwrap_or_else(|| "report".into())));
        }
        _ => {}
    }
    edges
}

fn has_messages(table: &Table) -> bool {
    table.nodes.iter().any(|row| row.kind == NodeKind::Event)
}

/// The slot that a token from `row` fills, if the target is a join.
fn slot_label(table: &Table, row: &NodeRow, target: &Target) -> Option<String> {
    let join = table.node(&target.node).filter(|join| join.kind == NodeKind::Join)?;
    let slot = match &target.slot {
        Some(name) => join.slots.iter().find(|slot| slot.name == *name)?,
        None => table.slot_of(&join.name, &row.name)?,
    };
    let way = match (slot.latched, slot.optional) {
        (true, _) => " (latched)",
        (_, true) => " (or none)",
        _ => "",
    };
    Some(format!("{}: {}{way}", slot.name, slot.ty))
}

fn cancel_label(cancels: &[String]) -> Option<String> {
    (!cancels.is_empty()).then(|| format!("✕ {}", cancels.join(", ")))
}

/// The two lines of a node: name and type; kind and attributes.
fn node_lines(row: &NodeRow) -> Vec<String> {
    let first = match &row.input {
        Some(input) => format!("{}: {input}", row.name),
        None => row.name.clone(),
    };
    let mut second = vec![row.kind.to_string()];
    second.extend(row.graph.as_ref().map(|child| format!("runs {child}")));
    second.extend(row.map.as_ref().map(|child| format!("runs {child}")));
    second.extend(row.concurrency.map(|limit| format!("concurrency {limit}")));
    match row.quorum.filter(|_| row.kind == NodeKind::Map) {
        Some(Quorum::AtLeast(count)) => second.push(format!("quorum {count}")),
        Some(Quorum::Enough) => second.push("quorum: enough".into()),
        None => {}
    }
    second.extend(row.depth.map(|limit| format!("depth {limit}")));
    if row.adopt {
        second.push("adopts".into());
    }
    second.extend(row.question.as_ref().map(|ty| format!("asks {ty}")));
    second.extend(row.answer.as_ref().map(|ty| format!("answer {ty}")));
    if let (Some(Quorum::AtLeast(values)), NodeKind::Join) = (row.quorum, row.kind) {
        second.push(format!("{values} of {}", row.slots.len()));
        second.extend(cancel_label(&row.cancels));
    }
    match row.visits {
        Some(Visits::AtMost(limit)) => second.push(format!("visits {limit}")),
        Some(Visits::Unbounded) => second.push("visits unbounded".into()),
        None => {}
    }
    second.extend(row.attempts.map(|limit| format!("attempts {limit}")));
    second.extend(row.timeout_ms.map(|milliseconds| format!("timeout {}", duration(milliseconds))));
    second.extend(row.exclusive.as_ref().map(|name| format!("exclusive {name}")));
    second.extend(row.agent.as_ref().map(|role| format!("agent {role}")));
    second.extend(row.model.as_ref().map(|model| format!("model {model}")));
    second.extend(row.workspace.as_ref().map(|name| format!("workspace {name}")));
    if row.read_only {
        second.push("read-only".into());
    }
    second.extend(row.isolation.map(|isolation| format!("isolation {isolation}")));
    if !row.blind_to.is_empty() {
        second.push(format!("blind to {}", row.blind_to.join(" and ")));
    }
    if row.resume {
        second.push("may resume".into());
    }
    if row.transient {
        second.push("transient".into());
    }
    vec![first, second.join(", ")]
}

fn exit_line(table: &Table) -> String {
    format!("{EXIT}: {}", table.output)
}

fn times(limit: u32) -> String {
    if limit == 1 { "once".into() } else { format!("{limit} times") }
}

fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0 => "0 s".into(),
        whole if whole % 60_000 == 0 => format!("{} min", whole / 60_000),
        whole if whole % 1000 == 0 => format!("{} s", whole / 1000),
        part => format!("{part} ms"),
    }
}

/// An id that is unique in the table and a keyword of neither language, whatever the node's name is.
fn node_id(index: usize, name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { format!("n_{name}") } else { format!("n{index}") }
}

fn target_id(table: &Table, name: &str) -> String {
    match table.nodes.iter().position(|row| row.name == name) {
        Some(index) => node_id(index, name),
        None if name == EXIT => EXIT_ID.into(),
        // Such a table cannot be compiled to a net; its diagram shows the wrong target.
        None => "unknown".into(),
    }
}

fn mermaid_shape(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Llm => ("(", ")"),
        NodeKind::Logic => ("[", "]"),
        NodeKind::Fork => ("[/", "\\]"),
        NodeKind::Join => ("[\\", "/]"),
        NodeKind::Map | NodeKind::Graph => ("[[", "]]"),
        NodeKind::Human => ("[/", "/]"),
        NodeKind::Advisory => ("{{", "}}"),
        NodeKind::Observer => (">", "]"),
        NodeKind::Event => ("((", "))"),
    }
}

fn dot_shape(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Llm => "shape=box, style=rounded",
        NodeKind::Logic => "shape=box",
        NodeKind::Fork => "shape=trapezium",
        NodeKind::Join => "shape=invtrapezium",
        NodeKind::Map | NodeKind::Graph => "shape=box, peripheries=2",
        NodeKind::Human => "shape=parallelogram",
        NodeKind::Advisory => "shape=hexagon",
        NodeKind::Observer => "shape=note",
        NodeKind::Event => "shape=ellipse",
    }
}

/// Escapes lines for a quoted Mermaid label, where `#…;` is an entity, `<` begins HTML and a backtick Markdown. `%%`
/// begins a comment or a directive at any position.
fn mermaid_text(lines: &[String]) -> String {
    let escape = |line: &String| {
        let mut text = String::with_capacity(line.len());
        for c in line.chars() {
            match c {
                '"' => text.push_str("#quot;"),
                '#' => text.push_str("#35;"),
                '&' => text.push_str("#amp;"),
                '<' => text.push_str("#lt;"),
                '>' => text.push_str("#gt;"),
                '%' => text.push_str("#37;"),
                '`' => text.push_str("#96;"),
                '\\' => text.push_str("#92;"),
                c if c.is_control() => text.push(' '),
                c => text.push(c),
            }
        }
        text
    };
    lines.iter().map(escape).collect::<Vec<_>>().join("<br/>")
}

/// Escapes lines for a quoted DOT string, where a backslash begins an escape.
fn dot_text(lines: &[String]) -> String {
    let escape = |line: &String| {
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        // Graphviz reads HTML entities in every label, quoted or not.
        line.replace('&', "&amp;").replace('\\', "\\\\").replace('"', "\\\"")
    };
    lines.iter().map(escape).collect::<Vec<_>>().join("\\n")
}
