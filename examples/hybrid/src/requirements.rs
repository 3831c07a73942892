//! The requirements of a project, checked before agents are asked for anything: otherwise their work would be paid for without a
//! result.

use crate::language::Language;
use crate::paths::package_of;
use crate::spec::Task;
use crate::types::CratePath;
use interlocking::code_intelligence::{LanguageServer, Unavailable};
use interlocking::toolchain::{Checkout, CommandLine, Harness, KnownTests, NamedCommand, RunError, Runner, TestRun};
use interlocking::worktree::{CommitId, GitError, PathError, Repository, RepositoryPath};
use std::path::Path;
use toml::{Table, Value};

/// Libraries that generate inputs for properties: a project in Rust needs one of them among its dependencies.
const OF_RUST: [&str; 5] = ["proptest", "quickcheck", "bolero", "arbtest", "test-strategy"];

/// The test runner and the library for properties of a project in Python.
const OF_PYTHON: [&str; 2] = ["pytest", "hypothesis"];

/// A requirement that the project, or this machine, does not meet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmet {
    /// The implementation is in no package.
    #[error("there is no `{manifest}` for `{file}`: commit a package (`cargo init`), or correct `implPath`")]
    NoPackage {
        /// The implementation's file.
        file: CratePath,
        /// Where its package's manifest is looked for.
        manifest: String,
    },
    /// Cargo would not run the tests.
    #[error(
        "`{tests}` is not run by `cargo test`: write `testPath` as a file of `{expected}`, the tests of the package that `implPath` is in"
    )]
    TestsElsewhere {
        /// The tests' file.
        tests: CratePath,
        /// The directory where it belongs.
        expected: String,
    },
    /// There is no library for properties.
    #[error(
        "`{manifest}` has no library for properties among its dependencies ({}), and builds have no network: run `cargo add --dev proptest`, build once, and commit",
        OF_RUST.join(", ")
    )]
    NoPropertyLibrary {
        /// The package's manifest.
        manifest: String,
    },
    /// Rust's harness is configured for tests that are not Rust.
    #[error(
        "`{tests}` is not Rust, and `harness` is Rust's own: say in `toolchain` what runs the tests (`testCommand`) and how its output is read, such as `harness = {{ junit = {{ report = \"report.xml\" }} }}`"
    )]
    HarnessOfRust {
        /// The tests' file.
        tests: CratePath,
    },
    /// The implementation's file is in an unsupported language.
    #[error(
        "`{file}` is neither Rust nor Python, so its functions cannot be found; write `implPath` and `testPath` with `.rs` or `.py`"
    )]
    UnknownLanguage {
        /// The file.
        file: CratePath,
    },
    /// The two files are in different languages.
    #[error(
        "`{implementation}` and `{tests}` are in two languages; write `implPath` and `testPath` both with `.rs`, or both with `.py`"
    )]
    TwoLanguages {
        /// The implementation's file.
        implementation: CratePath,
        /// The tests' file.
        tests: CratePath,
    },
    /// There is no language server, and nothing else reads Python.
    #[error("{0}; then name the program in `languageServer` of `toolchain`, if it is not in `PATH`")]
    NoServer(Unavailable),
    /// Modules of Python are not installed, or cannot be reached from the sandbox.
    #[error(
        "{program} lacks some of {} where tests are run: run `{program} -m pip install {}`, and name in `readablePaths` the directory where they are installed, if it is not one of the system's: {said}",
        OF_PYTHON.join(" and "), OF_PYTHON.join(" ")
    )]
    NoPythonModules {
        /// The interpreter.
        program: String,
        /// What it said.
        said: String,
    },
}

/// The project cannot be examined.
#[derive(Debug, thiserror::Error)]
pub enum RequirementsError {
    /// Its files cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A path is not a valid path of a repository.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The command that shows what is installed cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// No directory can be made to run it in.
    #[error("a temporary directory cannot be made: {0}")]
    Directory(std::io::Error),
}

