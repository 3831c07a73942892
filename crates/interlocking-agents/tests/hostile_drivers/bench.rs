//! Runs a turn with a hostile program, and measures what it took.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use allocation_counter::measure;
use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::{Agent, AgentError, AgentEvent, Completion, Conversation, Schema, Slug, Turn};
use serde_json::Value;

/// The session that the programs name.
pub(crate) const SESSION: &str = "0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f";

/// The maximum memory that a driver may hold at any time: a longest line, and what is parsed from it.
const MOST_MEMORY: u64 = 96 << 20;

/// The maximum number of events of one call that a receiver gets, including those about the call itself.
const MOST_EVENTS: u64 = 100_010;

/// Makes an agent for a program that is in its own directory.
pub(crate) type Make = fn(&Path) -> Arc<dyn Agent>;

/// The outcome of a turn.
pub(crate) struct Outcome {
    pub(crate) ended: Result<Completion, AgentError>,
    /// The peak memory, in bytes.
    pub(crate) memory: u64,
    /// The number of events that were received.
    pub(crate) events: u64,
    /// The number of events that were left out, according to the last events.
    pub(crate) left_out: u64,
}

/// Runs a turn with this program.
pub(crate) fn turn(program: &FaultyProgram, make: Make) -> Outcome {
    turn_for(program, make, None)
}

/// Runs a turn with this program, for an output with this schema.
pub(crate) fn turn_for(program: &FaultyProgram, make: Make, schema: Option<Value>) -> Outcome {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workspace = directory.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let file = program.write_to(directory.path().join("program")).unwrap();
    let agent = make(&file);
    let schema = schema.map(|schema| Arc::new(Schema::new(schema).unwrap()));
    let turn = Turn { workspace: Some(workspace), schema, ..Turn::fresh(Slug::new("test").unwrap(), "Say yes.") };
    let (events, left_out) = (AtomicU64::new(0), AtomicU64::new(0));
    let listener = |event| {
        events.fetch_add(1, Ordering::Relaxed);
        if let AgentEvent::LeftOut { events } = event {
            left_out.fetch_add(events, Ordering::Relaxed);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut ended = None;
    let held = measure(|| {
        let conversation = Conversation::new(&*agent).with_corrections(0);
        ended = Some(runtime.block_on(conversation.run(turn, &listener)));
    });
    let (events, left_out) = (events.into_inner(), left_out.into_inner());
    Outcome { ended: ended.unwrap(), memory: held.bytes_max, events, left_out }
}

impl Outcome {
    /// The text of the answer or the error, or its length.
    pub(crate) fn words(&self) -> String {
        let words = match &self.ended {
            Ok(completion) => completion.text.clone().unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        if words.len() > 10_000 { format!("{} bytes of words", words.len()) } else { words }
    }

    /// Checks the limits, which hold whatever the program does.
    pub(crate) fn is_bounded(&self) -> &Self {
        assert!(self.memory < MOST_MEMORY, "{} MiB were held", self.memory >> 20);
        assert!(self.events <= MOST_EVENTS, "{} events", self.events);
        self
    }

    /// Checks the limits, and that the turn ends with this answer.
    pub(crate) fn answers(&self, words: &str) {
        self.is_bounded();
        assert!(self.ended.is_ok() && self.words() == words, "{}", self.words());
    }

    /// Checks the limits, and that the turn fails with this message.
    pub(crate) fn fails(&self, words: &str) {
        self.is_bounded();
        assert!(self.ended.is_err() && self.words().contains(words), "{}", self.words());
    }
}
