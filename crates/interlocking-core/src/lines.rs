//! A row of the table as lines of text, which the derive writes as one literal. A literal costs almost no compile time,
//! where an expression that builds the row costs more than the node's types.
//!
//! ```text
//! join desk
//! slot text write once Draft
//! slot sound write,check latched bool
//! goto exit *
//! ```
//!
//! Fields are separated by one space, lists by commas, the alternatives of a branch by `|`. A field that may contain a
//! space (a type, a role) is the last of its line; a line break in it is written `\n`, and a backslash `\\`.

use crate::table::{Fork, Goto, Isolation, MemoryRow, NodeKind, NodeRow, Quorum, Slot, Visits};
use std::fmt::Write;

/// The row as lines.
pub fn write(row: &NodeRow) -> String {
    let mut lines = Lines(format!("{} {}", word(row.kind), row.name));
    if row.entry {
        lines.add("entry", &[]);
    }
    lines.add_text("input", row.input.as_deref());
    for slot in &row.slots {
        let Slot { name, ty, sources, .. } = slot;
        lines.add("slot", &[name, &sources.join(","), way(slot), &escaped(ty)]);
    }
    lines.add_text("prompt", row.prompt.as_deref());
    lines.add_text("output", row.output.as_deref());
    for goto in &row.goto {
        lines.add_goto("goto", Some(goto));
        lines.add_text("times", goto.times.map(|limit| limit.to_string()).as_deref());
        lines.add_goto("or_else", goto.exhausted.as_deref());
    }
    if let Some(Fork { branches, cancels }) = &row.fork {
        let branches = branches.iter().map(|branch| joined(branch, "|"));
        lines.add("fork", &[&joined(branches, ","), &cancels.join(",")]);
    }
    lines.add_goto("exhausted", row.exhausted.as_ref());
    match row.visits {
        Some(Visits::AtMost(limit)) => lines.add("visits", &[&limit.to_string()]),
        Some(Visits::Unbounded) => lines.add("visits", &["unbounded"]),
        None => {}
    }
    lines.add_text("attempts", row.attempts.map(|limit| limit.to_string()).as_deref());
    lines.add_text("timeout_ms", row.timeout_ms.map(|limit| limit.to_string()).as_deref());
    lines.add_goto("timed_out", row.timed_out.as_ref());
    lines.add_goto("failed", row.failed.as_ref());
    lines.add_text("exclusive", row.exclusive.as_deref());
    lines.add_text("agent", row.agent.as_deref());
    lines.add_text("model", row.model.as_deref());
    lines.add_text("workspace", row.workspace.as_deref());
    if row.read_only {
        lines.add("read_only", &[]);
    }
    lines.add_text("isolation", row.isolation.map(Isolation::word));
    if !row.blind_to.is_empty() {
        lines.add("blind_to", &[&row.blind_to.join(",")]);
    }
    if !row.spawn.is_empty() {
        lines.add("spawn", &[&row.spawn.join(",")]);
    }
    if row.resume {
        lines.add("resume", &[]);
    }
    if row.transient {
        lines.add("transient", &[]);
    }
    lines.add_text("map", row.map.as_deref());
    lines.add_text("concurrency", row.concurrency.map(|limit| limit.to_string()).as_deref());
    lines.add_text("depth", row.depth.map(|limit| limit.to_string()).as_deref());
    if row.adopt {
        lines.add("adopt", &[]);
    }
    lines.add_text("graph", row.graph.as_deref());
    match row.quorum {
        Some(Quorum::AtLeast(count)) => lines.add("quorum", &[&count.to_string()]),
        Some(Quorum::Enough) => lines.add("quorum", &["enough"]),
        None => {}
    }
    if !row.cancels.is_empty() {
        lines.add("cancels", &[&row.cancels.join(",")]);
    }
    if !row.adds_to.is_empty() {
        lines.add("adds_to", &[&row.adds_to.join(",")]);
    }
    lines.add_text("question", row.question.as_deref());
    lines.add_text("answer", row.answer.as_deref());
    lines.add_text("report", row.report.as_deref());
    if !row.observes.is_empty() {
        lines.add("observes", &[&row.observes.join(",")]);
    }
    if let Some(MemoryRow { group, ty }) = &row.memory {
        lines.add("memory", &[group, &escaped(ty)]);
    }
    lines.0
}

