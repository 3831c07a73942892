//! The answers of agents and people, and messages from outside.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use interlocking_agents::faults::Fault;
use serde_json::Value;

use crate::chance::{Choice, Sort};
use crate::generate::generate;

/// How many characters of a value a report shows.
const SHOWN: usize = 72;

/// An action of an agent in its workspace before it answers.
pub(crate) type Deed = Arc<dyn Fn(&Path) -> io::Result<()> + Send + Sync>;

/// One answer.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) value: Value,
    pub(crate) deed: Option<Deed>,
}

/// The possible answers and messages for each node, by graph and node.
#[derive(Default)]
pub(crate) struct Samples {
    /// The given answers of agents and people, and the given results of children.
    pub(crate) given: BTreeMap<(String, String), Vec<Sample>>,
    /// The messages to event nodes. An event node may have an agent too, whose answers are in `given`.
    messages: BTreeMap<(String, String), Vec<(Choice, Value)>>,
    /// How many answers are generated from a schema at most.
    pub(crate) generated: usize,
    pub(crate) faults: Vec<Fault>,
    /// The cached answers of each node, whose schema is the same in all runs.
    answers: Mutex<BTreeMap<(String, String), Answers>>,
}

/// The possible answers at a node.
pub(crate) type Answers = Arc<Vec<(Choice, Sample)>>;

/// The possible behaviour of an agent.
#[derive(Clone)]
pub(crate) enum Behaviour {
    Answers(Sample),
    Fails(Fault),
}

impl Samples {
    pub(crate) fn new(generated: usize, faults: Vec<Fault>) -> Self {
        Self { generated, faults, ..Self::default() }
    }

    /// All possible answers of an agent or a person at a node.
    pub(crate) fn answers(&self, graph: &str, node: &str, schema: Option<&Value>) -> Answers {
        let key = (graph.to_owned(), node.to_owned());
        // Ignores poisoning: the data is consistent between any two statements.
        let mut known = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let given = self.given.get(&key).map(Vec::as_slice).unwrap_or_default();
        known.entry(key).or_insert_with(|| Arc::new(self.put_together(given, schema))).clone()
    }

    pub(crate) fn add_message(&mut self, graph: &str, node: &str, message: Value) {
        let messages = self.messages.entry((graph.to_owned(), node.to_owned())).or_default();
        let choice = Choice::of(numbered("sample", messages.len()), &message);
        messages.push((choice, message));
    }

    /// All possible messages to an event node.
    pub(crate) fn messages(&self, graph: &str, node: &str) -> &[(Choice, Value)] {
        self.messages.get(&(graph.to_owned(), node.to_owned())).map(Vec::as_slice).unwrap_or_default()
    }

    fn put_together(&self, given: &[Sample], schema: Option<&Value>) -> Vec<(Choice, Sample)> {
        let mut answers: Vec<_> = given
            .iter()
            .enumerate()
            .map(|(index, sample)| (Choice::of(numbered("sample", index), &sample.value), sample.clone()))
            .collect();
        let generated = schema.map(|schema| generate(schema, self.generated)).unwrap_or_default();
        let new = generated.into_iter().filter(|value| given.iter().all(|sample| sample.value != *value));
        answers
            .extend(new.enumerate().map(|(index, value)| {
                (Choice::of(numbered("generated", index), &value), Sample { value, deed: None })
            }));
        answers
    }

    /// The possible behaviours of an agent: all answers, and all faults.
    pub(crate) fn behaviours(&self, graph: &str, node: &str, schema: Option<&Value>) -> Vec<(Choice, Behaviour)> {
        let answers = self.answers(graph, node, schema);
        let answered = |(choice, sample): &(Choice, Sample)| (choice.clone(), Behaviour::Answers(sample.clone()));
        let mut behaviours: Vec<_> = answers.iter().map(answered).collect();
        let faults = self.faults.iter();
        behaviours
            .extend(faults.map(|fault| (Choice::plain(fault.name(), Sort::Fault), Behaviour::Fails(fault.clone()))));
        behaviours
    }
}

/// The label of the value at `index`: `sample-1` is the first.
fn numbered(name: &str, index: usize) -> String {
    format!("{name}-{}", index + 1)
}

impl Choice {
    fn of(label: String, value: &Value) -> Self {
        let text = value.to_string();
        let shown = match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        };
        Self { label, shown, sort: Sort::Answer }
    }
}
