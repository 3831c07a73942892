//! Facts about a commit's code, whatever an agent says: from a language server, started once a run, when it is first needed.

#[cfg(test)]
mod tests;

use crate::language::{Language, NO_SERVER};
use crate::types::StackSpec;
use crate::verdicts::ServerAnswers;
use interlocking::code_intelligence::{
    CodeError, CodeIntelligence, LanguageServer, Position, Provider, RustSyntax, Symbol, SymbolKind, Unavailable,
    start_or_syntax,
};
use interlocking::prelude::NodeError;
use interlocking::rust_source::{PropertyTest, TestFile, resolve_name};
use interlocking::worktree::{CommitId, Repository, RepositoryPath};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout;

/// A language server's answers about properties.
#[derive(Debug, Default)]
pub struct ResolvedCalls {
    /// The source of the answers, with the reason if that is the syntax alone.
    pub provider: String,
    /// By property: the calls of the implementation's functions, each with the function.
    calls: BTreeMap<String, Vec<(Position, String)>>,
}

impl ResolvedCalls {
    /// Whether a property contains a call of a function that runs, as far as its text shows.
    pub fn has_live_call(&self, property: &PropertyTest, function: &str) -> bool {
        self.calls.get(&property.name).into_iter().flatten().any(|(at, called)| {
            let is_live = TestFile::has_live_call(property, at.line as usize, at.column as usize);
            is_live && resolve_name([function].into_iter(), called).is_some()
        })
    }
}

/// The language server of one run.
#[derive(Debug)]
pub struct Resolver {
    server: PathBuf,
    copies: PathBuf,
    time_limit: Duration,
    project: Mutex<Option<Project>>,
}

/// The time limit of a server for one question about a commit, which can be thousands of requests: an agent decides how many calls
/// it writes. An honest question takes seconds.
const TIME_LIMIT: Duration = Duration::from_secs(300);

impl Resolver {
    /// A resolver with this server, a path or a name that is looked for in `PATH`. The copy of the project's files is in
    /// `copies`, which is removed with the run.
    pub fn new(server: PathBuf, copies: PathBuf) -> Self {
        Self { server, copies, time_limit: TIME_LIMIT, project: Mutex::new(None) }
    }

    /// A commit's files. The next commit's files cannot be requested until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// If the project's files cannot be copied, or nothing reads them.
    pub async fn at<'a>(
        &'a self,
        repository: &'a Repository,
        commit: CommitId,
        (spec, library): (&'a StackSpec, String),
    ) -> Result<ProjectAt<'a>, NodeError> {
        let mut held = self.project.lock().await;
        // A project that does not come to the commit, because its server has ended or this future is dropped, is lost: its files
        // are then those of no commit.
        let before = match held.take() {
            Some(project) => project.advanced(repository, commit).await,
            None => None,
        };
        *held = before;
        let mut project = ProjectAt { resolver: self, held, repository, commit, spec, library };
        project.project().await?;
        Ok(project)
    }
}

/// The files of one commit, and their analyser. If the server cannot answer, the name of the answer's source says so.
///
/// A server that ends is started anew, once for each question. One that ends again, or takes too long, is given up: the syntax
/// answers in its place, or nothing does where there is none (HY-166).
pub struct ProjectAt<'a> {
    resolver: &'a Resolver,
    held: MutexGuard<'a, Option<Project>>,
    repository: &'a Repository,
    commit: CommitId,
    spec: &'a StackSpec,
    library: String,
}

/// The answer to a question, once it is there.
type Answer<'p, T> = Pin<Box<dyn Future<Output = Result<T, CodeError>> + Send + 'p>>;

