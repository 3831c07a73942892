//! The scripted agent as a backend.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::agent::Agent;
use crate::scripted::{Script, ScriptedAgent};

/// The settings of a `scripted` backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedSettings {
    /// The script, unless a script follows the colon.
    pub script: Option<PathBuf>,
    /// The file in which the agent [remembers](ScriptedAgent::with_memory) its sessions, for a run that is resumed.
    pub memory: Option<PathBuf>,
}

/// Makes the agent for these settings, which are in a file in `directory`. It plays `file` if one is given.
pub(super) fn make(
    settings: ScriptedSettings,
    directory: &Path,
    file: Option<&Path>,
) -> Result<Arc<dyn Agent>, String> {
    let script = match (settings.script, file) {
        (Some(script), None) => directory.join(script),
        (None, Some(file)) => file.to_owned(),
        (None, None) => return Err("it plays no script: write scripted:FILE, or give it a `script`".to_owned()),
        (Some(_), Some(_)) => return Err("it has a `script`, so no other can follow the colon".to_owned()),
    };
    let script = Script::read(script).map_err(|error| error.to_string())?;
    let agent = ScriptedAgent::new(script);
    let agent = match settings.memory {
        Some(memory) => agent.with_memory(directory.join(memory)).map_err(|error| error.to_string())?,
        None => agent,
    };
    Ok(Arc::new(agent))
}