/// Everything that a project at a commit lacks, and that this machine lacks for it.
///
/// # Errors
///
/// [`RequirementsError`] if it cannot be examined.
pub async fn unmet(
    repository: &Repository,
    base: CommitId,
    task: &Task,
    weaker_isolation: bool,
) -> Result<Vec<Unmet>, RequirementsError> {
    let spec = &task.spec;
    let language = match language_of(&spec.impl_path, &spec.test_path) {
        Ok(language) => language,
        Err(unmet) => return Ok(vec![unmet]),
    };
    if language == Language::Rust {
        return of_rust(repository, base, task);
    }
    let mut unmet = Vec::new();
    if task.toolchain.harness == Harness::Libtest {
        unmet.push(Unmet::HarnessOfRust { tests: spec.test_path.clone() });
    } else if let Some(program) = interpreter(&task.toolchain.test_command) {
        unmet.extend(of_python(task, &program, weaker_isolation).await?);
    }
    let nothing = tempfile::tempdir().map_err(RequirementsError::Directory)?;
    let started = LanguageServer::start(language.server(&task.language_server), nothing.path()).await;
    unmet.extend(started.err().map(Unmet::NoServer));
    Ok(unmet)
}

/// The language of both files.
fn language_of(implementation: &CratePath, tests: &CratePath) -> Result<Language, Unmet> {
    match (Language::of(implementation), Language::of(tests)) {
        (Some(language), Some(of_tests)) if language == of_tests => Ok(language),
        (Some(_), Some(_)) => Err(Unmet::TwoLanguages { implementation: implementation.clone(), tests: tests.clone() }),
        (Some(_), None) => Err(Unmet::UnknownLanguage { file: tests.clone() }),
        (None, _) => Err(Unmet::UnknownLanguage { file: implementation.clone() }),
    }
}

