//! Where the program of an agent is installed, and which version of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent::error::AgentErrorKind;
use crate::program::{Ended, Environment, Invocation};

/// The time limit for `--version`, which normally takes a second or two.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// The program as the settings name it: a name is looked up in `PATH`; any other path is relative to the current directory
/// of this process, and not to the workspace, which an agent can write.
pub(crate) fn located(program: &Path) -> PathBuf {
    match program.components().count() {
        0 | 1 => program.to_owned(),
        _ => std::path::absolute(program).unwrap_or_else(|_| program.to_owned()),
    }
}

/// The directory of this name that the program is in, such as npm's `node_modules`, with everything that belongs to the
/// program. None for other installations.
pub(crate) fn directory_around(program: &Path, name: &str) -> Option<PathBuf> {
    let real = Environment::minimal().find(located(program))?.canonicalize().ok()?;
    real.ancestors().find(|directory| directory.file_name().is_some_and(|found| found == name)).map(Path::to_owned)
}

/// A version of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) [u32; 3]);

/// The version that a program must have.
pub(crate) struct Required {
    /// The program's name in messages.
    pub(crate) name: &'static str,
    pub(crate) oldest: Version,
    /// Finds the version in what the program says.
    pub(crate) find: fn(&str) -> Option<Version>,
    /// How to get a newer version.
    pub(crate) remedy: &'static str,
}

impl Version {
    /// Parses three numbers, which `-`, `+` or a space may end, as in `0.61.0-preview.1`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(['-', '+', ' ']).next()?.split('.').map(|number| number.parse().ok());
        let version = [numbers.next()??, numbers.next()??, numbers.next()??];
        numbers.next().is_none().then_some(Self(version))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

/// Asks a program for its version.
///
/// # Errors
///
/// Those of [`version_output`]; the program says no version, or one that is too old.
pub(crate) async fn require_version(
    program: &Path,
    environment: Environment,
    required: &Required,
) -> Result<Version, AgentErrorKind> {
    let Required { name, oldest, find, remedy } = required;
    let (said, ended) = version_output(program, environment).await?;
    let program = program.display();
    match find(&said) {
        None => Err(AgentErrorKind::configuration(format!(
            "{program} --version says no version of {name} but {said:?} ({}): {remedy}",
            ended.stderr
        ))),
        Some(version) if version < *oldest => Err(AgentErrorKind::configuration(format!(
            "{program} is {name} {version}, which is older than {oldest}: {remedy}"
        ))),
        Some(version) => Ok(version),
    }
}

/// Runs a program with `--version`, and returns the end of its output and how it ended.
///
/// # Errors
///
/// The program cannot be started or read, or does not end.
async fn version_output(program: &Path, environment: Environment) -> Result<(String, Ended), AgentErrorKind> {
    let invocation =
        Invocation { arguments: vec!["--version".into()], ..Invocation::new(located(program), environment) };
    let failed = |what: &str| AgentErrorKind::configuration(format!("{} --version{what}", program.display()));
    let broken = |error: std::io::Error| failed(&format!(": {error}"));
    let asking = async {
        let mut running = invocation.start().await?;
        let said = running.output_tail().await.map_err(broken)?;
        Ok((said, running.end().await.map_err(broken)?))
    };
    let asked = tokio::time::timeout(VERSION_TIMEOUT, asking).await;
    asked.unwrap_or_else(|_| Err(failed(" does not end: set `program`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        for (text, version) in [
            ("2.1.330 (Claude Code)", Some([2, 1, 330])),
            ("3.0.0-beta.1 (Claude Code)", Some([3, 0, 0])),
            ("1.2.3+build", Some([1, 2, 3])),
            ("", None),
            ("Claude Code", None),
            ("2.1", None),
            ("2.1.3.4", None),
            ("v2.1.330", None),
        ] {
            assert_eq!(Version::parse(text), version.map(Version), "{text:?}");
        }
        assert!(Version([0, 170, 0]) > Version([0, 169, 0]) && Version([0, 99, 9]) < Version([0, 169, 0]));
        assert_eq!(Version([2, 1, 330]).to_string(), "2.1.330");
    }
}
