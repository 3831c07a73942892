//! Checks whether the program can work as it is configured.

use super::home::CallHome;
use super::settings::CodexSettings;
use super::{call, command};
use crate::agent::error::AgentErrorKind;
use crate::drivers::installation::{Required, Version, require_version};
use crate::program::Secret;

/// The version that the driver was tested with. Older versions may lack what the driver needs.
const REQUIRED: Required = Required {
    name: "Codex",
    oldest: Version([0, 169, 0]),
    find: version,
    remedy: "install @openai/codex from npm, or set `program`",
};

/// Asks the program for its version, with the environment and the home of a call.
pub(super) async fn check(settings: &CodexSettings, key: Option<Secret>) -> Result<(), AgentErrorKind> {
    let has_key = key.is_some();
    let homes = settings.homes(has_key)?;
    let home = CallHome::make(settings, &homes, homes.base(), None, None, has_key)
        .map_err(|error| call::unusable(homes.base(), &error))?;
    let environment = command::environment(settings, None, home.path(), key);
    require_version(&settings.program, environment, &REQUIRED).await.map(drop)
}

/// Parses `codex-cli 0.169.0`.
fn version(said: &str) -> Option<Version> {
    said.lines().find_map(|line| Version::parse(line.trim().strip_prefix("codex-cli ")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version("WARNING: …\ncodex-cli 0.169.0\n"), Some(Version([0, 169, 0])));
        assert_eq!(version("codex-cli 1.2.3-alpha.1"), Some(Version([1, 2, 3])));
        assert_eq!(version("git version 2.4"), None);
    }
}
