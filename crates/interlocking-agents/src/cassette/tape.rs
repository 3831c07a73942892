//! The files of a cassette.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::Change;
use super::error::{CassetteError, of_file};
use super::text::Text;
use crate::agent::usage::Usage;
use crate::conversation::decision::Decision;
use crate::sessions::session::{SessionId, SessionOp};
use crate::sessions::state_directory::make_private;

/// The value of the first field of the first file.
const FORMAT: &str = "interlocking cassette";
/// The version of the format that is written and played.
pub(super) const VERSION: u32 = 1;
const HEADER: &str = "cassette.json";
/// The beginning of the names of files that are not complete. A recorder that was killed can leave one behind.
const INCOMPLETE: &str = ".new-";

/// The first file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    format: String,
    version: u32,
    /// The name of the agent that was recorded.
    pub(super) agent: String,
    /// The number of calls.
    pub(super) calls: usize,
}

/// One call of the agent: the turn, what the agent did, and how the call ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) asked: Asked,
    /// The model and the name of the workspace's directory: for readers, and to distinguish calls with the same
    /// `asked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) workspace: Option<Text>,
    pub(super) events: Vec<Timed>,
    pub(super) files: Vec<Change>,
    pub(super) took_ms: u64,
    pub(super) ended: Ended,
}

/// The part of a turn that must match for it to get the recorded answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    #[serde(default)]
    pub(super) role: Option<String>,
    pub(super) session: SessionOp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) system: Option<Text>,
    pub(super) prompt: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) schema: Option<Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) read_only: bool,
}

/// An event, with placeholders, and the time since the beginning of the call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Timed {
    pub(super) after_ms: u64,
    pub(super) event: Value,
}

/// How a call ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ended {
    Replied(Replied),
    Failed(Failed),
    /// The call's future was dropped before its end.
    CutOff,
}

/// A reply, with placeholders.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replied {
    pub(super) session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) decisions: Vec<Decision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Text>,
    pub(super) usage: Usage,
}

/// An error, with placeholders.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failed {
    pub(super) error: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<SessionId>,
    pub(super) usage: Usage,
}

/// The file of a call. Calls are numbered from 1.
pub(super) fn file_of(cassette: &Path, call: usize) -> PathBuf {
    cassette.join(format!("{call:04}.json"))
}

/// Creates an empty cassette. An existing one is replaced.
pub(super) fn make(cassette: &Path, agent: &str) -> Result<(), CassetteError> {
    let failed = |error: io::Error| of_file(cassette, &error);
    make_private(cassette).map_err(failed)?;
    let mut old = Vec::new();
    for entry in fs::read_dir(cassette).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().into_string().unwrap_or_default();
        if !is_ours(&name) || !entry.file_type().map_err(failed)?.is_file() {
            return Err(CassetteError::NotACassette { cassette: cassette.to_owned() });
        }
        old.push(name);
    }
    // Other programs number their files, too.
    if old.iter().all(|name| name != HEADER) && old.iter().any(|name| !is_incomplete(name)) {
        return Err(CassetteError::NotACassette { cassette: cassette.to_owned() });
    }
    // The header is replaced last. So what is left if this process is killed here is still a cassette.
    for path in old.iter().filter(|name| *name != HEADER).map(|name| cassette.join(name)) {
        fs::remove_file(&path).map_err(|error| of_file(&path, &error))?;
    }
    head(cassette, agent, 0)
}

/// Whether a recorder gives this name to a file.
fn is_ours(name: &str) -> bool {
    let number = name.strip_suffix(".json").filter(|number| number.len() >= 4);
    let is_call = number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()));
    name == HEADER || is_call || is_incomplete(name)
}

fn is_incomplete(name: &str) -> bool {
    name.starts_with(INCOMPLETE)
}

/// Adds call `number`, which becomes the last one.
pub(super) fn add(cassette: &Path, agent: &str, number: usize, call: &Call) -> Result<(), CassetteError> {
    write(cassette, &file_of(cassette, number), call)?;
    head(cassette, agent, number)
}

fn head(cassette: &Path, agent: &str, calls: usize) -> Result<(), CassetteError> {
    let header = Header { format: FORMAT.to_owned(), version: VERSION, agent: agent.to_owned(), calls };
    write(cassette, &cassette.join(HEADER), &header)
}

/// Writes a file. It gets its name only when it is complete.
fn write(cassette: &Path, file: &Path, contents: &impl Serialize) -> Result<(), CassetteError> {
    let write = || -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(contents)?;
        text.push(b'\n');
        // Only this user can read the file. Git, in which cassettes are kept, does not preserve these permissions.
        let mut new = tempfile::Builder::new().prefix(INCOMPLETE).tempfile_in(cassette)?;
        new.write_all(&text)?;
        new.persist(file)?;
        Ok(())
    };
    write().map_err(|error| of_file(file, &error))
}

/// Reads the whole cassette.
pub(super) fn read(cassette: &Path) -> Result<(Header, Vec<Call>), CassetteError> {
    let file = cassette.join(HEADER);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (cassette, is_there) = (cassette.to_owned(), cassette.is_dir());
            let is_empty = fs::read_dir(&cassette).is_ok_and(|mut entries| entries.next().is_none());
            return Err(match is_there && !is_empty {
                true => CassetteError::NotACassette { cassette },
                false => CassetteError::Missing { cassette },
            });
        }
        Err(error) => return Err(of_file(&file, &error)),
    };
    let value: Value = parsed(&file, &text)?;
    if value["format"] != FORMAT {
        return Err(damaged(&file, format!("it does not say that it is an {FORMAT}")));
    }
    if value["version"] != VERSION {
        return Err(CassetteError::Format { file, found: value["version"].to_string(), known: VERSION });
    }
    let header: Header = parsed(&file, &text)?;
    let calls = (1..=header.calls).map(|number| {
        let file = file_of(cassette, number);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(damaged(&file, format!("it is missing, and the cassette has {} calls", header.calls)));
            }
            Err(error) => return Err(of_file(&file, &error)),
        };
        let call: Call = parsed(&file, &text)?;
        for change in &call.files {
            change.validate().map_err(|reason| damaged(&file, reason))?;
        }
        Ok(call)
    });
    let calls = calls.collect::<Result<Vec<_>, _>>()?;
    let beyond = file_of(cassette, header.calls + 1);
    if beyond.exists() {
        return Err(damaged(&beyond, format!("the cassette has {} calls, and this is one more", header.calls)));
    }
    Ok((header, calls))
}

fn parsed<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T, CassetteError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let at = if path == "." { String::new() } else { format!("`{path}`: ") };
        damaged(file, format!("{at}{}", error.into_inner()))
    })?;
    deserializer.end().map_err(|error| damaged(file, error.to_string()))?;
    Ok(value)
}

pub(super) fn damaged(file: &Path, reason: String) -> CassetteError {
    CassetteError::Damaged { file: file.to_owned(), reason }
}
