//! A real language server.

mod messages;
mod program;
mod connection;
mod documents;
mod symbols;
mod calls;

pub use program::ServerProgram;

use self::connection::{Connection, LONGEST_MESSAGE, Readiness};
use self::documents::Documents;
use self::messages::{DocumentSymbol, Hover, Initialized};
use self::program::Language;
use crate::aside::aside;
use crate::error::{CodeError, Unavailable};
use crate::intelligence::{CodeIntelligence, OutgoingCalls, Position, Provider, Symbol};
use crate::project_file::plain;
use async_trait::async_trait;
use interlocking_agents::program::{Environment, Invocation};
use interlocking_sandbox::{Network, Sandbox};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;

/// A language server that has read a project. When this is dropped, the server ends with every process that it started,
/// and then its temporary directory is removed.
#[derive(Debug)]
pub struct LanguageServer {
    provider: Provider,
    language: Language,
    connection: Connection,
    documents: Mutex<Documents>,
}

impl LanguageServer {
    /// Starts a server in a sandbox for the project in the directory `root`, and waits until it has read the project. Does not
    /// start a server that this system cannot confine.
    ///
    /// # Errors
    ///
    /// [`Unavailable`]: no server runs then.
    pub async fn start(program: ServerProgram, root: impl AsRef<Path>) -> Result<Self, Unavailable> {
        let not_started = |reason: String| program.not_started(reason);
        let root = root.as_ref().canonicalize().map_err(|error| not_started(error.to_string()))?;
        let temporary = tempfile::tempdir().map_err(|error| not_started(error.to_string()))?;
        let environment = environment();
        let found = program.find(&environment)?;
        let sandbox = Sandbox::for_reading(&root)
            .temporary_directory(temporary.path())
            .tool_chain_of(&found)
            .tool_chain_of("node")
            .cargo()
            .git()
            .inotify()
            .network(Network::Denied);
        let invocation = Invocation {
            arguments: program.arguments.clone(),
            directory: Some(root.clone()),
            sandbox: Some(Arc::new(sandbox)),
            stays_open: true,
            longest_line: LONGEST_MESSAGE,
            ..Invocation::new(found, environment)
        };
        let invocation = program.checked(invocation).await?;
        let running = invocation.start().await.map_err(|error| not_started(error.to_string()))?;
        let connection = Connection::new(program.name.to_owned(), program.request_timeout, running, temporary);
        let started = tokio::time::timeout(program.start_timeout, initialize(&connection, &program, &root)).await;
        let (initialized, unread) = match started {
            Ok(initialized) => initialized.map_err(|error| not_started(error.to_string()))?,
            Err(_) => {
                let seconds = program.start_timeout.as_secs();
                return Err(not_started(format!("it had not read {} within {seconds} s", root.display())));
            }
        };
        if let Some(incomplete) = unread.and_then(|unread| program.lacks(&unread)) {
            return Err(incomplete);
        }
        let (name, version) =
            initialized.server_info.map_or_else(|| (program.name.to_owned(), None), |info| (info.name, info.version));
        let is_utf8 = initialized.capabilities.position_encoding.as_deref() == Some("utf-8");
        Ok(Self {
            provider: Provider::LanguageServer { name, version },
            language: program.language,
            connection,
            documents: Mutex::new(Documents::new(root, program.language, is_utf8)),
        })
    }

    async fn ask<T: DeserializeOwned>(&self, method: &'static str, params: Value) -> Result<T, CodeError> {
        let result = self.connection.request(method, params).await?;
        serde_json::from_value(result).map_err(|error| CodeError::Malformed {
            program: self.connection.program().to_owned(),
            method,
            reason: error.to_string(),
        })
    }

    /// Gives the server the current text of a file, and returns that text.
    async fn open(&self, file: &Path) -> Result<Arc<str>, CodeError> {
        // The server is told while the lock is held: so it knows the text before anyone asks, and versions come in their order.
        let mut documents = self.documents.lock().await;
        let (text, told) = documents.open(file)?;
        if let Some((method, params)) = told {
            self.connection.notify(method, params)?;
        }
        Ok(text)
    }

