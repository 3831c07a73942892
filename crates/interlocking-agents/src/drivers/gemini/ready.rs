//! Checks whether the program can work as it is configured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::settings::{GeminiSettings, configuration};
use super::{command, home::Home};
use crate::agent::error::AgentErrorKind;
use crate::program::{Invocation, Secret};

/// The version that the driver was tested with. Older versions may lack what the driver needs.
const OLDEST: [u32; 3] = [0, 61, 0];

/// The time limit for `--version`, which normally takes a second or two.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// Asks the program for its version, with the environment and the home of a call.
pub(super) async fn check(settings: &GeminiSettings, key: Secret) -> Result<(), AgentErrorKind> {
    match tokio::time::timeout(VERSION_TIMEOUT, ask(settings, key)).await {
        Ok(checked) => checked,
        Err(_) => Err(configuration(format!("{} --version does not end: set `program`", settings.program.display()))),
    }
}

async fn ask(settings: &GeminiSettings, key: Secret) -> Result<(), AgentErrorKind> {
    let home = Home::open(settings, None, None)?.for_call(settings, None)?;
    let environment = command::environment(settings, None, key, &home);
    let program = settings.program.display();
    let invocation =
        Invocation { arguments: vec!["--version".into()], ..Invocation::new(&settings.program, environment) };
    let broken = |error: std::io::Error| configuration(format!("{program} --version: {error}"));
    let mut running = invocation.start().await?;
    let said = running.output_tail().await.map_err(broken)?;
    let ended = running.end().await.map_err(broken)?;
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

/// The directory with everything that belongs to the program, if npm installed it. None for other installations.
pub(super) fn package_of(program: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Joining an absolute path yields that path. A relative path with several components is not expected in any
    // directory of `PATH`.
    let below = std::env::split_paths(&path).map(|directory| directory.join(program));
    let found = std::iter::once(program.to_owned()).chain(below).find(|candidate| candidate.is_file())?;
    let real = found.canonicalize().ok()?;
    real.ancestors()
        .find(|directory| directory.file_name().is_some_and(|name| name == "node_modules"))
        .map(Path::to_owned)
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
