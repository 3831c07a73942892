//! The runs of other programs that have the same journal. What a run has beside the journal, only its own program can
//! remove.

use crate::error::CommandError;
use crate::exit::Exit;
use interlocking_core::run_id::RunId;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// What `JOURNAL/PROGRAM/RUN.json` says for every program.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    /// Whether the run has directories.
    is_there: bool,
}

/// The runs that have directories of another program than this, with the names of the programs. A run whose file cannot
/// be read may have some.
pub(crate) fn runs(journal: &Path, program: &str) -> Result<BTreeMap<RunId, String>, CommandError> {
    let unreadable =
        |error: io::Error| CommandError::from(error).at(journal.display().to_string()).with_exit(Exit::Journal);
    let (mut own, mut others) = (Vec::new(), BTreeMap::new());
    for entry in fs::read_dir(journal).map_err(unreadable)? {
        let directory = entry.map_err(unreadable)?;
        let Ok(name) = directory.file_name().into_string() else { continue };
        // What is no directory, or one of another user, has no runs of this user.
        for file in fs::read_dir(directory.path()).into_iter().flatten().flatten() {
            let run = file.file_name().to_str().and_then(|name| name.strip_suffix(".json")?.parse::<RunId>().ok());
            let Some(run) = run.filter(|_| has_directories(&file.path())) else { continue };
            match name == program {
                true => own.push(run),
                false => drop(others.insert(run, name.clone())),
            }
        }
    }
    others.retain(|run, _| !own.contains(run));
    Ok(others)
}

fn has_directories(facts: &Path) -> bool {
    match fs::read(facts) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_or(true, |Facts { is_there }| is_there),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}
