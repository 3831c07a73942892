//! Checks whether the program is installed in a version that is known to work.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::settings::configuration;
use crate::agent::error::AgentErrorKind;
use crate::program::{Environment, Invocation, Line};

/// The version that the driver was tested with. Older versions may lack what the driver needs.
const OLDEST: [u32; 3] = [0, 169, 0];

/// The time limit for `--version`, which normally takes a fraction of a second.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// Asks the program for its version.
pub(super) async fn check_version(program: &Path) -> Result<(), AgentErrorKind> {
    match tokio::time::timeout(VERSION_TIMEOUT, ask(program)).await {
        Ok(checked) => checked,
        Err(_) => Err(configuration(format!("{} --version does not end: set `program`", program.display()))),
    }
}

async fn ask(program: &Path) -> Result<(), AgentErrorKind> {
    let invocation =
        Invocation { arguments: vec!["--version".into()], ..Invocation::new(program, Environment::minimal()) };
    let mut running = invocation.start().await?;
    let mut said = String::new();
    let broken = |error: std::io::Error| configuration(format!("{} --version: {error}", program.display()));
    while let Some(line) = running.next_line().await.map_err(broken)? {
        if let Line::Whole(line) = line {
            said.push_str(&String::from_utf8_lossy(line));
            said.push('\n');
        }
    }
    let ended = running.end().await.map_err(broken)?;
    let remedy = "install @openai/codex from npm, or set `program`";
    let Some(version) = version(&said) else {
        return Err(configuration(format!(
            "{} --version says no version of Codex but {:?} ({}): {remedy}",
            program.display(),
            said.trim(),
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

/// The directory with everything that belongs to the program, if npm installed it: the program itself, and a search
/// program. None for other installations.
pub(super) fn package_of(program: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Joining an absolute path yields that path. A relative path with several components is not expected in any
    // directory of `PATH`.
    let below = std::env::split_paths(&path).map(|directory| directory.join(program));
    let found = std::iter::once(program.to_owned()).chain(below).find(|candidate| candidate.is_file())?;
    let real = found.canonicalize().ok()?;
    real.ancestors().find(|directory| directory.file_name().is_some_and(|name| name == "@openai")).map(Path::to_owned)
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
