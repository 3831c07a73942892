//! The conversation of each session: in memory, or in files that outlive the process.
//!
//! A provider remembers nothing. Each call sends the whole conversation again.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::agent::error::AgentErrorKind;
use crate::sessions::SessionError;
use crate::sessions::session::{SessionId, SessionOp, Slug};
use crate::sessions::state_directory::make_private;

/// The version of the file format; other versions are not read.
const VERSION: u32 = 1;

/// A prompt, and the model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Exchange {
    pub(super) prompt: String,
    /// None while the call runs, and permanently if the call failed.
    pub(super) answer: Option<String>,
}

/// All sessions of one model.
#[derive(Debug)]
pub(super) struct Histories {
    directory: Option<PathBuf>,
    /// The sessions without a directory. With a directory nothing is cached here, because another process may have
    /// continued a session.
    known: Mutex<HashMap<SessionId, Arc<[Exchange]>>>,
}

#[derive(Serialize, Deserialize)]
struct Contents<E> {
    version: u32,
    exchanges: E,
}

impl Histories {
    pub(super) fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, known: Mutex::default() }
    }

    /// The session that a turn runs in, created if it is new, and its conversation so far. The prompt is added to it at
    /// once, because a later reminder of the prompt must find it there.
    ///
    /// A prompt that is repeated after a failed call is not added twice.
    pub(super) fn ask(
        &self,
        operation: &SessionOp,
        prompt: &str,
    ) -> Result<(SessionId, Vec<Exchange>), AgentErrorKind> {
        let (session, mut exchanges) = match operation {
            SessionOp::StartFresh(slug) => (named(slug)?, Vec::new()),
            SessionOp::ContinueFrom(session) => (session.clone(), self.load(session)?),
            SessionOp::ForkFrom { parent, slug } => (named(slug)?, self.load(parent)?),
        };
        match exchanges.last() {
            Some(Exchange { prompt: last, answer: None }) if last == prompt => {}
            _ => exchanges.push(Exchange { prompt: prompt.to_owned(), answer: None }),
        }
        self.save(&session, &exchanges)?;
        Ok((session, exchanges))
    }

    /// Adds the model's answer to the last prompt.
    pub(super) fn answer(
        &self,
        session: &SessionId,
        mut exchanges: Vec<Exchange>,
        answer: String,
    ) -> Result<(), AgentErrorKind> {
        if let Some(last) = exchanges.last_mut() {
            last.answer = Some(answer);
        }
        self.save(session, &exchanges)
    }

    /// Removes the last prompt, which was refused: every later prompt of the session would be refused with it.
    pub(super) fn withdraw(&self, session: &SessionId, exchanges: &[Exchange]) -> Result<(), AgentErrorKind> {
        self.save(session, &exchanges[..exchanges.len().saturating_sub(1)])
    }

    /// Checks whether sessions can be stored.
    pub(super) fn ready(&self) -> Result<(), AgentErrorKind> {
        let Some(directory) = &self.directory else { return Ok(()) };
        make_private(directory)
            .and_then(|()| tempfile::tempfile_in(directory))
            .map(drop)
            .map_err(|error| unusable(directory, &error))
    }

    fn load(&self, session: &SessionId) -> Result<Vec<Exchange>, AgentErrorKind> {
        let unknown = || SessionError::Unknown { session: session.clone() };
        let Some(directory) = &self.directory else {
            return Ok(self.known().get(session).ok_or_else(unknown)?.to_vec());
        };
        let file = file_of(directory, session);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(unknown().into()),
            Err(error) => return Err(unusable(&file, &error)),
        };
        match serde_json::from_str::<Contents<Vec<Exchange>>>(&text) {
            Ok(Contents { version: VERSION, exchanges }) => Ok(exchanges),
            Ok(Contents { version, .. }) => Err(AgentErrorKind::configuration(format!(
                "the session file {} is of version {version}, not {VERSION}; start a fresh session",
                file.display()
            ))),
            Err(error) => Err(AgentErrorKind::configuration(format!(
                "{} is no session file: {error}; start a fresh session",
                file.display()
            ))),
        }
    }

    fn save(&self, session: &SessionId, exchanges: &[Exchange]) -> Result<(), AgentErrorKind> {
        let Some(directory) = &self.directory else {
            self.known().insert(session.clone(), exchanges.into());
            return Ok(());
        };
        let file = file_of(directory, session);
        replace(directory, &file, exchanges).map_err(|error| unusable(&file, &error))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<[Exchange]>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Replaces the file as a whole, so that the old file remains if the process is killed meanwhile. Only the user can
/// read it.
fn replace(directory: &Path, file: &Path, exchanges: &[Exchange]) -> io::Result<()> {
    make_private(directory)?;
    let mut beside = tempfile::NamedTempFile::new_in(directory)?;
    let contents = serde_json::to_vec(&Contents { version: VERSION, exchanges })?;
    beside.write_all(&contents)?;
    beside.as_file().sync_data()?;
    beside.persist(file)?;
    Ok(())
}

fn file_of(directory: &Path, session: &SessionId) -> PathBuf {
    directory.join(format!("{session}.json"))
}

/// A session id that no other process chooses.
fn named(slug: &Slug) -> Result<SessionId, AgentErrorKind> {
    SessionId::new(format!("{slug}-{}", Uuid::new_v4().simple()))
        .map_err(|error| AgentErrorKind::configuration(error.to_string()))
}

fn unusable(path: &Path, error: &io::Error) -> AgentErrorKind {
    AgentErrorKind::configuration(format!("the sessions at {} cannot be kept: {error}", path.display()))
}
