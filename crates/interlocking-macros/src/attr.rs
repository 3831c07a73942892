//! Reads `#[graph(…)]` and `#[node(…)]`, node by node and item by item, so that one bad item does not hide another.

mod edges;
mod items;
mod values;

use self::edges::{cancelled, fork, goto, route, slots};
use self::items::items;
use self::values::{count, flag, isolation, memory, message, names, quorum, set, text, timeout, value, visits};
use crate::ast::{Attributes, Given, Unparsed};
use crate::errors::Errors;
use syn::{Attribute, Ident, Type};

/// The content of `#[graph(…)]`.
#[derive(Default)]
pub(crate) struct GraphAttributes {
    pub(crate) output: Option<Given<Type>>,
    pub(crate) module: Option<Given<Ident>>,
    pub(crate) markings: Option<Given<u32>>,
}

pub(crate) const NODE_KEYS: [&str; 38] = [
    "entry",
    "input",
    "join",
    "goto",
    "fork",
    "exhausted",
    "visits",
    "attempts",
    "timeout",
    "timed_out",
    "failed",
    "exclusive",
    "agent",
    "model",
    "workspace",
    "read_only",
    "isolation",
    "blind_to",
    "prompt",
    "output",
    "memory",
    "map",
    "concurrency",
    "depth",
    "adopt",
    "graph",
    "quorum",
    "cancels",
    "adds_to",
    "question",
    "answer",
    "on",
    "resume",
    "transient",
    "spawn",
    "observes",
    "report",
    "reports_to",
];
pub(crate) const GRAPH_KEYS: [&str; 3] = ["output", "module", "markings"];

/// Reads a struct's `#[graph(…)]`.
pub(crate) fn graph(attribute: &Attribute, into: &mut GraphAttributes, unparsed: &mut Unparsed, errors: &Errors) {
    items(attribute, errors, unparsed, "graph(output = Type)", &GRAPH_KEYS, |key, input| {
        match key.to_string().as_str() {
            "output" => set(&mut into.output, key, value(key, input, "output = Article")?, errors),
            "module" => set(&mut into.module, key, value(key, input, "module = name")?, errors),
            "markings" => set(&mut into.markings, key, count(key, input, "markings = 500_000")?, errors),
            _ => return Ok(false),
        }
        Ok(true)
    })
}

/// Reads a field's `#[node(…)]`.
pub(crate) fn node(attribute: &Attribute, into: &mut Attributes, unparsed: &mut Unparsed, errors: &Errors) {
    items(attribute, errors, unparsed, "node(input = Type, goto(exit))", &NODE_KEYS, |key, input| {
        match key.to_string().as_str() {
            "entry" => flag(&mut into.entry, key, input, errors)?,
            "read_only" => flag(&mut into.read_only, key, input, errors)?,
            "input" => set(&mut into.input, key, value(key, input, "input = Draft")?, errors),
            "prompt" => set(&mut into.prompt, key, value(key, input, "prompt = WritePrompt<'_>")?, errors),
            "output" => set(&mut into.output, key, value(key, input, "output = Article")?, errors),
            "join" => set(&mut into.slots, key, slots(key, input)?, errors),
            "goto" => {
                let group = goto(key, input)?;
                into.goto.push(Given { key: key.clone(), at: group.1, value: group.0 });
            }
            "fork" => set(&mut into.fork, key, fork(key, input)?, errors),
            "exhausted" => set(&mut into.exhausted, key, route(key, input)?, errors),
            "timed_out" => set(&mut into.timed_out, key, route(key, input)?, errors),
            "failed" => set(&mut into.failed, key, route(key, input)?, errors),
            "visits" => set(&mut into.visits, key, visits(key, input)?, errors),
            "attempts" => set(&mut into.attempts, key, count(key, input, "attempts = 3")?, errors),
            "timeout" => set(&mut into.timeout, key, timeout(key, input)?, errors),
            "exclusive" => set(&mut into.exclusive, key, text(key, input, "exclusive = \"name\"")?, errors),
            "agent" => set(&mut into.agent, key, text(key, input, "agent = \"writer\"")?, errors),
            "model" => set(&mut into.model, key, text(key, input, "model = \"haiku\"")?, errors),
            "workspace" => set(&mut into.workspace, key, text(key, input, "workspace = \"main\"")?, errors),
            "isolation" => set(&mut into.isolation, key, isolation(key, input)?, errors),
            "blind_to" => set(&mut into.blind_to, key, names(key, input, "blind_to(write)")?, errors),
            "memory" => set(&mut into.memory, key, memory(key, input)?, errors),
            "map" => set(&mut into.map, key, value(key, input, "map = ChildGraph")?, errors),
            "concurrency" => set(&mut into.concurrency, key, count(key, input, "concurrency = 4")?, errors),
            "depth" => set(&mut into.depth, key, count(key, input, "depth = 3")?, errors),
            "adopt" => flag(&mut into.adopt, key, input, errors)?,
            "graph" => set(&mut into.graph, key, value(key, input, "graph = ChildGraph")?, errors),
            "quorum" => set(&mut into.quorum, key, quorum(key, input)?, errors),
            "cancels" => set(&mut into.cancels, key, cancelled(key, input)?, errors),
            "adds_to" => set(&mut into.adds_to, key, names(key, input, "adds_to(children)")?, errors),
            "question" => set(&mut into.question, key, value(key, input, "question = Question")?, errors),
            "answer" => set(&mut into.answer, key, value(key, input, "answer = Answer")?, errors),
            "on" => set(&mut into.on, key, message(key, input)?, errors),
            "resume" => flag(&mut into.resume, key, input, errors)?,
            "transient" => flag(&mut into.transient, key, input, errors)?,
            "spawn" => set(&mut into.spawn, key, names(key, input, "spawn(advisory)")?, errors),
            "observes" => set(&mut into.observes, key, names(key, input, "observes(write, review)")?, errors),
            "report" => set(&mut into.report, key, value(key, input, "report = Report")?, errors),
            "reports_to" => set(&mut into.reports_to, key, names(key, input, "reports_to(exit)")?, errors),
            _ => return Ok(false),
        }
        Ok(true)
    })
}
