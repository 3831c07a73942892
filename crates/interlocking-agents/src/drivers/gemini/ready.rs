//! Checks whether the program can work as it is configured.

use super::settings::GeminiSettings;
use super::{command, home::Home};
use crate::agent::error::AgentErrorKind;
use crate::drivers::installation::{Required, Version, require_version};
use crate::program::Secret;

/// The version that the driver was tested with. Older versions may lack what the driver needs.
const REQUIRED: Required = Required {
    name: "the Gemini CLI",
    oldest: Version([0, 61, 0]),
    find: version,
    remedy: "install @google/gemini-cli from npm, or set `program`",
};

/// Asks the program for its version, with the environment and the home of a call.
pub(super) async fn check(settings: &GeminiSettings, key: Secret) -> Result<(), AgentErrorKind> {
    let home = Home::open(settings, None, None)?.for_call(settings, None, true)?;
    let environment = command::environment(settings, None, key, &home);
    require_version(&settings.program, environment, &REQUIRED).await.map(drop)
}

/// Parses `0.61.0`, alone in the last line.
fn version(said: &str) -> Option<Version> {
    Version::parse(said.lines().next_back()?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version("0.61.0\n"), Some(Version([0, 61, 0])));
        assert_eq!(version("Warning: …\n1.2.3-preview.1"), Some(Version([1, 2, 3])));
        assert_eq!(version("gemini 1.2.3"), None);
        assert_eq!(version(""), None);
    }
}
