//! A real language server.

mod messages;
mod program;
mod connection;
mod documents;
mod symbols;

pub use program::ServerProgram;

use self::connection::{Connection, LONGEST_MESSAGE, Readiness};
use self::documents::Documents;
use self::messages::{
    CallHierarchyItem, Definition, Definitions, DocumentSymbol, Hover, Initialized, OutgoingCall, WirePosition,
};
use self::program::Language;
use crate::error::{CodeError, Unavailable};
use crate::intelligence::{Call, CodeIntelligence, OutgoingCalls, Position, Provider, Symbol, SymbolKind};
use async_trait::async_trait;
use interlocking_agents::program::{Environment, Invocation};
use interlocking_rust_source::called_names;
use interlocking_sandbox::{Network, Sandbox};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::Mutex;

/// A language server that has read a project. When this is dropped, the server ends with every process that it started.
#[derive(Debug)]
pub struct LanguageServer {
    provider: Provider,
    language: Language,
    connection: Connection,
    documents: Mutex<Documents>,
    /// The server's temporary directory, removed with this value.
    _temporary: TempDir,
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
        let sandbox = Sandbox::for_place(&root)
            .temporary_directory(temporary.path())
            .tool_chain_of(&found)
            .tool_chain_of("node")
            .cargo()
            .git()
            .inotify()
            .accept_foreign_links()
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
        let connection = Connection::new(program.name.to_owned(), program.request_timeout, running);
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
            documents: Mutex::new(Documents::new(root, program.language_id, is_utf8)),
            _temporary: temporary,
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
        let (text, told) = self.documents.lock().await.open(file)?;
        if let Some((method, params)) = told {
            self.connection.notify(method, params)?;
        }
        Ok(text)
    }

    /// The protocol's parameters for a position in a file.
    async fn at(&self, file: &Path, position: Position) -> Result<Value, CodeError> {
        let text = self.open(file).await?;
        let documents = self.documents.lock().await;
        let WirePosition { line, character } = documents.to_wire(&text, position);
        let uri = documents.uri(file)?;
        Ok(json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } }))
    }

    /// The calls in a function's own body.
    async fn direct_calls(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        match self.language {
            // rust-analyzer's call hierarchy omits calls in the arguments of macros, such as `assert_eq!`.
            Language::Rust => self.calls_by_definition(file, function).await,
            Language::Python => self.calls_by_hierarchy(file, function).await,
        }
    }

    /// Finds the names that a Rust function calls by its syntax, also in the arguments of macros, and asks the server for the
    /// definition of each.
    async fn calls_by_definition(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        let text = self.open(file).await?;
        let mut found = OutgoingCalls::default();
        for called in called_names(&file.to_string_lossy(), &text)? {
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let at = Position { line: number(called.line), column: number(called.column) };
            if !function.lines.contains(&at.line) {
                continue;
            }
            let definitions = match self.ask("textDocument/definition", self.at(file, at).await?).await? {
                Definitions::Several(definitions) => definitions,
                Definitions::One(definition) => vec![definition],
                Definitions::None(()) => Vec::new(),
            };
            if definitions.is_empty() {
                found.unclear.push(format!("what `{}` is in line {} cannot be resolved", called.name, at.line));
            }
            for definition in definitions {
                let (uri, start) = match definition {
                    Definition::Link { target_uri, target_selection_range } => {
                        (target_uri, target_selection_range.start)
                    }
                    Definition::Location { uri, range } => (uri, range.start),
                };
                let (file, definition) = self.documents.lock().await.place_of(&uri, start);
                found.calls.push(Call { name: called.name.clone(), at, file, definition });
            }
        }
        Ok(found)
    }

    /// Asks the server for its call hierarchy.
    async fn calls_by_hierarchy(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        let at = self.at(file, function.position).await?;
        let items: Option<Vec<Value>> = self.ask("textDocument/prepareCallHierarchy", at).await?;
        let mut found = OutgoingCalls::default();
        for item in items.unwrap_or_default() {
            let item = json!({ "item": item });
            let calls: Option<Vec<OutgoingCall>> = self.ask("callHierarchy/outgoingCalls", item).await?;
            for OutgoingCall { to: CallHierarchyItem { name, uri, selection_range }, from_ranges } in
                calls.unwrap_or_default()
            {
                let documents = self.documents.lock().await;
                let (defined_in, definition) = documents.place_of(&uri, selection_range.start);
                for from in from_ranges {
                    let (_, at) = documents.place_of(&documents.uri(file)?, from.start);
                    found.calls.push(Call { name: name.clone(), at, file: defined_in.clone(), definition });
                }
            }
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
        let text = self.open(file).await?;
        let uri = self.documents.lock().await.uri(file)?;
        let params = json!({ "textDocument": { "uri": uri } });
        let symbols: Option<Vec<DocumentSymbol>> = self.ask("textDocument/documentSymbol", params).await?;
        let documents = self.documents.lock().await;
        let mut found = symbols::listed(&symbols.unwrap_or_default(), self.language, &text, &documents);
        if self.language == Language::Rust {
            symbols::add_made_by_macros(&mut found, file, &text)?;
        }
        Ok(found)
    }

    async fn outgoing_calls(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        let symbols = self.document_symbols(file).await?;
        let mut found = OutgoingCalls::default();
        let (mut open, mut seen) = (vec![function], BTreeSet::from([function.position]));
        while let Some(function) = open.pop() {
            let OutgoingCalls { calls, unclear } = self.direct_calls(file, function).await?;
            found.unclear.extend(unclear);
            for call in calls {
                if call.file == file {
                    // A call of a variable calls a closure, whose body is part of the function with the variable.
                    let Some(own) = symbols.iter().find(|it| it.position == call.definition) else { continue };
                    if own.kind == SymbolKind::Function && seen.insert(own.position) {
                        open.push(own);
                    }
                }
                found.calls.push(call);
            }
        }
        found.calls.sort_by_key(|call| call.at);
        Ok(found)
    }

    async fn hover(&self, file: &Path, position: Position) -> Result<Option<String>, CodeError> {
        let hover: Option<Hover> = self.ask("textDocument/hover", self.at(file, position).await?).await?;
        Ok(hover.map(|hover| hover.contents.into_text()))
    }

    async fn files_changed(&self, files: &[PathBuf]) -> Result<(), CodeError> {
        for file in files {
            let told = self.documents.lock().await.changed(file)?;
            for (method, params) in told {
                self.connection.notify(method, params)?;
            }
        }
        Ok(())
    }
}

/// The environment of a server: the variables that its tools need, and no secret of the caller. Cargo may not use the network,
/// and the user's compiler wrapper is not used.
fn environment() -> Environment {
    let passed = ["PATH", "HOME", "LANG", "LC_ALL", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    let passed = passed.into_iter().fold(Environment::empty(), Environment::inherit);
    passed
        .set("CARGO_NET_OFFLINE", "true")
        .set("CARGO_TERM_COLOR", "never")
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
