//! Where the program of an agent is installed, and which version of it.

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

/// Runs a program with `--version`, and returns the end of its output and how it ended.
///
/// # Errors
///
/// The program cannot be started or read, or does not end.
pub(crate) async fn version_output(
    program: &Path,
    environment: Environment,
) -> Result<(String, Ended), AgentErrorKind> {
    let invocation =
        Invocation { arguments: vec!["--version".into()], ..Invocation::new(located(program), environment) };
    let failed =
        |what: &str| AgentErrorKind::Configuration { reason: format!("{} --version{what}", program.display()) };
    let broken = |error: std::io::Error| failed(&format!(": {error}"));
    let asking = async {
        let mut running = invocation.start().await?;
        let said = running.output_tail().await.map_err(broken)?;
        Ok((said, running.end().await.map_err(broken)?))
    };
    let asked = tokio::time::timeout(VERSION_TIMEOUT, asking).await;
    asked.unwrap_or_else(|_| Err(failed(" does not end: set `program`")))
}
