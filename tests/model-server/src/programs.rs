//! Where the real programs are.
//!
//! `tests/programs/` pins them in a lock file of npm. A test of a program that is not there says so and passes, unless the
//! environment variable `CI` is set: see [`found`].

use std::env;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A program that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Missing {
    /// Not installed.
    #[error("{program} is not at {}: run `npm ci --ignore-scripts --prefix tests/programs` in the checkout, or set {variable} to its path", .path.display())]
    NotInstalled {
        /// Its name.
        program: &'static str,
        /// Where it was looked for.
        path: PathBuf,
        /// What may name another place.
        variable: &'static str,
    },
    /// The variable names no file.
    #[error("{variable} names {}, which is no file: set it to the path of {program}, or unset it", .path.display())]
    NotAFile {
        /// Its name.
        program: &'static str,
        /// What the variable names.
        path: PathBuf,
        /// The variable.
        variable: &'static str,
    },
    /// There is none for this machine.
    #[error("{program} is not published for {system} on {architecture}: set {variable} to the path of one of your own")]
    NotPublished {
        /// Its name.
        program: &'static str,
        /// `std::env::consts::OS`.
        system: &'static str,
        /// `std::env::consts::ARCH`.
        architecture: &'static str,
        /// What may name another place.
        variable: &'static str,
    },
}

/// Claude Code: `INTERLOCKING_CLAUDE`, or the pinned one.
///
/// # Errors
///
/// If there is none.
pub fn claude() -> Result<PathBuf, Missing> {
    let name = if cfg!(windows) { "claude.exe" } else { "claude" };
    find("Claude Code", "INTERLOCKING_CLAUDE", |platform| {
        Some(format!("@anthropic-ai/claude-code-{}/{name}", platform.name()))
    })
}

/// Codex: `INTERLOCKING_CODEX`, or the pinned one.
///
/// # Errors
///
/// If there is none.
pub fn codex() -> Result<PathBuf, Missing> {
    let name = if cfg!(windows) { "codex.exe" } else { "codex" };
    find("Codex", "INTERLOCKING_CODEX", |platform| {
        Some(format!("@openai/codex-{}/vendor/{}/bin/{name}", platform.name(), platform.triple()?))
    })
}

/// The path of a program that a test wants; none, said on standard error, where it is missing. A test that gets none has
/// nothing to show and returns.
///
/// # Panics
///
/// If it is missing and the environment variable `CI` is set: what is built there must be shown with the real programs.
#[track_caller]
pub fn found(program: Result<PathBuf, Missing>) -> Option<PathBuf> {
    match program {
        Ok(path) => Some(path),
        Err(missing) if env::var_os("CI").is_some() => panic!("{missing}"),
        Err(missing) => {
            #[expect(clippy::print_stderr, reason = "a test that shows nothing has to say so")]
            {
                eprintln!("NOT TESTED: {missing}");
            }
            None
        }
    }
}

/// A machine as npm's packages name it.
struct Platform {
    system: &'static str,
    architecture: &'static str,
}

impl Platform {
    fn here() -> Self {
        Self { system: env::consts::OS, architecture: env::consts::ARCH }
    }

    fn name(&self) -> String {
        let system = match self.system {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        };
        let architecture = match self.architecture {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        };
        format!("{system}-{architecture}")
    }

    fn triple(&self) -> Option<String> {
        let rest = match self.system {
            "linux" => "unknown-linux-musl",
            "macos" => "apple-darwin",
            "windows" => "pc-windows-msvc",
            _ => return None,
        };
        Some(format!("{}-{rest}", self.architecture))
    }
}

fn find(
    program: &'static str,
    variable: &'static str,
    place: impl FnOnce(&Platform) -> Option<String>,
) -> Result<PathBuf, Missing> {
    if let Some(path) = env::var_os(variable).map(PathBuf::from) {
        return if path.is_file() { Ok(path) } else { Err(Missing::NotAFile { program, path, variable }) };
    }
    let platform = Platform::here();
    let Some(place) = place(&platform) else {
        let Platform { system, architecture } = platform;
        return Err(Missing::NotPublished { program, system, architecture, variable });
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/node_modules").join(place);
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(_) => Err(Missing::NotInstalled { program, path, variable }),
    }
}
