//! Checks whether the program can work as it is configured.

use super::home::CallHome;
use super::settings::{CodexSettings, configuration};
use super::{call, command};
use crate::agent::error::AgentErrorKind;
use crate::drivers::installation::version_output;
use crate::program::Secret;

/// The version that the driver was tested with. Older versions may lack what the driver needs.
const OLDEST: [u32; 3] = [0, 169, 0];

/// Asks the program for its version, with the environment and the home of a call.
pub(super) async fn check(settings: &CodexSettings, key: Option<Secret>) -> Result<(), AgentErrorKind> {
    let has_key = key.is_some();
    let homes = settings.homes(has_key)?;
    let home = CallHome::make(settings, &homes, homes.base(), None, None, has_key)
        .map_err(|error| call::unusable(homes.base(), &error))?;
    let environment = command::environment(settings, None, home.path(), key);
    let program = &settings.program;
    let (said, ended) = version_output(program, environment).await?;
    let remedy = "install @openai/codex from npm, or set `program`";
    let Some(version) = version(&said) else {
        return Err(configuration(format!(
            "{} --version says no version of Codex but {:?} ({}): {remedy}",
            program.display(),
            said,
            ended.stderr
        )));
    };
    if version < OLDEST {
        let shown = |[major, minor, patch]: [u32; 3]| format!("{major}.{minor}.{patch}");
        return Err(configuration(format!(
            "{} is Codex {}, which is older than {}: {remedy}",
            program.display(),
            shown(version),
            shown(OLDEST)
        )));
    }
    Ok(())
}

/// Parses `codex-cli 0.169.0`.
fn version(said: &str) -> Option<[u32; 3]> {
    let line = said.lines().find_map(|line| line.trim().strip_prefix("codex-cli "))?;
    let mut numbers = line.split(['-', '+', ' ']).next()?.split('.').map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version("WARNING: …\ncodex-cli 0.169.0\n"), Some([0, 169, 0]));
        assert_eq!(version("codex-cli 1.2.3-alpha.1"), Some([1, 2, 3]));
        assert_eq!(version("git version 2.4"), None);
        assert!([0, 170, 0] > OLDEST && [0, 99, 9] < OLDEST && [1, 0, 0] > OLDEST);
    }
}
