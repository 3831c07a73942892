//! Which functions properties call where their text does not tell: a language server is asked, started once a run, when it is first
//! needed.

use crate::types::StackSpec;
use crate::workbench::WorkError;
use interlocking::code_intelligence::{
    CodeError, CodeIntelligence, Position, RustSyntax, ServerProgram, Symbol, start_or_syntax,
};
use interlocking::rust_source::{PropertyTest, TestFile, meant_among};
use interlocking::worktree::{CommitId, GitError, Repository, RepositoryPath};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::sync::Mutex;

/// What a language server has told of properties.
#[derive(Debug, Default)]
pub struct ResolvedCalls {
    /// Who has told it, with the reason where that is the syntax alone.
    pub provider: String,
    /// By property: the calls of the implementation's functions, each with the function.
    calls: BTreeMap<String, Vec<(Position, String)>>,
}

impl ResolvedCalls {
    /// Whether a property calls a function where the call is run as far as its text tells.
    pub fn has_live_call(&self, property: &PropertyTest, function: &str) -> bool {
        self.calls.get(&property.name).into_iter().flatten().any(|(at, called)| {
            let is_live = TestFile::has_live_call(property, at.line as usize, at.column as usize);
            is_live && meant_among([function].into_iter(), called).is_some()
        })
    }
}

/// The language server of one run.
#[derive(Debug)]
pub struct Resolver {
    server: PathBuf,
    project: Mutex<Option<Project>>,
}

/// A copy of the project's files that no agent is given, and who looks at it.
#[derive(Debug)]
struct Project {
    directory: TempDir,
    commit: CommitId,
    code: Box<dyn CodeIntelligence>,
}

impl Resolver {
    /// With this server, a path or a name that is looked for in `PATH`.
    pub fn new(server: PathBuf) -> Self {
        Self { server, project: Mutex::new(None) }
    }

    /// What the properties of a commit's test file call. Where the server cannot tell it of one, that has no calls here.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the project's files cannot be copied.
    pub async fn resolve(
        &self,
        repository: &Repository,
        commit: CommitId,
        (spec, library): (&StackSpec, &str),
        properties: &TestFile,
    ) -> Result<ResolvedCalls, WorkError> {
        let mut project = self.project.lock().await;
        let project = match &mut *project {
            Some(project) => {
                project.advance(repository, commit).await?;
                project
            }
            empty => {
                let directory = tempfile::tempdir().map_err(WorkError::Copy)?;
                copy(repository, directory.path(), repository.files(commit)?, commit).await?;
                let syntax = RustSyntax::new(directory.path(), library, spec.impl_path.as_str());
                let program = ServerProgram::rust_analyzer().at(&self.server);
                let code = start_or_syntax(program, directory.path(), syntax).await;
                empty.insert(Project { directory, commit, code })
            }
        };
        let (tests, implementation) = (Path::new(spec.test_path.as_str()), Path::new(spec.impl_path.as_str()));
        let provider = project.code.provider().to_string();
        match project.calls(tests, implementation, properties).await {
            Ok(calls) => Ok(ResolvedCalls { provider, calls }),
            Err(error) => Ok(ResolvedCalls { provider: format!("{provider}, but {error}"), calls: BTreeMap::new() }),
        }
    }
}

impl Project {
    /// Has the files of another commit.
    async fn advance(&mut self, repository: &Repository, to: CommitId) -> Result<(), WorkError> {
        let changes = repository.diff(self.commit, to)?;
        let paths: BTreeSet<RepositoryPath> = changes.iter().flat_map(|it| it.touched().cloned()).collect();
        let paths: Vec<_> = paths.into_iter().collect();
        let files: Vec<PathBuf> = paths.iter().map(RepositoryPath::to_path).collect();
        copy(repository, self.directory.path(), paths, to).await?;
        self.commit = to;
        // A server that was not told would answer by the files of the commit before.
        self.code.files_changed(&files).await.map_err(WorkError::Code)
    }

    async fn calls(
        &self,
        tests: &Path,
        implementation: &Path,
        properties: &TestFile,
    ) -> Result<BTreeMap<String, Vec<(Position, String)>>, CodeError> {
        let defined = self.code.document_symbols(implementation).await?;
        let symbols = self.code.document_symbols(tests).await?;
        let mut calls = BTreeMap::new();
        for property in &properties.tests {
            let is_it = |symbol: &&Symbol| symbol.position.line as usize == property.line;
            let Some(symbol) = symbols.iter().find(is_it) else { continue };
            let outgoing = self.code.outgoing_calls(tests, symbol).await?.calls;
            let own = outgoing.iter().filter(|call| call.file == implementation);
            let named = own.filter_map(|call| {
                let symbol = defined.iter().find(|symbol| symbol.position == call.definition)?;
                Some((call.at, symbol.name.clone()))
            });
            calls.insert(property.name.clone(), named.collect());
        }
        Ok(calls)
    }
}

/// Writes files as a commit has them; what it has not is taken away.
async fn copy(
    repository: &Repository,
    directory: &Path,
    files: Vec<RepositoryPath>,
    commit: CommitId,
) -> Result<(), WorkError> {
    let (repository, directory) = (repository.clone(), directory.to_owned());
    let copied = tokio::task::spawn_blocking(move || -> Result<(), WorkError> {
        for path in files {
            let place = directory.join(path.to_path());
            let text: Result<_, GitError> = repository.read_file(commit, &path);
            let written = match text? {
                Some(bytes) => {
                    place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&place, bytes))
                }
                None => fs::remove_file(&place).or_else(|error| match error.kind() {
                    io::ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                }),
            };
            written.map_err(WorkError::Copy)?;
        }
        Ok(())
    });
    copied.await.unwrap_or(Err(WorkError::Stopped))
}
