//! What the handlers work with: the user's repository and the toolchain, and the checks that several of them make.

use crate::language::Language;
use crate::paths::{PathViolation, Role, Territory, defines_the_build, steering_paths, violations};
use crate::prompts::GroundRules;
use crate::resolved::{ProjectAt, ResolvedCalls, Resolver};
use crate::spec::Task;
use crate::types::{CratePath, FunctionSpec, HybridFailure, MayBeBlocked, PropertyWritten, StackSpec};
use crate::verdicts::{VerifiedClaims, verify_told_claims};
use askama::Template;
use interlocking::code_intelligence::{CodeError, Symbol, SymbolKind, Unavailable, is_python_stub};
use interlocking::prelude::RunId;
use interlocking::rust_source::{
    PublicFunction, RefusedConstruct, Side, SourceError, Sources, StubMarkers, TestFile, UnreadableMarker, build_time,
    library_name, manifest_changes, public_functions, refused_constructs, unseen_functions,
};
use interlocking::toolchain::{
    BuildOutcome, Checkout, KnownTests, NoBaseline, RunError, Runner, TestRun, Toolchain, TrialError,
};
use interlocking::workspaces::{self, FreshCheckout, GitWorkspaces, GitWorkspacesError};
use interlocking::worktree::{CommitId, GitError, PathError, Repository, RepositoryPath};
use std::path::Path;

/// What the handlers of one run have in common.
#[derive(Debug)]
pub struct Workbench {
    /// The user's repository: to read what was committed.
    repository: Repository,
    /// Where the run works, and what it lands on.
    run: RunPlaces,
    /// Builds and tests checkouts.
    runner: Runner,
    markers: StubMarkers,
    /// Tells what the text of tests does not.
    resolver: Resolver,
    resolves_conflicts: bool,
    mechanical_mutants: usize,
}

/// Where a run works, and what it lands on.
#[derive(Debug)]
pub struct RunPlaces {
    /// The run.
    pub run: RunId,
    /// Its workspaces.
    pub workspaces: GitWorkspaces,
    /// Where the branch was when the run started.
    pub base: CommitId,
}

