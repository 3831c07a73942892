//! Which server is started, and how.

use crate::error::Unavailable;
use interlocking_agents::program::Environment;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A language server: what is started, and what is to be known of it.
#[derive(Clone, Debug)]
pub struct ServerProgram {
    /// What it is called.
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) language: Language,
    /// The protocol's name of the language.
    pub(super) language_id: &'static str,
    /// Its settings.
    pub(super) options: Value,
    /// Says by itself when it has read the project.
    pub(super) says_when_ready: bool,
    pub(super) remedy: &'static str,
    pub(super) start_timeout: Duration,
    pub(super) request_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Python,
}

impl ServerProgram {
    /// rust-analyzer, as `rustup component add rust-analyzer rust-src` installs it; cargo must once have fetched what the standard library
    /// depends on, since the server has no network. It runs neither build scripts nor procedural macros
    /// of the project.
    pub fn rust_analyzer() -> Self {
        Self::of(
            "rust-analyzer",
            Language::Rust,
            "rust",
            json!({
                "cargo": { "buildScripts": { "enable": false }, "noDeps": false },
                "procMacro": { "enable": false },
                "checkOnSave": false,
                "cachePriming": { "enable": false },
                "files": { "watcher": "client" },
            }),
            "run `rustup component add rust-analyzer`",
        )
        .saying_when_ready()
    }

    /// Pyright, for Python: `langserver` is the path of its `pyright-langserver`, or a name that is looked for in `PATH`.
    pub fn pyright(langserver: impl Into<PathBuf>) -> Self {
        let program = Self::of("Pyright", Language::Python, "python", json!({}), "run `npm install pyright`");
        Self { arguments: vec!["--stdio".into()], ..program.at(langserver) }
    }

    fn of(
        name: &'static str,
        language: Language,
        language_id: &'static str,
        options: Value,
        remedy: &'static str,
    ) -> Self {
        Self {
            name,
            program: name.into(),
            arguments: Vec::new(),
            language,
            language_id,
            options,
            says_when_ready: false,
            remedy,
            start_timeout: Duration::from_secs(120),
            request_timeout: Duration::from_secs(60),
        }
    }

    fn saying_when_ready(self) -> Self {
        Self { says_when_ready: true, ..self }
    }

    /// The same from another place than `PATH`.
    #[must_use]
    pub fn at(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// The same with other times: how long it may take to read the project, 120 s unless it is said, and to answer a question, 60 s.
    #[must_use]
    pub fn with_timeouts(mut self, start: Duration, request: Duration) -> Self {
        (self.start_timeout, self.request_timeout) = (start, request);
        self
    }

    /// Where it is, once it is found to be there and whole.
    pub(super) fn find(&self, environment: &Environment, root: &Path) -> Result<PathBuf, Unavailable> {
        let found =
            environment.find(&self.program).filter(|path| path.is_file()).ok_or_else(|| self.not_installed())?;
        if self.language == Language::Rust {
            self.check_rust(&found, environment, root)?;
        }
        Ok(found)
    }

    fn not_installed(&self) -> Unavailable {
        Unavailable::NotInstalled {
            program: self.name.to_owned(),
            looked_for: self.program.clone(),
            remedy: self.remedy.to_owned(),
        }
    }

    /// What this server lacks, if that is why it could not read something: without the standard library it resolves next to nothing, and it
    /// reads that together with the packages that it depends on.
    pub(super) fn lacks(&self, unread: &str) -> Option<Unavailable> {
        let is_it = self.language == Language::Rust && unread.contains("for sysroot");
        is_it.then(|| Unavailable::Incomplete {
            program: self.name.to_owned(),
            missing: "the packages that the standard library depends on".to_owned(),
            remedy: "run `RUSTC_BOOTSTRAP=1 cargo fetch --manifest-path $(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.toml`"
                .to_owned(),
        })
    }

    /// What `PATH` has may be rustup's stand-in for a component that is not installed. And without the source of the standard library its
    /// macros, `assert_eq!` among them, are not seen through.
    fn check_rust(&self, found: &Path, environment: &Environment, root: &Path) -> Result<(), Unavailable> {
        let run = |program: &Path, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(root).env_clear().envs(environment.variables()).output().ok()
        };
        let answers = run(found, &["--version"]).is_some_and(|output| output.status.success());
        if !answers {
            return Err(self.not_installed());
        }
        let sysroot = run(Path::new("rustc"), &["--print", "sysroot"]).map(|output| output.stdout).unwrap_or_default();
        let library = PathBuf::from(String::from_utf8_lossy(&sysroot).trim()).join("lib/rustlib/src/rust/library");
        if library.is_dir() {
            return Ok(());
        }
        Err(Unavailable::Incomplete {
            program: self.name.to_owned(),
            missing: "the source of the standard library".to_owned(),
            remedy: "run `rustup component add rust-src`".to_owned(),
        })
    }
}
