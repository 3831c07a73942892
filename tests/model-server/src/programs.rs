//! Where the real programs are.
//!
//! `tests/programs/` pins them in a lock file of npm. A test of a program that is not there says so and passes, unless the
//! environment variable `CI` is set: see [`found`].

use std::env;
use std::io::Write;
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
        /// As `std::env::consts::OS` has it.
        system: &'static str,
        /// As `std::env::consts::ARCH` has it.
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
    CLAUDE.find(env::var_os(CLAUDE.variable).map(PathBuf::from), Platform::HERE, &installed())
}

/// Codex: `INTERLOCKING_CODEX`, or the pinned one.
///
/// # Errors
///
/// If there is none.
pub fn codex() -> Result<PathBuf, Missing> {
    CODEX.find(env::var_os(CODEX.variable).map(PathBuf::from), Platform::HERE, &installed())
}

/// The Gemini CLI: `INTERLOCKING_GEMINI`, or the pinned one. It wants `node` on the path.
///
/// # Errors
///
/// If there is none.
pub fn gemini() -> Result<PathBuf, Missing> {
    GEMINI.find(env::var_os(GEMINI.variable).map(PathBuf::from), Platform::HERE, &installed())
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
            // Not by a macro, whose text the harness keeps back from those who only see a test pass.
            let _ = std::io::stderr().write_all(format!("NOT TESTED: {missing}\n").as_bytes());
            None
        }
    }
}

/// A program and where npm puts it.
struct Program {
    name: &'static str,
    variable: &'static str,
    /// Its places below `node_modules`, the likelier first; none if it is not published for the platform.
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

/// A kind of machine.
#[derive(Clone, Copy)]
struct Platform {
    system: &'static str,
    architecture: &'static str,
}

impl Platform {
    const HERE: Self = Self { system: env::consts::OS, architecture: env::consts::ARCH };

    /// As npm's packages name it.
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

    /// As Rust's targets name it.
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
