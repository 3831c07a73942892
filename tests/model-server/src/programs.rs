//! Finds the real programs.
//!
//! `tests/programs/` pins the programs in a lock file of npm. A test whose program is missing reports that and passes,
//! unless the environment variable `CI` is set: see [`found`].

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a program is not found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Missing {
    /// The program is not installed.
    #[error("{program} is not at {}: run `npm ci --ignore-scripts --prefix tests/programs` in the checkout, or set {variable} to its path", .path.display())]
    NotInstalled {
        /// The name of the program.
        program: &'static str,
        /// The path at which it was looked for.
        path: PathBuf,
        /// The environment variable that overrides the path.
        variable: &'static str,
    },
    /// The variable's value is no file.
    #[error("{variable} names {}, which is no file: set it to the path of {program}, or unset it", .path.display())]
    NotAFile {
        /// The name of the program.
        program: &'static str,
        /// The value of the variable.
        path: PathBuf,
        /// The environment variable.
        variable: &'static str,
    },
    /// The program is not published for this machine.
    #[error("{program} is not published for {system} on {architecture}: set {variable} to the path of one of your own")]
    NotPublished {
        /// The name of the program.
        program: &'static str,
        /// The system, as in `std::env::consts::OS`.
        system: &'static str,
        /// The architecture, as in `std::env::consts::ARCH`.
        architecture: &'static str,
        /// The environment variable that overrides the path.
        variable: &'static str,
    },
}

/// The path of Claude Code: the value of `INTERLOCKING_CLAUDE`, or the pinned installation.
///
/// # Errors
///
/// If the program is missing.
pub fn claude() -> Result<PathBuf, Missing> {
    CLAUDE.find(env::var_os(CLAUDE.variable).map(PathBuf::from), Platform::HERE, &installed())
}

/// The path of Codex: the value of `INTERLOCKING_CODEX`, or the pinned installation.
///
/// # Errors
///
/// If the program is missing.
pub fn codex() -> Result<PathBuf, Missing> {
    CODEX.find(env::var_os(CODEX.variable).map(PathBuf::from), Platform::HERE, &installed())
}

/// The path of the Gemini CLI: the value of `INTERLOCKING_GEMINI`, or the pinned installation. It needs `node` on the
/// path.
///
/// # Errors
///
/// If the program is missing.
pub fn gemini() -> Result<PathBuf, Missing> {
    GEMINI.find(env::var_os(GEMINI.variable).map(PathBuf::from), Platform::HERE, &installed())
}

/// The path of a program that a test needs. If the program is missing, this writes a note to standard error and gives
/// `None`, and the test returns without testing anything.
///
/// # Panics
///
/// If the program is missing and the environment variable `CI` is set: in CI, these tests must run the real programs.
#[track_caller]
pub fn found(program: Result<PathBuf, Missing>) -> Option<PathBuf> {
    match program {
        Ok(path) => Some(path),
        Err(missing) if env::var_os("CI").is_some() => panic!("{missing}"),
        Err(missing) => {
            // Written directly, as the test harness captures the output of `eprintln!` and drops it for tests that pass.
            let _ = std::io::stderr().write_all(format!("NOT TESTED: {missing}\n").as_bytes());
            None
        }
    }
}

/// A program and the paths at which npm installs it.
struct Program {
    name: &'static str,
    variable: &'static str,
    /// The paths below `node_modules`, the likelier ones first; empty if the program is not published for the platform.
    places: fn(Platform) -> Vec<String>,
}

const CLAUDE: Program = Program {
    name: "Claude Code",
    variable: "INTERLOCKING_CLAUDE",
    places: |platform| {
        let Some(name) = platform.name() else { return Vec::new() };
        let program = platform.executable("claude");
        // The second is for a Linux whose C library is musl.
        ["", "-musl"].map(|library| format!("@anthropic-ai/claude-code-{name}{library}/{program}")).to_vec()
    },
};

const CODEX: Program = Program {
    name: "Codex",
    variable: "INTERLOCKING_CODEX",
    places: |platform| match (platform.name(), platform.triple()) {
        (Some(name), Some(triple)) => {
            vec![format!("@openai/codex-{name}/vendor/{triple}/bin/{}", platform.executable("codex"))]
        }
        _ => Vec::new(),
    },
};