/// Parses a row that [`write`] wrote; `None` for other lines.
pub fn read(lines: &str) -> Option<NodeRow> {
    let mut lines = lines.split('\n');
    let (kind, name) = lines.next()?.split_once(' ')?;
    let mut row = NodeRow::new(name, kind_of(kind)?);
    for line in lines {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "entry" => row.entry = true,
            "input" => row.input = Some(unescaped(rest)),
            "slot" => {
                let mut fields = rest.splitn(4, ' ');
                let (name, sources) = (fields.next()?.to_owned(), names(fields.next()?));
                let way = fields.next()?;
                let (latched, optional) = (way == "latched", way == "optional");
                row.slots.push(Slot { name, sources, latched, optional, ty: unescaped(fields.next()?) });
            }
            "prompt" => row.prompt = Some(unescaped(rest)),
            "output" => row.output = Some(unescaped(rest)),
            "goto" => row.goto.push(goto(rest)?),
            "times" => row.goto.last_mut()?.times = Some(rest.parse().ok()?),
            "or_else" => row.goto.last_mut()?.exhausted = Some(Box::new(goto(rest)?)),
            "fork" => {
                let (branches, cancels) = rest.split_once(' ')?;
                let branches =
                    names(branches).iter().map(|branch| branch.split('|').map(Into::into).collect()).collect();
                row.fork = Some(Fork { branches, cancels: names(cancels) });
            }
            "exhausted" => row.exhausted = Some(goto(rest)?),
            "visits" if rest == "unbounded" => row.visits = Some(Visits::Unbounded),
            "visits" => row.visits = Some(Visits::AtMost(rest.parse().ok()?)),
            "attempts" => row.attempts = Some(rest.parse().ok()?),
            "timeout_ms" => row.timeout_ms = Some(rest.parse().ok()?),
            "timed_out" => row.timed_out = Some(goto(rest)?),
            "failed" => row.failed = Some(goto(rest)?),
            "exclusive" => row.exclusive = Some(unescaped(rest)),
            "agent" => row.agent = Some(unescaped(rest)),
            "model" => row.model = Some(unescaped(rest)),
            "workspace" => row.workspace = Some(unescaped(rest)),
            "read_only" => row.read_only = true,
            "isolation" => row.isolation = Some(Isolation::from_word(rest)?),
            "blind_to" => row.blind_to = names(rest),
            "spawn" => row.spawn = names(rest),
            "resume" => row.resume = true,
            "transient" => row.transient = true,
            "map" => row.map = Some(unescaped(rest)),
            "concurrency" => row.concurrency = Some(rest.parse().ok()?),
            "depth" => row.depth = Some(rest.parse().ok()?),
            "adopt" => row.adopt = true,
            "graph" => row.graph = Some(unescaped(rest)),
            "quorum" if rest == "enough" => row.quorum = Some(Quorum::Enough),
            "quorum" => row.quorum = Some(Quorum::AtLeast(rest.parse().ok()?)),
            "cancels" => row.cancels = names(rest),
            "adds_to" => row.adds_to = names(rest),
            "question" => row.question = Some(unescaped(rest)),
            "answer" => row.answer = Some(unescaped(rest)),
            "report" => row.report = Some(unescaped(rest)),
            "observes" => row.observes = names(rest),
            "memory" => {
                let (group, ty) = rest.split_once(' ')?;
                row.memory = Some(MemoryRow { group: group.to_owned(), ty: unescaped(ty) });
            }
            _ => return None,
        }
    }
    Some(row)
}

struct Lines(String);

impl Lines {
    fn add(&mut self, key: &str, fields: &[&str]) {
        self.0.push('\n');
        self.0.push_str(key);
        for field in fields {
            self.0.push(' ');
            self.0.push_str(field);
        }
    }

    fn add_goto(&mut self, key: &str, goto: Option<&Goto>) {
        if let Some(Goto { to, cancels, .. }) = goto {
            self.add(key, &[&to.to_string(), &cancels.join(",")]);
        }
    }

    fn add_text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.add(key, &[&escaped(text)]);
        }
    }
}

fn goto(rest: &str) -> Option<Goto> {
    let (to, cancels) = rest.split_once(' ')?;
    Some(Goto::of(to.into(), names(cancels)))
}

/// The word for how a slot treats its value.
fn way(slot: &Slot) -> &'static str {
    match (slot.latched, slot.optional) {
        (true, _) => "latched",
        (_, true) => "optional",
        _ => "once",
    }
}

fn names(list: &str) -> Vec<String> {
    list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn joined(items: impl IntoIterator<Item = impl std::fmt::Display>, separator: &str) -> String {
    let mut text = String::new();
    for (index, item) in items.into_iter().enumerate() {
        let separator = if index == 0 { "" } else { separator };
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}{item}");
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('\n', r"\n")
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                other => other.unwrap_or('\\'),
            },
            letter => letter,
        });
    }
    plain
}

fn word(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Llm => "llm",
        NodeKind::Logic => "logic",
        NodeKind::Fork => "fork",
        NodeKind::Join => "join",
        NodeKind::Map => "map",
        NodeKind::Graph => "graph",
        NodeKind::Human => "human",
        NodeKind::Advisory => "advisory",
        NodeKind::Observer => "observer",
        NodeKind::Event => "event",
    }
}

fn kind_of(name: &str) -> Option<NodeKind> {
    use NodeKind::{Advisory, Event, Fork, Graph, Human, Join, Llm, Logic, Map, Observer};
    [Llm, Logic, Fork, Join, Map, Graph, Human, Advisory, Observer, Event].into_iter().find(|&kind| word(kind) == name)
}
