//! A log of side effects that outlives the process: a file with one line each.

use crate::kill_switch::KillSwitch;
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
    /// The process that caused it, counted from 0.
    pub process: u32,
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The node's visit.
    pub visit: u32,
    /// The node's attempt.
    pub attempt: u32,
    /// What the node did.
    pub deed: Deed,
}

/// What a node did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// It began, after so many interruptions by its own account.
    Begun {
        /// [`RunContext::restarts`].
        restarts: u32,
    },
    /// It made a question.
    Asked,
    /// It caused the effect that must happen only once.
    Paid,
    /// It completed its work.
    Done,
    /// Its agent was called, to continue a session or in a new one.
    Turn {
        /// The session to continue; none for a new one.
        continues: Option<String>,
    },
    /// What it found contradicts the journal.
    Wrong(String),
}

/// The complete lines of the log in `directory`.
fn whole(directory: &Path) -> io::Result<String> {
    let mut text = match std::fs::read_to_string(directory.join("log")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    Ok(text)
}

/// The log file.
#[derive(Clone, Debug)]
pub struct Log {
    file: Arc<File>,
    process: u32,
    kill_switch: KillSwitch,
}

impl Log {
    /// Opens the log in `directory`.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn open(directory: &Path, process: u32, kill_switch: KillSwitch) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(directory.join("log"))?;
        // Cuts off an incomplete line, left by a process that died while it wrote.
        file.set_len(whole(directory)?.len() as u64)?;
        Ok(Self { file: Arc::new(file), process, kill_switch })
    }

    /// The lines of the log in `directory`.
    ///
    /// # Errors
    ///
    /// If the system refuses, or a line is invalid.
    pub fn read(directory: &Path) -> io::Result<Vec<Line>> {
        whole(directory)?.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
    }

    /// Logs a side effect of the node with this context.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn note<N: Node>(&self, cx: &Cx<'_, N>, deed: Deed) -> Result<(), NodeError> {
        let (run, node) = (cx.run_id().to_string(), cx.node().to_owned());
        let (visit, attempt) = (cx.visit(), cx.attempt());
        self.write(&Line { process: self.process, run, node, visit, attempt, deed })
    }

    /// Logs that the node begins.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn begin<N: Node>(&self, cx: &Cx<'_, N>) -> Result<(), NodeError> {
        self.note(cx, Deed::Begun { restarts: cx.restarts() })
    }

    /// Logs a turn of the agent for round `round` of the run's text.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn turn(&self, run: &str, round: u32, continues: Option<String>) -> Result<(), NodeError> {
        let (run, node) = (run.to_owned(), "write".to_owned());
        self.write(&Line { process: self.process, run, node, visit: round, attempt: 1, deed: Deed::Turn { continues } })
    }

    /// Logs that a node has paid.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn paid(&self, run: &str, node: &str, visit: u32, attempt: u32) -> Result<(), NodeError> {
        let (run, node) = (run.to_owned(), node.to_owned());
        self.write(&Line { process: self.process, run, node, visit, attempt, deed: Deed::Paid })
    }

    fn write(&self, line: &Line) -> Result<(), NodeError> {
        self.kill_switch.pass();
        (&*self.file).write_all(format!("{}\n", serde_json::to_string(line)?).as_bytes())?;
        self.kill_switch.pass();
        Ok(())
    }
}
