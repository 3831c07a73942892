//! Which server is started, and how.

use crate::error::Unavailable;
use interlocking_agents::program::{Environment, Invocation, StartError};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable that goes before every file in which rustup is told of a toolchain.
const TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";

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

    /// Where it is.
    pub(super) fn find(&self, environment: &Environment) -> Result<PathBuf, Unavailable> {
        environment.find(&self.program).filter(|path| path.is_file()).ok_or_else(|| self.not_installed())
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

    /// The start of a server, once it is found to be whole.
    ///
    /// What `PATH` has may be rustup's stand-in for a component that is not installed. And without the source of the standard library its
    /// macros, `assert_eq!` among them, are not seen through.
    pub(super) async fn checked(&self, mut server: Invocation) -> Result<Invocation, Unavailable> {
        if self.language != Language::Rust {
            return Ok(server);
        }
        if let Some(toolchain) = self.toolchain(&server).await? {
            server.environment = server.environment.set(TOOLCHAIN, toolchain);
        }
        if self.said(&server, &server.program, &["--version"]).await?.is_none() {
            return Err(self.not_installed());
        }
        let sysroot = self.said(&server, Path::new("rustc"), &["--print", "sysroot"]).await?.unwrap_or_default();
        let library = PathBuf::from(sysroot.trim()).join("lib/rustlib/src/rust/library");
        if library.is_dir() {
            return Ok(server);
        }
        Err(Unavailable::Incomplete {
            program: self.name.to_owned(),
            missing: "the source of the standard library".to_owned(),
            remedy: "run `rustup component add rust-src`".to_owned(),
        })
    }

    /// The toolchain that rustup takes in the project, if its choice is not made: a file there may name one that is installed. One that it
    /// gives by a path may be an agent's, and is not run.
    async fn toolchain(&self, server: &Invocation) -> Result<Option<String>, Unavailable> {
        if server.environment.get(TOOLCHAIN).is_some() {
            return Ok(None);
        }
        let Some(rustup) = server.environment.find("rustup") else { return Ok(None) };
        let said = self.said(server, &rustup, &["show", "active-toolchain"]).await?;
        let toolchain = said.as_deref().and_then(|said| said.split_whitespace().next());
        let toolchain = toolchain.ok_or_else(|| self.not_installed())?;
        if toolchain.contains(['/', '\\']) {
            let reason =
                format!("a toolchain by its path, {toolchain}, is not run: name a channel in `rust-toolchain.toml`");
            return Err(self.not_started(reason));
        }
        Ok(Some(toolchain.to_owned()))
    }

    /// What a program prints where the server is started, as confined as that; `None` where it does not start, or fails.
    async fn said(
        &self,
        server: &Invocation,
        program: &Path,
        arguments: &[&str],
    ) -> Result<Option<String>, Unavailable> {
        let invocation = Invocation {
            program: program.to_owned(),
            arguments: arguments.iter().map(OsString::from).collect(),
            stays_open: false,
            ..server.clone()
        };
        let ran = async {
            let mut running = match invocation.start().await {
                Ok(running) => running,
                Err(error @ StartError::NotConfined { .. }) => return Err(self.not_started(error.to_string())),
                Err(_) => return Ok(None),
            };
            let lost = |error: io::Error| self.not_started(error.to_string());
            let said = running.output_tail().await.map_err(lost)?;
            let end = running.end().await.map_err(lost)?;
            Ok((end.exit == Some(0)).then_some(said))
        };
        let seconds = self.start_timeout.as_secs();
        let late = |_| Err(self.not_started(format!("{} did not end within {seconds} s", program.display())));
        tokio::time::timeout(self.start_timeout, ran).await.unwrap_or_else(late)
    }

    pub(super) fn not_started(&self, reason: String) -> Unavailable {
        Unavailable::NotStarted { program: self.name.to_owned(), reason }
    }
}
