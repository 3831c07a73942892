//! Runs a command of a script to its end, with all its child processes.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use interlocking_sandbox::Sandbox;

use crate::program::{Environment, Invocation, StartError};

/// The environment and the sandbox of a command.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    /// Variables in addition to the inherited ones.
    pub(crate) environment: &'a [(OsString, OsString)],
    /// The sandbox of the command and its child processes.
    pub(crate) sandbox: Option<&'a Arc<Sandbox>>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; none when a signal ended it.
    pub(crate) exit: Option<i32>,
    /// The end of its standard output.
    pub(crate) output: String,
    /// The end of its standard error.
    pub(crate) errors: String,
}

impl Ended {
    /// The end of its standard output, which contains the failures of tests, and of its standard error.
    pub(crate) fn last_words(self) -> String {
        let said = [self.output, self.errors].map(|end| end.trim_end().to_owned());
        said.into_iter().filter(|end| !end.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Runs a command to its end. All its child processes end when it ends, and also if the future is dropped before that.
pub(crate) async fn run(command: &[String], directory: &Path, surroundings: &Surroundings<'_>) -> io::Result<Ended> {
    let inherited = without_shared_builds(Environment::inherited());
    let added = surroundings.environment.iter().map(|(name, value)| (name, value));
    let environment = inherited.set_in(Some(directory), added);
    run_in(command, directory, environment, surroundings.sandbox).await
}

/// Without the build directory that all worktrees of the user share. Cargo treats packages in two worktrees of one
/// repository as the same there, so an agent would test what another agent has built.
fn without_shared_builds(inherited: Environment) -> Environment {
    let shared = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"];
    shared.into_iter().fold(inherited, Environment::without)
}

/// The same with this complete environment.
pub(crate) async fn run_in(
    command: &[String],
    directory: &Path,
    environment: Environment,
    sandbox: Option<&Arc<Sandbox>>,
) -> io::Result<Ended> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an empty command"));
    };
    let invocation = Invocation {
        arguments: arguments.iter().map(OsString::from).collect(),
        directory: Some(directory.to_owned()),
        sandbox: sandbox.cloned(),
        ..Invocation::new(program, environment)
    };
    let mut running = invocation.start().await.map_err(|error| match error {
        StartError::Missing { .. } => io::Error::new(io::ErrorKind::NotFound, "there is no such program"),
        StartError::Refused { source, .. } => source,
        other => io::Error::other(other),
    })?;
    let output = running.output_tail().await?;
    let ended = running.end().await?;
    Ok(Ended { exit: ended.exit, output, errors: ended.stderr })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_directory_of_all_builds_is_not_inherited() {
        let inherited = Environment::empty().set("CARGO_TARGET_DIR", "/builds").set("CARGO_HOME", "/cargo");
        let environment = without_shared_builds(inherited);
        let variables: Vec<_> = environment.variables().collect();
        assert_eq!(variables, [(OsStr::new("CARGO_HOME"), OsStr::new("/cargo"))]);
    }
}
