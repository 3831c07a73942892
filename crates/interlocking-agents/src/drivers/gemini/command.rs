//! The command line and the environment of a call.

use std::ffi::OsString;
use std::path::Path;

use super::home::CallHome;
use super::settings::{GeminiPermissions, GeminiSettings};
use crate::agent::turn::Turn;
use crate::program::{Environment, Secret};

/// The variable from which the program reads the key.
pub(super) const KEY: &str = "GEMINI_API_KEY";

/// The variable from which the program reads the provider's address.
pub(super) const BASE_URL: &str = "GOOGLE_GEMINI_BASE_URL";

/// Google's own address. It is always set, so that no file in the workspace can redirect the key to another address.
const GOOGLE: &str = "https://generativelanguage.googleapis.com";

/// The context that a call starts from.
pub(super) enum Origin<'a> {
    Nothing,
    /// A session, by its id.
    Session(&'a str),
    /// A copy of a session, by its file.
    Copy(&'a Path),
}

/// The arguments of a call; the prompt goes to standard input.
pub(super) fn arguments(settings: &GeminiSettings, turn: &Turn, origin: &Origin<'_>) -> Vec<OsString> {
    let permissions = if only_reads(turn) { GeminiPermissions::Read } else { settings.permissions };
    let mut arguments: Vec<OsString> =
        ["--output-format", "stream-json", "--skip-trust", "--approval-mode", permissions.approval_mode()]
            .map(OsString::from)
            .to_vec();
    if let Some(model) = turn.model.as_ref().or(settings.model.as_ref()) {
        arguments.extend(["--model".into(), model.into()]);
    }
    match origin {
        Origin::Nothing => {}
        Origin::Session(id) => arguments.extend(["--resume".into(), id.into()]),
        Origin::Copy(file) => arguments.extend(["--session-file".into(), file.into()]),
    }
    arguments
}

/// Whether a turn may change nothing: without a workspace there is nothing that it should change.
pub(super) fn only_reads(turn: &Turn) -> bool {
    turn.read_only || turn.workspace.is_none()
}

/// The complete environment of the program.
pub(super) fn environment(
    settings: &GeminiSettings,
    workspace: Option<&Path>,
    key: Secret,
    home: &CallHome,
) -> Environment {
    let base_url = settings.base_url().unwrap_or_else(|| GOOGLE.to_owned());
    shared_environment(settings, workspace)
        .set("GEMINI_CLI_HOME", home.path())
        .set("TMPDIR", home.temporary())
        .without_proxy_for(&base_url)
        .set(BASE_URL, base_url)
        .secret(KEY, key)
}

/// The part of the environment that the program's commands see, too.
fn shared_environment(settings: &GeminiSettings, workspace: Option<&Path>) -> Environment {
    // Otherwise the program would start itself again with more memory.
    Environment::of_agent(&settings.inherit, &settings.environment, workspace)
        .set("GEMINI_CLI_NO_RELAUNCH", "1")
        .set("NO_COLOR", "1")
}
