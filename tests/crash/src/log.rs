//! Side effects that outlive the process: lines of a file.

use crate::fuse::Fuse;
use interlocking::context::Cx;
use interlocking::graph::Node;
use interlocking::prelude::NodeError;
use interlocking::runtime::RunContext;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// A side effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The process that did it, counted from 0.
    pub process: u32,
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// Its visit.
    pub visit: u32,
    /// Its attempt.
    pub attempt: u32,
    /// What it did.
    pub deed: Deed,
}

/// What a node did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// It began; how often it had been interrupted, by its own account.
    Begun {
        /// [`RunContext::restarts`].
        restarts: u32,
    },
    /// It made a question.
    Asked,
    /// It did what is to be done once.
    Paid,
    /// It did all that it does.
    Done,
    /// Its agent was called: which session it was to continue, and in which it worked.
    Turn {
        /// The session to continue; none for a new one.
        continues: Option<String>,
    },
    /// What it found is not what the journal says.
    Wrong(String),
}

/// The lines in `directory` that were written to their end.
fn whole(directory: &Path) -> io::Result<String> {
    let mut text = match std::fs::read_to_string(directory.join("log")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    Ok(text)
}

/// The file.
#[derive(Clone, Debug)]
pub struct Log {
    file: Arc<File>,
    process: u32,
    fuse: Fuse,
}

impl Log {
    /// Opens the file in `directory`.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn open(directory: &Path, process: u32, fuse: Fuse) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(directory.join("log"))?;
        // Where the last process died amid a line, what is there of it goes.
        file.set_len(whole(directory)?.len() as u64)?;
        Ok(Self { file: Arc::new(file), process, fuse })
    }

    /// The lines that are in `directory`.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn read(directory: &Path) -> io::Result<Vec<Line>> {
        whole(directory)?.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
    }

    /// Notes a side effect of the node whose context this is.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn note<N: Node>(&self, cx: &Cx<'_, N>, deed: Deed) -> Result<(), NodeError> {
        let (run, node) = (cx.run_id().to_string(), cx.node().to_owned());
        let (visit, attempt) = (cx.visit(), cx.attempt());
        self.write(&Line { process: self.process, run, node, visit, attempt, deed })
    }

    /// Notes that the node begins.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn begin<N: Node>(&self, cx: &Cx<'_, N>) -> Result<(), NodeError> {
        self.note(cx, Deed::Begun { restarts: cx.restarts() })
    }

    /// Notes a turn of the agent for round `round` of the run's text.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn turn(&self, run: &str, round: u32, continues: Option<String>) -> Result<(), NodeError> {
        let (run, node) = (run.to_owned(), "write".to_owned());
        self.write(&Line { process: self.process, run, node, visit: round, attempt: 1, deed: Deed::Turn { continues } })
    }

    /// Notes that a node has paid.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn paid(&self, run: &str, node: &str, visit: u32, attempt: u32) -> Result<(), NodeError> {
        let (run, node) = (run.to_owned(), node.to_owned());
        self.write(&Line { process: self.process, run, node, visit, attempt, deed: Deed::Paid })
    }

    fn write(&self, line: &Line) -> Result<(), NodeError> {
        self.fuse.pass();
        (&*self.file).write_all(format!("{}\n", serde_json::to_string(line)?).as_bytes())?;
        self.fuse.pass();
        Ok(())
    }
}