fn of_rust(repository: &Repository, base: CommitId, task: &Task) -> Result<Vec<Unmet>, RequirementsError> {
    let (spec, package) = (&task.spec, package_of(&task.spec.impl_path));
    let below = |name: &str| if package.is_empty() { name.to_owned() } else { format!("{package}/{name}") };
    let text = |path: &str| -> Result<Option<String>, RequirementsError> {
        let bytes = repository.read_file(base, &path.parse::<RepositoryPath>()?)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let path = below("Cargo.toml");
    let Some(manifest) = text(&path)? else {
        return Ok(vec![Unmet::NoPackage { file: spec.impl_path.clone(), manifest: path }]);
    };
    let mut unmet = Vec::new();
    let tests = Path::new(spec.test_path.as_str());
    let is_beside = [below("tests"), below("src")].iter().any(|directory| tests.starts_with(directory));
    if task.toolchain.harness == Harness::Libtest && !is_beside {
        unmet.push(Unmet::TestsElsewhere { tests: spec.test_path.clone(), expected: format!("{}/", below("tests")) });
    }
    if !has_one_of(&manifest, &OF_RUST) {
        unmet.push(Unmet::NoPropertyLibrary { manifest: path });
    }
    Ok(unmet)
}

/// Whether a manifest has one of these packages among its dependencies, including those of one platform, or under another name. A
/// manifest that is not TOML passes: cargo reports it.
fn has_one_of(manifest: &str, packages: &[&str]) -> bool {
    let Ok(manifest) = manifest.parse::<Table>() else { return true };
    let of_platforms = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(|of| of.values());
    let tables = of_platforms.filter_map(Value::as_table).chain([&manifest]);
    let dependencies = tables.flat_map(|table| ["dependencies", "dev-dependencies"].map(|name| table.get(name)));
    dependencies.flatten().filter_map(Value::as_table).flatten().any(|(name, dependency)| {
        let package = dependency.get("package").and_then(Value::as_str).unwrap_or(name);
        packages.contains(&package)
    })
}

/// The interpreter that a command runs tests with, if that is Python: `python3 -m pytest`.
fn interpreter(command: &CommandLine) -> Option<String> {
    let name = Path::new(command.program()).file_name()?.to_str()?;
    name.starts_with("python").then(|| command.program().to_owned())
}

/// Asks the interpreter, in the sandbox that tests are run in.
async fn of_python(task: &Task, program: &str, weaker_isolation: bool) -> Result<Option<Unmet>, RequirementsError> {
    const ASKED: &str = "requirements";
    let directory = tempfile::tempdir().map_err(RequirementsError::Directory)?;
    let imports = OF_PYTHON.map(|module| format!("import {module}")).join("; ");
    let mut toolchain = task.toolchain.clone();
    let asked = NamedCommand::new(CommandLine::new(program, &["-c", &imports]));
    toolchain.commands.insert(ASKED.to_owned(), asked);
    let (checkout, target) = (directory.path().join("empty"), directory.path().join("target"));
    std::fs::create_dir(&checkout).map_err(RequirementsError::Directory)?;
    let runner = match Runner::new(toolchain.clone(), &target, directory.path()) {
        Ok(runner) => runner,
        // If this system cannot confine it, the set-up of the run reports that.
        Err(_) if !weaker_isolation => return Ok(None),
        Err(_) => Runner::with_weaker_isolation(toolchain, &target, directory.path()),
    };
    let known = KnownTests { names: &[], test_path: task.spec.test_path.as_str(), implementation_path: None };
    let said = match runner.run_named(ASKED, &Checkout::at(&checkout), known).await {
        Ok(TestRun::Ran(outcome)) if outcome.all_passed() => return Ok(None),
        Ok(TestRun::Ran(outcome)) => outcome.failed.into_iter().map(|failure| failure.message).collect(),
        Ok(_) => String::new(),
        // The directory is our own, so this is about the program.
        Err(RunError::Start { source, .. }) => source.to_string(),
        Err(error) => return Err(error.into()),
    };
    let last = said.lines().last().unwrap_or("it said nothing").to_owned();
    Ok(Some(Unmet::NoPythonModules { program: program.to_owned(), said: last }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_for_properties_is_found_wherever_it_is_named() {
        for manifest in [
            "[dev-dependencies]\nproptest = \"1\"\n",
            "[dev-dependencies]\nproptest.workspace = true\n",
            "[dependencies.quickcheck]\nversion = \"1\"\n",
            "[target.'cfg(unix)'.dev-dependencies]\nproptest = \"1\"\n",
            "[dev-dependencies]\nprop = { package = \"proptest\", version = \"1\" }\n",
            "no TOML",
        ] {
            assert!(has_one_of(manifest, &OF_RUST), "{manifest}");
        }
        for manifest in ["", "[features]\nproptest = []\n", "[dev-dependencies]\nproptest = { package = \"other\" }\n"]
        {
            assert!(!has_one_of(manifest, &OF_RUST), "{manifest}");
        }
    }

    /// TC-25: a file that is in one of the languages is not refused for what the other file is.
    #[test]
    fn both_files_are_in_one_language() {
        let said = |implementation: &str, tests: &str| {
            let [implementation, tests] = [implementation, tests].map(|path| CratePath::new(path).unwrap());
            language_of(&implementation, &tests).map_err(|unmet| unmet.to_string())
        };
        assert_eq!(said("src/lib.rs", "tests/p.rs"), Ok(Language::Rust));
        assert_eq!(said("src/a.py", "tests/test_a.py"), Ok(Language::Python));
        let two = "`src/lib.rs` and `tests/test_a.py` are in two languages; write `implPath` and `testPath` both with `.rs`, or \
                   both with `.py`";
        assert_eq!(said("src/lib.rs", "tests/test_a.py"), Err(two.to_owned()));
        for (implementation, tests) in [("src/a.lisp", "tests/p.rs"), ("src/lib.rs", "src/a.lisp")] {
            let refused = said(implementation, tests).unwrap_err();
            assert!(refused.starts_with("`src/a.lisp` is neither Rust nor Python"), "{refused}");
        }
    }

    #[test]
    fn the_interpreter_is_the_one_that_runs_the_tests() {
        let of = |words: &[&str]| interpreter(&CommandLine::new(words[0], &words[1..]));
        assert_eq!(of(&["/opt/python3.12", "-m", "pytest"]).as_deref(), Some("/opt/python3.12"));
        assert_eq!(of(&["make", "test"]), None);
    }
}