    /// The symbols of a file with this text.
    async fn symbols_of(&self, file: &Path, text: &Arc<str>) -> Result<Arc<[Symbol]>, CodeError> {
        let mut documents = self.documents.lock().await;
        if let Some(symbols) = documents.findings(file, text).and_then(|found| found.symbols.clone()) {
            return Ok(symbols);
        }
        let uri = documents.uri(file)?;
        drop(documents);
        let params = json!({ "textDocument": { "uri": uri } });
        let symbols: Option<Vec<DocumentSymbol>> = self.ask("textDocument/documentSymbol", params).await?;
        let documents = self.documents.lock().await;
        let mut found = symbols::listed(&symbols.unwrap_or_default(), self.language, text, &documents);
        drop(documents);
        if self.language == Language::Rust {
            let (file, text) = (file.to_owned(), text.clone());
            found = aside(move || symbols::with_those_made_by_macros(found, &file, &text)).await?;
        }
        let found: Arc<[Symbol]> = found.into();
        if let Some(findings) = self.documents.lock().await.findings(file, text) {
            findings.symbols = Some(found.clone());
        }
        Ok(found)
    }
}

#[async_trait]
impl CodeIntelligence for LanguageServer {
    fn provider(&self) -> &Provider {
        &self.provider
    }

    async fn document_symbols(&self, file: &Path) -> Result<Vec<Symbol>, CodeError> {
        let file = &plain(file);
        let text = self.open(file).await?;
        Ok(self.symbols_of(file, &text).await?.to_vec())
    }

    async fn outgoing_calls(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        self.calls_of(&plain(file), function).await
    }

    async fn hover(&self, file: &Path, position: Position) -> Result<Option<String>, CodeError> {
        let file = &plain(file);
        let text = self.open(file).await?;
        let line = documents::line(&text, position.line);
        let at = self.documents.lock().await.place(file, line, position)?;
        let hover: Option<Hover> = self.ask("textDocument/hover", at).await?;
        Ok(hover.map(|hover| hover.contents.into_text()))
    }

    async fn files_changed(&self, files: &[PathBuf]) -> Result<(), CodeError> {
        for file in files {
            let mut documents = self.documents.lock().await;
            let told = documents.changed(&plain(file))?;
            for (method, params) in told {
                self.connection.notify(method, params)?;
            }
        }
        Ok(())
    }
}

/// The environment of a server: the variables that its tools need, and no secret of the caller. Cargo may not use the network,
/// and uses neither the user's compiler wrapper nor a compiler that the project's settings name.
fn environment() -> Environment {
    let passed = ["PATH", "HOME", "LANG", "LC_ALL", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    let passed = passed.into_iter().fold(Environment::empty(), Environment::inherit);
    // By its path, as cargo's settings can also set `PATH` for the compiler.
    let compiler = passed.find("rustc").unwrap_or_else(|| "rustc".into());
    passed
        .set("CARGO_NET_OFFLINE", "true")
        .set("CARGO_TERM_COLOR", "never")
        .set("RUSTC", compiler)
        // For cargo, an empty variable means no wrapper, whatever a configuration file names. Cargo then does not cache what it
        // queries from the compiler. That matters for repeated builds (`interlocking-toolchain` sets a wrapper), but not for a
        // server that reads a project once.
        .set("RUSTC_WRAPPER", "")
        .set("RUSTC_WORKSPACE_WRAPPER", "")
}

/// Initializes a server and waits until it has read the project. Returns the server's information, and its warning about what it
/// could not read.
async fn initialize(
    connection: &Connection,
    program: &ServerProgram,
    root: &Path,
) -> Result<(Initialized, Option<String>), CodeError> {
    let uri = documents::uri_of(root);
    let params = json!({
        // A server that knows its parent's id checks whether the parent is alive. The sandbox hides the parent, so the server
        // would end.
        "processId": null,
        "rootUri": uri,
        "workspaceFolders": [{ "uri": uri, "name": "project" }],
        "initializationOptions": program.options,
        "capabilities": {
            "general": { "positionEncodings": ["utf-8", "utf-16"] },
            "textDocument": {
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                "callHierarchy": {},
                "definition": { "linkSupport": false },
                "hover": { "contentFormat": ["plaintext"] },
            },
            "workspace": { "configuration": true, "didChangeWatchedFiles": { "dynamicRegistration": true } },
            "window": { "workDoneProgress": true },
            "experimental": { "serverStatusNotification": true },
        },
    });
    let initialized = connection.request("initialize", params).await?;
    connection.notify("initialized", json!({}))?;
    let readiness = if program.says_when_ready { connection.readiness().await? } else { Readiness::Ready(None) };
    let unread = match readiness {
        Readiness::Broken(message) => {
            return Err(CodeError::Refused { program: program.name.to_owned(), method: "initialized", message });
        }
        Readiness::Ready(unread) => unread,
        Readiness::Busy => None,
    };
    let initialized = serde_json::from_value(initialized).map_err(|error| CodeError::Malformed {
        program: program.name.to_owned(),
        method: "initialize",
        reason: error.to_string(),
    })?;
    Ok((initialized, unread))
}