impl ProjectAt<'_> {
    /// The functions and types of the implementation file, and the source of the answer.
    ///
    /// # Errors
    ///
    /// If nothing answers.
    pub async fn symbols(&mut self) -> Result<(Vec<Symbol>, String), NodeError> {
        let symbols = self.ask(|project| project.code.document_symbols(&project.implementation)).await?;
        Ok((symbols, self.provider()))
    }

    /// The functions of the implementation that these properties of the test file call. A property that the file lacks, or has
    /// more than once, is left out.
    ///
    /// # Errors
    ///
    /// If nothing answers.
    pub async fn server_answers(&mut self, properties: Vec<String>) -> Result<ServerAnswers, NodeError> {
        let properties = Arc::new(properties);
        let calls = self.ask(|project| Box::pin(project.called_by(properties.clone()))).await?;
        Ok(ServerAnswers { calls, by: self.provider() })
    }

    /// The calls of these properties of the test file. A property about which nothing is known has no calls here.
    pub async fn resolve(&mut self, properties: impl Iterator<Item = &PropertyTest>) -> ResolvedCalls {
        let properties: Arc<Vec<_>> = Arc::new(properties.map(|it| (it.name.clone(), it.line)).collect());
        let answer = self.ask(|project| Box::pin(project.calls(properties.clone()))).await;
        let (calls, provider) = self.with_provider(answer);
        ResolvedCalls { provider, calls }
    }

    /// The functions that the implementation file defines, private ones too.
    pub async fn functions(&mut self) -> (Vec<String>, String) {
        let answer = self.ask(|project| project.code.document_symbols(&project.implementation)).await;
        let (symbols, provider) = self.with_provider(answer);
        let functions = symbols.into_iter().filter(|symbol| symbol.kind == SymbolKind::Function);
        (functions.map(|symbol| symbol.name).collect(), provider)
    }

    /// What is known of the data types that the implementation file defines, one text each (HY-165).
    pub async fn constraints(&mut self) -> (Vec<String>, String) {
        let answer = self.ask(|project| Box::pin(project.constraints())).await;
        self.with_provider(answer)
    }

    /// The source of the answers.
    fn provider(&self) -> String {
        self.held.as_ref().map_or_else(|| "nothing".to_owned(), |project| project.code.provider().to_string())
    }

    fn with_provider<T: Default>(&self, answer: Result<T, NodeError>) -> (T, String) {
        match answer {
            Ok(answer) => (answer, self.provider()),
            Err(error) if error.is::<CodeError>() => (T::default(), format!("{}, but {error}", self.provider())),
            Err(error) => (T::default(), error.to_string()),
        }
    }

    async fn ask<T>(&mut self, question: impl for<'p> Fn(&'p Project) -> Answer<'p, T>) -> Result<T, NodeError> {
        let time_limit = self.resolver.time_limit;
        let mut is_started_anew = false;
        loop {
            let project = self.project().await?;
            let Provider::LanguageServer { .. } = project.code.provider() else {
                return Ok(question(project).await?);
            };
            let reason = match timeout(time_limit, question(project)).await {
                Ok(Err(CodeError::Ended { .. })) if !is_started_anew => {
                    is_started_anew = true;
                    *self.held = None;
                    continue;
                }
                Ok(Err(CodeError::Ended { reason, .. })) => format!("it has ended twice: {reason}"),
                Ok(answer) => return Ok(answer?),
                Err(_) => format!("it did not answer a question within {} s", time_limit.as_secs()),
            };
            self.give_up(reason)?;
        }
    }

    /// The project, which is made if there is none.
    async fn project(&mut self) -> Result<&Project, NodeError> {
        let project = match self.held.take() {
            Some(project) => project,
            None => self.made().await?,
        };
        Ok(self.held.insert(project))
    }

    async fn made(&self) -> Result<Project, NodeError> {
        let Resolver { server, copies, .. } = self.resolver;
        fs::create_dir_all(copies).map_err(not_copied)?;
        let directory = tempfile::tempdir_in(copies).map_err(not_copied)?;
        copy(self.repository, directory.path(), None, self.commit).await?;
        let language = Language::of_task(self.spec);
        let program = language.server(server);
        let code: Box<dyn CodeIntelligence> = match language {
            Language::Rust if server == Path::new(NO_SERVER) => Box::new(self.syntax(directory.path())),
            Language::Rust => start_or_syntax(program, directory.path(), self.syntax(directory.path())).await,
            Language::Python => {
                let started = LanguageServer::start(program, directory.path()).await;
                Box::new(started.map_err(not_analysed)?)
            }
        };
        let [tests, implementation] =
            [&self.spec.test_path, &self.spec.impl_path].map(|path| PathBuf::from(path.as_str()));
        Ok(Project { directory, commit: self.commit, code, tests, implementation })
    }

    fn syntax(&self, directory: &Path) -> RustSyntax {
        RustSyntax::new(directory, &self.library, self.spec.impl_path.as_str())
    }

    /// Replaces the server by the syntax. Where there is none, the run fails, or the next question starts a server again.
    fn give_up(&mut self, reason: String) -> Result<(), NodeError> {
        let because = Unavailable::GivenUp { program: self.provider(), reason };
        let Some(mut project) = self.held.take().filter(|_| Language::of_task(self.spec) == Language::Rust) else {
            return Err(not_analysed(because));
        };
        project.code = Box::new(self.syntax(project.directory.path()).instead_of_server(because));
        *self.held = Some(project);
        Ok(())
    }
}

/// A copy of the project's files that no agent has access to, and the server that analyses it.
#[derive(Debug)]
struct Project {
    directory: TempDir,
    /// The commit whose files they are, and of whose files the server was told.
    commit: CommitId,
    code: Box<dyn CodeIntelligence>,
    tests: PathBuf,
    implementation: PathBuf,
}