/// What keeps a handler from doing its work: not the protocol's business, but the operator's.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A worktree, or a file in it.
    #[error(transparent)]
    Workspaces(#[from] GitWorkspacesError),
    /// The repository.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A path is none of a repository's.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A command could not be run at all.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file is no text.
    #[error("{path} is not UTF-8: {reason}")]
    NotText {
        /// The file.
        path: CratePath,
        /// Where it is not.
        reason: std::str::Utf8Error,
    },
    /// The project's files cannot be copied for the language server.
    #[error("the project's files cannot be copied for the language server: {0}")]
    Copy(std::io::Error),
    /// The merged tests do not pass as they are, although they have.
    #[error(transparent)]
    NoBaseline(#[from] NoBaseline),
    /// A mutant could not be tried.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The language server cannot be told of them.
    #[error(transparent)]
    Code(CodeError),
    /// There is no language server, and nothing else reads the files.
    #[error("nothing tells what is in the files: {0}")]
    NoServer(Unavailable),
    /// Git work was stopped, because the program ends.
    #[error("git work was stopped before it was done")]
    Stopped,
    /// The state that an earlier node should have left is not there.
    #[error("the run's memory lacks {what}, which an earlier node should have left there")]
    Missing {
        /// What is missing.
        what: &'static str,
    },
}

impl Workbench {
    /// A workbench for one run.
    ///
    /// # Errors
    ///
    /// [`UnreadableMarker`] where a configured stub marker is no Rust expression.
    pub fn new(repository: Repository, run: RunPlaces, runner: Runner, task: &Task) -> Result<Self, UnreadableMarker> {
        let markers = runner.toolchain().source.markers()?;
        let resolver = Resolver::new(task.language_server.clone(), run.workspaces.checkouts_of(&run.run));
        let (resolves_conflicts, mechanical_mutants) = (task.resolve_conflicts, task.mechanical_mutants);
        Ok(Self { repository, run, runner, markers, resolver, resolves_conflicts, mechanical_mutants })
    }

    /// Whether an agent is to resolve conflicts of the merge.
    pub fn resolves_conflicts(&self) -> bool {
        self.resolves_conflicts
    }

    /// How many mutants of our own making are tried.
    pub fn mechanical_mutants(&self) -> usize {
        self.mechanical_mutants
    }

    /// Who builds and tests checkouts.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    /// Advances the branch to a commit, from where the run began.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where it has moved meanwhile, or somebody's changes are in the way.
    pub async fn land(&self, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let RunPlaces { run, workspaces, base } = &self.run;
        workspaces.land_from(run, *base, commit).await
    }

    /// Builds a checkout.
    ///
    /// # Errors
    ///
    /// [`RunError`] where no build could be run at all.
    pub async fn build(&self, checked_out: &FreshCheckout) -> Result<BuildOutcome, RunError> {
        self.runner.build(&Checkout::at(checked_out.path())).await
    }

    /// Runs the tests of a checkout, of which these are known by name.
    ///
    /// # Errors
    ///
    /// [`RunError`] where no test could be run at all.
    pub async fn test(&self, checked_out: &FreshCheckout, known: KnownTests<'_>) -> Result<TestRun, RunError> {
        self.runner.test(&Checkout::at(checked_out.path()), known).await
    }

    /// How the project is built and tested.
    pub fn toolchain(&self) -> &Toolchain {
        self.runner.toolchain()
    }

    /// What every agent is told about its work.
    pub fn ground_rules(&self) -> Option<String> {
        // Two commands in a text: rendering it cannot fail.
        GroundRules::new(self.toolchain()).render().ok()
    }

    /// What an agent did that its role does not allow: it says that it is blocked, or it changed files that are not its
    /// own (HY-34, HY-98, HY-191), those included that git was told to ignore and that would steer a build.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the worktree cannot be read.
    pub async fn misconduct(
        &self,
        node: &str,
        role: Role,
        worktree: &workspaces::Checkout<'_>,
        output: &impl MayBeBlocked,
        spec: &StackSpec,
    ) -> Result<Option<HybridFailure>, WorkError> {
        if let Some(text) = output.blocked_by() {
            return Ok(Some(HybridFailure::AgentBlocked { node: node.to_owned(), text: text.to_owned() }));
        }
        let since = worktree.head();
        let changes = worktree.diff_since(since).await?;
        let touched: Vec<_> =
            changes.iter().flat_map(|change| change.touched().map(|path| path.to_text().into_owned())).collect();
        let mut violations = violations(role, touched.iter().map(String::as_str), spec);
        // What git does not show is in no commit, and nothing is built with it. It is said all the same.
        for path in steering_paths(spec) {
            let is_unseen = worktree.path().join(&path).symlink_metadata().is_ok()
                && !touched.contains(&path)
                && self.file_at(since, &path).await?.is_none();
            if is_unseen {
                violations.push(PathViolation { role, path, territory: Territory::BuildDefinition });
            }
        }
        Ok((!violations.is_empty()).then_some(HybridFailure::BarrierBroken { violations }))
    }

    /// What a checkout contains, of what agents of this run wrote on that side, that its tests could not be believed with.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where it cannot be read; the inner error where a file is not Rust, and so was not looked through: it is to be
    /// taken for one that does not build.
    pub async fn refused(
        &self,
        checked_out: &FreshCheckout,
        side: Side,
        spec: &StackSpec,
    ) -> Result<Result<Vec<RefusedConstruct>, SourceError>, WorkError> {
        let changed = self.changed(self.run.base, checked_out.commit()).await?;
        let allowed = &self.toolchain().source.allow;
        let mut refused = Vec::new();
        let script = self.build_time(&changed, spec).await?;
        for path in &changed {
            let territory = Territory::of(path, spec);
            if (territory == Territory::Tests) != (side == Side::Tests) {
                continue;
            }
            let mut refuse = |construct: &str, reason: &str| {
                let (construct, reason) = (construct.to_owned(), reason.to_owned());
                if !allowed.contains(&construct) {
                    refused.push(RefusedConstruct { path: path.clone(), line: 1, column: 1, construct, reason });
                }
            };
            let Ok(inside) = CratePath::new(path.clone()) else {
                refuse(path, "it is no path inside the crate");
                continue;
            };
            if script.as_ref().is_some_and(|script| script == path) {
                refuse("build script", "it runs while the package is built; a person has to change it");
            }
            let text = match read(checked_out, &inside).await {
                Ok(Some(text)) => text,
                // Deleted.
                Ok(None) => continue,
                // No text, but no link either, by which other files would be code.
                Err(_) if is_regular(&inside.below(checked_out.path())) && !is_source(path) => continue,
                Err(error) => {
                    refuse(path, &error.to_string());
                    continue;
                }
            };
            if path.ends_with("Cargo.toml") {
                let before = self.file_at(self.run.base, path).await?;
                let before = before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                refused.extend(manifest_changes(path, before.as_deref(), &text, allowed));
            } else if territory == Territory::BuildDefinition
                || defines_the_build(&inside) && !path.ends_with("Cargo.lock")
            {
                refuse(path, "it decides how everything is built; a person has to change it");
            } else if path.ends_with(".rs") {
                match refused_constructs(path, &text, side, allowed) {
                    Ok(found) => refused.extend(found),
                    Err(error) => return Ok(Err(error)),
                }
            }
        }
        Ok(Ok(refused))
    }

    /// The build script of the package that is worked on, as the run found it. One of procedural macros has all of its code for one.
    async fn build_time(&self, changed: &[String], spec: &StackSpec) -> Result<Option<String>, WorkError> {
        for directory in Path::new(spec.impl_path.as_str()).ancestors().skip(1) {
            let manifest = directory.join("Cargo.toml");
            let Some(bytes) = self.file_at(self.run.base, &manifest.to_string_lossy()).await? else { continue };
            let found = build_time(&String::from_utf8_lossy(&bytes));
            let own = |path: &&String| Path::new(path.as_str()).starts_with(directory) && path.ends_with(".rs");
            if found.is_procedural {
                return Ok(changed
                    .iter()
                    .find(|path| own(path) && Territory::of(path, spec) != Territory::Tests)
                    .cloned());
            }
            return Ok(found.script.map(|script| directory.join(script).to_string_lossy().into_owned()));
        }
        Ok(None)
    }

    /// The public functions of the implementation file that an agent has written in a worktree.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the file cannot be read; the inner error where it is not Rust.
    pub async fn functions(
        &self,
        worktree: &workspaces::Checkout<'_>,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, WorkError> {
        if Language::of_task(spec) == Language::Python {
            return Ok(Ok(self.told_functions(&worktree.examine().await?, spec).await?));
        }
        let bytes = worktree.read_file(&repository_path(&spec.impl_path)?, LONGEST).await?;
        let text = bytes.map(|bytes| text(&spec.impl_path, bytes)).transpose()?.unwrap_or_default();
        Ok(public_functions(spec.impl_path.as_str(), &text, &self.markers))
    }

    /// The public functions of the implementation file in a checkout.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the file cannot be read; the inner error where it is not Rust.
    pub async fn functions_in(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, WorkError> {
        if Language::of_task(spec) == Language::Python {
            return Ok(Ok(self.told_functions(checked_out, spec).await?));
        }
        let text = read(checked_out, &spec.impl_path).await?.unwrap_or_default();
        Ok(public_functions(spec.impl_path.as_str(), &text, &self.markers))
    }

    /// What of the implementation file in a checkout can make functions out of sight.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the file cannot be read; the inner error where it is not Rust.
    pub async fn unseen_in(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Result<Vec<RefusedConstruct>, SourceError>, WorkError> {
        if Language::of_task(spec) == Language::Python {
            return Ok(Ok(Vec::new()));
        }
        let text = read(checked_out, &spec.impl_path).await?.unwrap_or_default();
        Ok(unseen_functions(spec.impl_path.as_str(), &text, &self.markers, &self.toolchain().source.allow))
    }

    /// The properties of the test file in a checkout, and what of the implementation they call.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where a file cannot be read; the inner error where it is not Rust.
    pub async fn test_file(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Result<TestFile, SourceError>, WorkError> {
        if Language::of_task(spec) == Language::Python {
            return Ok(Ok(TestFile::default()));
        }
        let implementation = read(checked_out, &spec.impl_path).await?.unwrap_or_default();
        let tests = read(checked_out, &spec.test_path).await?.unwrap_or_default();
        Ok(TestFile::read(Sources {
            library: &self.library_at(checked_out.commit(), spec).await?,
            implementation: (spec.impl_path.as_str(), &implementation),
            tests: (spec.test_path.as_str(), &tests),
            prefix: &self.toolchain().source.property_prefix,
        }))
    }

    /// What the properties in a checkout call, by a language server.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the files cannot be read or copied.
    pub async fn resolve(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        properties: &TestFile,
    ) -> Result<ResolvedCalls, WorkError> {
        let project = self.project_at(checked_out.commit(), spec).await?;
        Ok(project.resolve(spec, properties).await)
    }

    /// The project's files as a commit has them, and who looks at them: a language server, started once a run, or the syntax alone.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the files cannot be copied.
    pub async fn project_at(&self, commit: CommitId, spec: &StackSpec) -> Result<ProjectAt<'_>, WorkError> {
        let library = self.library_at(commit, spec).await?;
        self.resolver.at(&self.repository, commit, (spec, &library)).await
    }

    /// The functions that mutants of a commit may change, private ones too, and who has told them (HY-164).
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the files cannot be copied.
    pub async fn mutation_targets(
        &self,
        commit: CommitId,
        spec: &StackSpec,
    ) -> Result<(Vec<String>, String), WorkError> {
        Ok(self.project_at(commit, spec).await?.functions(spec).await)
    }

    /// The paths in which a commit differs from where the run began.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the repository cannot be read.
    pub async fn changed_since_the_start(&self, commit: CommitId) -> Result<Vec<String>, WorkError> {
        self.changed(self.run.base, commit).await
    }

    /// The public functions of an implementation file that only a language server reads: those without an underscore before their names.
    async fn told_functions(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Vec<PublicFunction>, WorkError> {
        let text = read(checked_out, &spec.impl_path).await?.unwrap_or_default();
        let symbols = self.project_at(checked_out.commit(), spec).await?.symbols(spec).await?;
        let markers = &self.toolchain().source.stub_markers;
        let is_inside_another = |symbol: &Symbol| {
            let around = symbol.name.rsplit_once('.').map(|(around, _)| around);
            around.is_some_and(|around| {
                symbols.iter().any(|other| other.kind == SymbolKind::Function && other.name == around)
            })
        };
        let functions = symbols.iter().filter(|symbol| {
            let is_public = symbol.name.split('.').all(|part| !part.starts_with('_'));
            symbol.kind == SymbolKind::Function && is_public && !is_inside_another(symbol)
        });
        let function = |symbol: &Symbol| PublicFunction {
            name: symbol.name.clone(),
            line: symbol.position.line as usize,
            column: symbol.position.column as usize,
            is_stub: Some(is_python_stub(&text, symbol, markers)),
        };
        Ok(functions.map(function).collect())
    }

    /// The claims of the tests' agent, held against what a language server tells alone; none where the files are read as syntax.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where it cannot be asked.
    pub async fn told_claims(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        functions: &[FunctionSpec],
        claimed: &[PropertyWritten],
    ) -> Result<Option<VerifiedClaims>, WorkError> {
        if Language::of_task(spec) == Language::Rust {
            return Ok(None);
        }
        let names = claimed.iter().map(|property| property.name.as_str());
        let told = self.project_at(checked_out.commit(), spec).await?.told_properties(spec, names).await?;
        Ok(Some(verify_told_claims(functions, claimed, &told)))
    }

    /// The paths in which two commits differ; of a renamed file both.
    ///
    /// # Errors
    ///
    /// [`WorkError`] where the repository cannot be read.
    pub async fn changed(&self, from: CommitId, to: CommitId) -> Result<Vec<String>, WorkError> {
        let changes = self.in_repository(move |repository| Ok(repository.diff(from, to)?)).await?;
        Ok(changes.iter().flat_map(|change| change.touched().map(|path| path.to_text().into_owned())).collect())
    }

    /// The name that tests import the implementation of a commit by.
    async fn library_at(&self, commit: CommitId, spec: &StackSpec) -> Result<String, WorkError> {
        for directory in Path::new(spec.impl_path.as_str()).ancestors().skip(1) {
            let manifest = self.file_at(commit, &directory.join("Cargo.toml").to_string_lossy()).await?;
            if let Some(name) = manifest.and_then(|bytes| library_name(&String::from_utf8_lossy(&bytes))) {
                return Ok(name);
            }
        }
        Ok(spec.module_name.split("::").next().unwrap_or_default().to_owned())
    }

    /// A file of a commit; none if it is not there.
    pub(crate) async fn file_at(&self, commit: CommitId, path: &str) -> Result<Option<Vec<u8>>, WorkError> {
        let path: RepositoryPath = path.parse()?;
        self.in_repository(move |repository| Ok(repository.read_file(commit, &path)?)).await
    }

    /// What a repository does is synchronous: it is done where it may block.
    async fn in_repository<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Repository) -> Result<T, WorkError> + Send + 'static,
    ) -> Result<T, WorkError> {
        let repository = self.repository.clone();
        tokio::task::spawn_blocking(move || work(&repository)).await.unwrap_or(Err(WorkError::Stopped))
    }
}

/// Writes a file that is not there yet.
///
/// # Errors
///
/// [`WorkError`] where it cannot be written.
pub async fn write_if_absent(
    worktree: &mut workspaces::Checkout<'_>,
    path: &CratePath,
    text: &str,
) -> Result<(), WorkError> {
    let path = repository_path(path)?;
    if worktree.read_file(&path, LONGEST).await?.is_none() {
        worktree.write_file(&path, text).await?;
    }
    Ok(())
}

/// Puts the lock file that a build has left in a checkout into the worktree that it was made of. Whether it differs.
///
/// # Errors
///
/// [`WorkError`] where it cannot be read or written.
pub async fn take_over_lock(
    worktree: &mut workspaces::Checkout<'_>,
    checked_out: &FreshCheckout,
) -> Result<bool, WorkError> {
    let path = RepositoryPath::new("Cargo.lock")?;
    let (made, before) = (checked_out.read_file(&path, LONGEST).await?, worktree.read_file(&path, LONGEST).await?);
    match made {
        Some(made) if Some(&made) != before.as_ref() => {
            worktree.write_file(&path, made).await?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// How long a file may be, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Whether what stands there is read by the compiler or by cargo.
fn is_source(path: &str) -> bool {
    path.ends_with(".rs") || path.ends_with(".toml")
}

pub(crate) async fn read(checked_out: &FreshCheckout, path: &CratePath) -> Result<Option<String>, WorkError> {
    let bytes = checked_out.read_file(&repository_path(path)?, LONGEST).await?;
    bytes.map(|bytes| text(path, bytes)).transpose()
}

pub(crate) fn repository_path(path: &CratePath) -> Result<RepositoryPath, PathError> {
    RepositoryPath::new(path.as_str())
}

fn text(path: &CratePath, bytes: Vec<u8>) -> Result<String, WorkError> {
    String::from_utf8(bytes).map_err(|error| WorkError::NotText { path: path.clone(), reason: error.utf8_error() })
}
