//! A toolchain with a place to put its artefacts: builds and tests a directory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::process::{Ending, Finished, run};
use super::{BuildOutcome, CommandLine, Harness, RunError, TestOutcome, TestRun, Toolchain};
use crate::harness::{KnownTests, exit_code, libtest};

/// Builds and tests worktrees.
///
/// The commands see a cleared environment: what builds need (`PATH`, `HOME`, the locations of cargo and
/// rustup, the locale) and what the toolchain names, so that no secret of the caller's reaches code that an
/// agent wrote. Cargo is kept off the network, proptest off the disk.
#[derive(Debug, Clone)]
pub struct Workshop {
    toolchain: Toolchain,
    environment: BTreeMap<OsString, OsString>,
}

/// What of the caller's environment every command may see.
const PASSED: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "LD_LIBRARY_PATH",
];

/// How much of a failed command's output is kept as its diagnostics, in bytes.
const LONGEST_DIAGNOSTICS: usize = 16 * 1024;

impl Workshop {
    /// A workshop that keeps its artefacts in `target_directory`, shared by everything built in it.
    pub fn new(toolchain: Toolchain, target_directory: impl Into<PathBuf>) -> Self {
        let mut environment: BTreeMap<OsString, OsString> = PASSED
            .iter()
            .copied()
            .chain(toolchain.pass_environment.iter().map(String::as_str))
            .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
            .collect();
        let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
        set("CARGO_TARGET_DIR", target_directory.into().into_os_string());
        set("CARGO_NET_OFFLINE", "true".into());
        set("CARGO_TERM_COLOR", "never".into());
        set("RUST_BACKTRACE", "0".into());
        set("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1".into());
        Self { toolchain, environment }
    }

    /// What it works with.
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Runs the build command in a directory.
    pub async fn build(&self, directory: &Path) -> Result<BuildOutcome, RunError> {
        let time_limit = self.toolchain.build_timeout();
        let finished = self.run(&self.toolchain.build_command, directory, time_limit).await?;
        Ok(match finished.ending {
            Ending::Exited(0) => BuildOutcome::Passed,
            Ending::Exited(_) | Ending::Killed => BuildOutcome::Failed { diagnostics: diagnostics(&finished) },
            Ending::TimedOut => BuildOutcome::TimedOut { after: time_limit, diagnostics: diagnostics(&finished) },
        })
    }

    /// Runs the test command in a directory. The known tests are the ones that must get a verdict: where the
    /// harness could not give one, because time was up or the test program crashed, they count as failed.
    pub async fn test(&self, directory: &Path, known: KnownTests<'_>) -> Result<TestRun, RunError> {
        let time_limit = self.toolchain.test_timeout();
        let finished = self.run(&self.toolchain.test_command, directory, time_limit).await?;
        let outcome: Option<TestOutcome> = match self.toolchain.harness {
            Harness::Libtest => libtest::read(&finished, known),
            Harness::ExitCode => Some(exit_code::read(&finished, known)),
        };
        Ok(outcome.map_or_else(|| TestRun::DidNotBuild { diagnostics: diagnostics(&finished) }, TestRun::Ran))
    }

    async fn run(&self, command: &CommandLine, directory: &Path, time_limit: Duration) -> Result<Finished, RunError> {
        tracing::debug!(%command, directory = %directory.display(), "running");
        let mut environment = self.environment.clone();
        let own = own_codegen_units(directory);
        for profile in ["DEV", "RELEASE"] {
            environment.insert(format!("CARGO_PROFILE_{profile}_CODEGEN_UNITS").into(), own.clone().into());
        }
        run(command, directory, &environment, time_limit).await
    }
}

/// Lets all directories below `directory` share compiled dependencies, and nothing else.
///
/// Cargo names artefacts of a path dependency by its path *inside its workspace*: two worktrees of one crate that share a
/// target directory would overwrite each other's, and a worktree whose files are older than the other's build would be
/// given the other's tests. The profile is part of the name too, so the [workshop](Workshop) gives every directory a
/// number of codegen units of its own; this keeps the dependencies at one number for all.
///
/// # Errors
///
/// Where the file cannot be written.
pub fn share_dependencies(directory: &Path) -> io::Result<()> {
    let cargo = directory.join(".cargo");
    fs::create_dir_all(&cargo)?;
    let same_for_all = "[profile.dev.package.\"*\"]\ncodegen-units = 256\n\n\
                        [profile.release.package.\"*\"]\ncodegen-units = 16\n";
    fs::write(cargo.join("config.toml"), same_for_all)
}

/// More than any crate has modules, so that it is only a name; from the path, so that no two runs share one either.
fn own_codegen_units(directory: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    directory.hash(&mut hasher);
    format!("{}", 1_000_000 + hasher.finish() % 1_000_000_000)
}

/// What a failed command said, standard error last because that is where tools explain themselves.
fn diagnostics(finished: &Finished) -> String {
    let mut text = String::new();
    for stream in [&finished.stdout, &finished.stderr] {
        if !stream.trim().is_empty() {
            text.push_str(stream.trim_end());
            text.push('\n');
        }
    }
    if finished.ending == Ending::TimedOut {
        text.push_str("(stopped: out of time)\n");
    }
    crate::text::last_bytes(&text, LONGEST_DIAGNOSTICS).to_owned()
}
