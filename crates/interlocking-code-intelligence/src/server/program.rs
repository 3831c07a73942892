//! The program of a server, and how it is started.

use crate::error::Unavailable;
use interlocking_agents::program::{Environment, Invocation, StartError};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable that names rustup's toolchain, with precedence over every file.
const TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";

/// A language server: its program, arguments and settings.
#[derive(Clone, Debug)]
pub struct ServerProgram {
    /// The server's name in messages.
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) language: Language,
    /// The server's initialization options.
    pub(super) options: Value,
    /// Whether the server notifies when it has read the project.
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

impl Language {
    /// The protocol's name of the language.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
        }
    }

    /// The extension of its files.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Rust => "rs",
            Self::Python => "py",
        }
    }
}

impl ServerProgram {
    /// rust-analyzer, as `rustup component add rust-analyzer rust-src` installs it. Cargo must once have fetched the dependencies
    /// of the standard library, since the server has no network. It runs neither build scripts nor procedural macros of the
    /// project.
    pub fn rust_analyzer() -> Self {
        Self::of(
            "rust-analyzer",
            Language::Rust,
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

    /// Pyright, for Python: `langserver` is the path of its `pyright-langserver`, or a name that is looked up in `PATH`.
    pub fn pyright(langserver: impl Into<PathBuf>) -> Self {
        let program = Self::of("Pyright", Language::Python, json!({}), "run `npm install pyright`");
        Self { arguments: vec!["--stdio".into()], ..program.at(langserver) }
    }

    fn of(name: &'static str, language: Language, options: Value, remedy: &'static str) -> Self {
        Self {
            name,
            program: name.into(),
            arguments: Vec::new(),
            language,
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

    /// Sets the path of the program, or a name that is looked up in `PATH`.
    #[must_use]
    pub fn at(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Sets the time limits for reading the project (120 s by default) and for answering a question (60 s by default). For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_timeouts(mut self, start: Duration, request: Duration) -> Self {
        (self.start_timeout, self.request_timeout) = (start, request);
        self
    }

    /// Finds the program.
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

    /// The error if the server could not read the standard library because its dependencies are missing, told by the warning
    /// `unread`. Without the standard library, rust-analyzer resolves almost nothing.
    pub(super) fn lacks(&self, unread: &str) -> Option<Unavailable> {
        let is_it = self.language == Language::Rust && unread.contains("for sysroot");
        is_it.then(|| Unavailable::Incomplete {
            program: self.name.to_owned(),
            missing: "the packages that the standard library depends on".to_owned(),
            remedy: "run `RUSTC_BOOTSTRAP=1 cargo fetch --manifest-path $(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.toml`"
                .to_owned(),
        })
    }

    /// Checks that a server is complete, and returns its invocation with the toolchain set.
    ///
    /// The program in `PATH` may be rustup's proxy for a component that is not installed. And without the source of the standard
    /// library, the server cannot expand that library's macros, such as `assert_eq!`.
    pub(super) async fn checked(&self, mut server: Invocation) -> Result<Invocation, Unavailable> {
        if self.language != Language::Rust {
            return Ok(server);
        }
        if let Some(toolchain) = self.toolchain(&server).await? {
            server.environment = server.environment.set(TOOLCHAIN, toolchain);
        }
        if self.output_of(&server, &server.program, &["--version"]).await?.is_none() {
            return Err(self.not_installed());
        }
        let sysroot = self.output_of(&server, Path::new("rustc"), &["--print", "sysroot"]).await?.unwrap_or_default();
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

    /// The toolchain that rustup chooses in the project, unless the environment names one: a file of the project may name an
    /// installed toolchain. A toolchain named by a path may be an agent's, and is refused.
    async fn toolchain(&self, server: &Invocation) -> Result<Option<String>, Unavailable> {
        if server.environment.get(TOOLCHAIN).is_some() {
            return Ok(None);
        }
        let Some(rustup) = server.environment.find("rustup") else { return Ok(None) };
        let said = self.output_of(server, &rustup, &["show", "active-toolchain"]).await?;
        let toolchain = said.as_deref().and_then(|said| said.split_whitespace().next());
        let toolchain = toolchain.ok_or_else(|| self.not_installed())?;
        if toolchain.contains(['/', '\\']) {
            let reason =
                format!("a toolchain by its path, {toolchain}, is not run: name a channel in `rust-toolchain.toml`");
            return Err(self.not_started(reason));
        }
        Ok(Some(toolchain.to_owned()))
    }

    /// The output of a program that runs in the server's directory and sandbox; `None` if the program does not start, or fails.
    async fn output_of(
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