const GEMINI: Program = Program {
    name: "Gemini CLI",
    variable: "INTERLOCKING_GEMINI",
    places: |platform| {
        let suffix = if platform.system == "windows" { ".cmd" } else { "" };
        vec![format!(".bin/gemini{suffix}")]
    },
};

fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("programs").join("node_modules")
}

impl Program {
    fn find(&self, named: Option<PathBuf>, platform: Platform, installed: &Path) -> Result<PathBuf, Missing> {
        let Self { name: program, variable, places } = *self;
        if let Some(path) = named {
            return if path.is_file() { Ok(path) } else { Err(Missing::NotAFile { program, path, variable }) };
        }
        let paths: Vec<_> = places(platform).into_iter().map(|place| installed.join(place)).collect();
        let Some(first) = paths.first().cloned() else {
            let Platform { system, architecture } = platform;
            return Err(Missing::NotPublished { program, system, architecture, variable });
        };
        let there = paths.into_iter().find(|path| path.is_file());
        there.ok_or(Missing::NotInstalled { program, path: first, variable })
    }
}

/// An operating system and an architecture.
#[derive(Clone, Copy)]
struct Platform {
    system: &'static str,
    architecture: &'static str,
}

impl Platform {
    const HERE: Self = Self { system: env::consts::OS, architecture: env::consts::ARCH };

    /// The name in npm's packages.
    fn name(self) -> Option<String> {
        let system = match self.system {
            "linux" => "linux",
            "macos" => "darwin",
            "windows" => "win32",
            _ => return None,
        };
        let architecture = match self.architecture {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            _ => return None,
        };
        Some(format!("{system}-{architecture}"))
    }

    /// The name among Rust's targets.
    fn triple(self) -> Option<String> {
        let rest = match self.system {
            "linux" => "unknown-linux-musl",
            "macos" => "apple-darwin",
            "windows" => "pc-windows-msvc",
            _ => return None,
        };
        Some(format!("{}-{rest}", self.architecture))
    }

    fn executable(self, name: &str) -> String {
        if self.system == "windows" { format!("{name}.exe") } else { name.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: Platform = Platform { system: "linux", architecture: "x86_64" };

    fn put(installed: &Path, place: &str) -> PathBuf {
        let path = installed.join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        path
    }

    #[test]
    fn a_program_is_where_npm_puts_it_or_where_the_variable_says() {
        let installed = tempfile::tempdir().unwrap();
        let musl = put(installed.path(), "@anthropic-ai/claude-code-linux-x64-musl/claude");
        assert_eq!(CLAUDE.find(None, LINUX, installed.path()), Ok(musl));
        let claude = put(installed.path(), "@anthropic-ai/claude-code-linux-x64/claude");
        assert_eq!(CLAUDE.find(None, LINUX, installed.path()), Ok(claude.clone()));
        let place = "@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex";
        let codex = put(installed.path(), place);
        let mac = Platform { system: "macos", architecture: "aarch64" };
        assert_eq!(CODEX.find(None, mac, installed.path()), Ok(codex));
        let gemini = put(installed.path(), ".bin/gemini");
        assert_eq!(GEMINI.find(None, LINUX, installed.path()), Ok(gemini));
        let own = put(installed.path(), "my-own");
        assert_eq!(CLAUDE.find(Some(own.clone()), LINUX, installed.path()), Ok(own));
    }

    #[test]
    fn a_missing_program_comes_with_the_command_that_gets_it() {
        let missing = CODEX.find(None, LINUX, Path::new("nowhere")).unwrap_err().to_string();
        assert_eq!(
            missing,
            "Codex is not at nowhere/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex: run `npm ci \
             --ignore-scripts --prefix tests/programs` in the checkout, or set INTERLOCKING_CODEX to its path"
        );
        let named = CLAUDE.find(Some("gone".into()), LINUX, Path::new("nowhere")).unwrap_err().to_string();
        assert_eq!(
            named,
            "INTERLOCKING_CLAUDE names gone, which is no file: set it to the path of Claude Code, or unset it"
        );
        let exotic = Platform { system: "linux", architecture: "riscv64" };
        assert_eq!(
            CLAUDE.find(None, exotic, Path::new("nowhere")).unwrap_err().to_string(),
            "Claude Code is not published for linux on riscv64: set INTERLOCKING_CLAUDE to the path of one of your own"
        );
    }
}