impl Project {
    /// The project with the files of another commit; `None` if it could not be brought there.
    async fn advanced(mut self, repository: &Repository, to: CommitId) -> Option<Self> {
        let files = copy(repository, self.directory.path(), Some(self.commit), to).await.ok()?;
        // Without this the server would answer with the files of the previous commit.
        self.code.files_changed(&files).await.ok()?;
        self.commit = to;
        Some(self)
    }

    async fn called_by(&self, properties: Arc<Vec<String>>) -> Result<BTreeMap<String, BTreeSet<String>>, CodeError> {
        let defined = self.code.document_symbols(&self.implementation).await?;
        let symbols = self.code.document_symbols(&self.tests).await?;
        let mut calls = BTreeMap::new();
        for property in properties.iter() {
            let is_it = |symbol: &&Symbol| symbol.name.rsplit('.').next() == Some(property);
            let mut found = symbols.iter().filter(is_it);
            let (Some(symbol), None) = (found.next(), found.next()) else { continue };
            let called = self.calls_of(symbol, &defined).await?;
            calls.insert(property.clone(), called.into_iter().map(|(_, name)| name).collect());
        }
        Ok(calls)
    }

    /// The calls of properties, each given with the line of its name.
    async fn calls(
        &self,
        properties: Arc<Vec<(String, usize)>>,
    ) -> Result<BTreeMap<String, Vec<(Position, String)>>, CodeError> {
        let defined = self.code.document_symbols(&self.implementation).await?;
        let symbols = self.code.document_symbols(&self.tests).await?;
        let mut calls = BTreeMap::new();
        for (name, line) in properties.iter() {
            let Some(symbol) = symbols.iter().find(|symbol| symbol.position.line as usize == *line) else { continue };
            calls.insert(name.clone(), self.calls_of(symbol, &defined).await?);
        }
        Ok(calls)
    }

    /// The calls of a test: of which of the functions that the implementation defines, and where.
    async fn calls_of(&self, test: &Symbol, defined: &[Symbol]) -> Result<Vec<(Position, String)>, CodeError> {
        let outgoing = self.code.outgoing_calls(&self.tests, test).await?.calls;
        let own = outgoing.iter().filter(|call| call.file == self.implementation);
        let named = own.filter_map(|call| {
            let symbol = defined.iter().find(|symbol| symbol.position == call.definition)?;
            Some((call.at, symbol.name.clone()))
        });
        Ok(named.collect())
    }

    async fn constraints(&self) -> Result<Vec<String>, CodeError> {
        let file = &self.implementation;
        let unreadable = |source| CodeError::Unreadable { file: file.clone(), source };
        let text = tokio::fs::read_to_string(self.directory.path().join(file)).await.map_err(unreadable)?;
        let lines: Vec<&str> = text.lines().collect();
        let mut constraints = Vec::new();
        for symbol in self.code.document_symbols(file).await?.iter().filter(|symbol| symbol.kind == SymbolKind::Type) {
            let known = self.code.hover(file, symbol.position).await?;
            // If nothing more is known, the declaration as it is written.
            let known = known.unwrap_or_else(|| declaration(&lines, symbol));
            constraints.push(known.trim().to_owned());
        }
        Ok(constraints)
    }
}

/// The lines of a symbol.
fn declaration(lines: &[&str], symbol: &Symbol) -> String {
    let (first, last) = (*symbol.lines.start() as usize, *symbol.lines.end() as usize);
    let own = lines.get(first.saturating_sub(1)..last.min(lines.len())).unwrap_or_default();
    format!("```rust\n{}\n```", own.join("\n"))
}

/// Writes the files of a commit into a directory that has those of another commit, or is empty. Files that the commit lacks are
/// removed. Gives the paths of the files that were written or removed.
async fn copy(
    repository: &Repository,
    directory: &Path,
    since: Option<CommitId>,
    commit: CommitId,
) -> Result<Vec<PathBuf>, NodeError> {
    let (repository, directory) = (repository.clone(), directory.to_owned());
    let copied = tokio::task::spawn_blocking(move || -> Result<Vec<PathBuf>, NodeError> {
        let paths: BTreeSet<RepositoryPath> = match since {
            None => repository.files(commit)?.into_iter().collect(),
            Some(since) => repository.diff(since, commit)?.iter().flat_map(|it| it.touched().cloned()).collect(),
        };
        for path in &paths {
            let place = directory.join(path.to_path());
            let written = match repository.read_file(commit, path)? {
                Some(bytes) => {
                    place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&place, bytes))
                }
                None => fs::remove_file(&place).or_else(|error| match error.kind() {
                    io::ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                }),
            };
            written.map_err(not_copied)?;
        }
        Ok(paths.iter().map(RepositoryPath::to_path).collect())
    });
    copied.await?
}

fn not_copied(error: io::Error) -> NodeError {
    format!("the project's files cannot be copied for the language server: {error}").into()
}

fn not_analysed(because: Unavailable) -> NodeError {
    format!("the files cannot be analysed: {because}").into()
}
