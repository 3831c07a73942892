//! Checks whether the program can work as it is configured.

use super::settings::{GeminiSettings, configuration};
use super::{command, home::Home};
use crate::agent::error::AgentErrorKind;
use crate::drivers::installation::version_output;
use crate::program::Secret;

/// The version that the driver was tested with. Older versions may lack what the driver needs.
const OLDEST: [u32; 3] = [0, 61, 0];

/// Asks the program for its version, with the environment and the home of a call.
pub(super) async fn check(settings: &GeminiSettings, key: Secret) -> Result<(), AgentErrorKind> {
    let home = Home::open(settings, None, None)?.for_call(settings, None, true)?;
    let environment = command::environment(settings, None, key, &home);
    let (said, ended) = version_output(&settings.program, environment).await?;
    let program = settings.program.display();
    let remedy = "install @google/gemini-cli from npm, or set `program`";
    let Some(version) = version(&said) else {
        return Err(configuration(format!(
            "{program} --version says no version of the Gemini CLI but {said:?} ({}): {remedy}",
            ended.stderr
        )));
    };
    if version < OLDEST {
        let shown = |[major, minor, patch]: [u32; 3]| format!("{major}.{minor}.{patch}");
        let (version, oldest) = (shown(version), shown(OLDEST));
        return Err(configuration(format!(
            "{program} is Gemini CLI {version}, which is older than {oldest}: {remedy}"
        )));
    }
    Ok(())
}

/// Parses `0.61.0`, alone in the last line.
fn version(said: &str) -> Option<[u32; 3]> {
    let line = said.lines().next_back()?.trim();
    let mut numbers = line.split(['-', '+']).next()?.split('.').map(|number| number.parse().ok());
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version("0.61.0\n"), Some([0, 61, 0]));
        assert_eq!(version("Warning: …\n1.2.3-preview.1"), Some([1, 2, 3]));
        assert_eq!(version("gemini 1.2.3"), None);
        assert_eq!(version(""), None);
    }
}
