//! A user's repository, which Hybrid has not created.

use crate::artefacts::target_directory;
use crate::model::{in_package, in_python};
use crate::program::{Ran, Repository, git, hybrid, without_builds};
use crate::real_agent::Machine;
use expect_test::expect;
use hybrid::demo::SEED;
use hybrid::spec::{SpecFormat, Task};
use interlocking_model_server::programs;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A repository with one commit, and a place for worktrees beside it.
struct Own(TempDir);

impl Own {
    fn new(files: &[(&str, &str)]) -> Self {
        let own = Self(tempfile::tempdir().unwrap());
        fs::create_dir(own.work()).unwrap();
        for (path, text) in files {
            own.write(path, text);
        }
        git(&own.path(), &["init", "--quiet", "--initial-branch=main"]);
        own.commit();
        own
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("repository")
    }

    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        git(&self.path(), &["add", "--all"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        git(&self.path(), &[&who[..], &["commit", "--quiet", "--message=What there is"]].concat());
    }

    fn spec(&self, text: &str) -> PathBuf {
        let path = self.0.path().join("task.toml");
        fs::write(&path, text).unwrap();
        path
    }

    /// The arguments of a run over it.
    fn run(&self, spec: &Path, more: &[&str]) -> Vec<String> {
        let (repository, work, target) = (self.path(), self.work(), target_directory());
        let paths = [("--repo", &*repository), ("--spec", spec), ("--work-dir", &work), ("--target-dir", &target)];
        let paths = paths.into_iter().flat_map(|(option, path)| [option.to_owned(), path.display().to_string()]);
        paths.chain(more.iter().map(|word| (*word).to_owned())).collect()
    }

    /// The message with which a run is refused before anything is done.
    fn refused(&self, spec: &Path) -> String {
        let words = self.run(spec, &["--scenario", "happy"]);
        let ran = Ran::of(hybrid(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap());
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert_eq!(fs::read_dir(self.work()).unwrap().count(), 0, "{}", ran.stderr);
        let notes = |line: &&str| !line.starts_with("note: ");
        ran.stderr.lines().filter(notes).collect::<Vec<_>>().join("\n")
    }
}

fn task(implementation: &str, tests: &str, toolchain: &str) -> String {
    format!(
        "moduleName = \"bounded_stack\"\ndescription = \"A stack.\"\nacceptanceCriteria = [\"It stacks.\"]\n\
         implPath = \"{implementation}\"\ntestPath = \"{tests}\"\n\n[toolchain]\n{toolchain}\n"
    )
}

const WORKSPACE: &str = "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n\n[workspace.dependencies]\n\
    proptest = { version = \"1\", default-features = false, features = [\"std\"] }\n\n[profile.dev]\ndebug = false\n";
const STACK: &str = "[package]\nname = \"bounded_stack\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[features]\nloud = []\n\n\
    [dev-dependencies]\nproptest.workspace = true\nlimits = { path = \"../limits\" }\n";
const EXISTING: &str =
    "//! What was there before.\n\n#[test]\nfn a_small_limit_is_one() {\n    assert_eq!(limits::small(), 8);\n}\n";
const LIMITS: &str =
    "[package]\nname = \"limits\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[features]\nlarge = []\n";
const LIMITS_CODE: &str = "pub fn small() -> usize {\n    8\n}\n\n#[cfg(feature = \"large\")]\npub fn large() -> usize {\n    small() * 8\n}\n\n\
    #[cfg(all(test, feature = \"large\"))]\nmod tests {\n    #[test]\n    fn a_large_limit_is_larger() {\n        assert!(super::large() > super::small());\n    }\n}\n";

/// The real Claude Code on one package of a workspace with features and tests of its own: no other file is changed, and the
/// existing tests are run too.
#[test]
fn a_package_of_a_workspace_is_worked_on_by_the_real_claude_code() {
    let Some(claude) = programs::found(programs::claude()) else { return };
    let lock = SEED.iter().find(|file| file.path == "Cargo.lock").unwrap().contents;
    let own = Own::new(&[
        ("Cargo.toml", WORKSPACE),
        ("Cargo.lock", lock),
        (".gitignore", "/target\n"),
        ("crates/stack/Cargo.toml", STACK),
        ("crates/stack/src/lib.rs", "//! Nothing yet.\n"),
        ("crates/stack/tests/existing.rs", EXISTING),
        ("crates/limits/Cargo.toml", LIMITS),
        ("crates/limits/src/lib.rs", LIMITS_CODE),
    ]);
    // Cargo removes unused crates from the lock file.
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(["update", "--workspace", "--offline"]).current_dir(own.path());
    let resolved = Ran::of(cargo.output().unwrap());
    assert_eq!(resolved.exit, Some(0), "{}", resolved.stderr);
    own.commit();
    let before = git(&own.path(), &["rev-parse", "main"]);
    let spec = own.spec(&task(
        "crates/stack/src/lib.rs",
        "crates/stack/tests/properties.rs",
        "buildCommand = [\"cargo\", \"build\", \"--workspace\", \"--all-targets\", \"--all-features\"]\n\
         testCommand = [\"cargo\", \"test\", \"--workspace\", \"--all-features\", \"--no-fail-fast\"]",
    ));
    let machine = Machine::new(&claude, in_package("crates/stack"));
    let words = own.run(&spec, &["--agent", "claude:haiku", "--run-id", "r1"]);
    let ran = Ran::of(machine.command(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    machine.server.assert_all_matched();

    let changed = git(&own.path(), &["diff", "--name-only", &before, "main"]);
    assert_eq!(changed, "crates/stack/src/lib.rs\ncrates/stack/tests/properties.rs");
    let checks = ran.json()["result"]["lattice"].to_string();
    // Seven properties, the existing test, and the test of a feature.
    assert!(checks.contains("9 tests pass"), "{checks}");
}

/// The Python that has pytest and Hypothesis: `INTERLOCKING_PYTHON`, or the one that `.ci/run` makes. If it is missing, `None`,
/// with a note on standard error; with `CI` set it must be there.
fn python() -> Option<PathBuf> {
    let usual = programs_directory().join("python/bin/python");
    let python = std::env::var_os("INTERLOCKING_PYTHON").map_or(usual, PathBuf::from);
    if python.is_file() {
        return Some(python);
    }
    let said = format!("there is no {}: run `.ci/run`, or set INTERLOCKING_PYTHON", python.display());
    assert!(std::env::var_os("CI").is_none(), "{said}");
    // Written directly, as the test harness captures the output of `eprintln!` and drops it for tests that pass.
    let _ = std::io::stderr().write_all(format!("NOT TESTED: {said}\n").as_bytes());
    None
}

fn programs_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs").canonicalize().unwrap()
}

/// TC-25, HY-156, HY-166: a project in Python, with pytest and Hypothesis. Pyright finds the functions, which of them are stubs,
/// and the calls of the properties; the result lists what no tool can check.
#[test]
fn a_project_in_python_is_worked_on_by_the_real_claude_code() {
    let (Some(claude), Some(python)) = (programs::found(programs::claude()), python()) else { return };
    let own = Own::new(&[
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\npythonpath = [\"src\"]\npython_functions = [\"test_*\", \"prop_*\"]\n",
        ),
        (".gitignore", "__pycache__/\n.hypothesis/\n"),
        ("src/bounded_stack.py", "\"\"\"Nothing yet.\"\"\"\n"),
        ("src/other.py", "def twice(value: int) -> int:\n    return value * 2\n"),
        ("tests/test_other.py", "from other import twice\n\n\ndef test_twice() -> None:\n    assert twice(2) == 4\n"),
    ]);
    let before = git(&own.path(), &["rev-parse", "main"]);
    // A virtual environment has its own packages; the interpreter and its library are elsewhere.
    let library = python.canonicalize().unwrap().parent().and_then(Path::parent).unwrap().to_owned();
    let environment = python.parent().and_then(Path::parent).unwrap();
    let server = programs_directory().join("node_modules/.bin/pyright-langserver").canonicalize().unwrap();
    let spec = own.spec(&task(
        "src/bounded_stack.py",
        "tests/test_bounded_stack.py",
        &format!(
            "buildCommand = [{python:?}, \"-m\", \"compileall\", \"-q\", \"src\", \"tests\"]\n\
             testCommand = [{python:?}, \"-m\", \"pytest\", \"-p\", \"no:cacheprovider\", \"--junitxml={{target}}/report.xml\"]\n\
             harness = {{ junit = {{ report = \"report.xml\" }} }}\nstubMarkers = [\"NotImplementedError\"]\n\
             readablePaths = [{environment:?}, {library:?}]\nlanguageServer = {server:?}"
        ),
    ));
    let machine = Machine::new(&claude, in_python());
    let words = own.run(&spec, &["--agent", "claude:haiku", "--run-id", "r1"]);
    let ran = Ran::of(machine.command(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    machine.server.assert_all_matched();

    // No prompt mentions Rust or its tools.
    for request in machine.server.requests() {
        let (system, prompt) = (request.system(), request.prompt());
        assert!(system.contains("one Python module") && system.contains("Hypothesis"), "{system}");
        let own = [system.split("You are one of several agents").nth(1).unwrap(), &prompt];
        assert!(
            !own.iter().any(|text| ["cargo", "Cargo", "proptest"].iter().any(|word| text.contains(word))),
            "{own:?}"
        );
    }
    let changed = git(&own.path(), &["diff", "--name-only", &before, "main"]);
    assert_eq!(changed, "src/bounded_stack.py\ntests/test_bounded_stack.py");
    let result = &ran.json()["result"];
    let lattice = result["lattice"].to_string();
    assert!(lattice.contains("8 tests pass") && lattice.contains("every public body is a stub"), "{lattice}");
    let coverage = &result["testsCoverage"];
    assert!(coverage["toldBy"].as_str().unwrap().starts_with("Pyright"), "{coverage}");
    assert_eq!(coverage["functionsCovered"].as_array().unwrap().len(), 5, "{coverage}");
    // No tool shows what a property compares, so no example counts.
    assert_eq!((&coverage["examplesCovered"], &coverage["examplesTotal"]), (&0.into(), &10.into()));
    assert_eq!(result["unchecked"], serde_json::json!(["constructs", "canaries", "reached", "assertions"]));
    assert!(ran.stderr.contains("\nUnchecked   whether the code contains what"), "{}", ran.stderr);
}

#[test]
fn the_readme_shows_a_specification_that_can_be_read() {
    let page = include_str!("../../README.md");
    let shown = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let task = Task::parse("README.md", shown, SpecFormat::Toml).unwrap();
    assert_eq!(task.spec.impl_path.as_str(), "src/bounded_stack.py");
}

/// TC-21: the program reads and writes git by itself. With only these three programs on the path, a run reaches its end and
/// lands.
#[tokio::test]
async fn no_git_program_is_needed() {
    let (repository, programs) = (Repository::new().await, tempfile::tempdir().unwrap());
    for program in ["sh", "grep", "true"] {
        let mut places = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|place| place.join(program))
            .collect::<Vec<_>>();
        places.retain(|place| place.is_file());
        std::os::unix::fs::symlink(&places[0], programs.path().join(program)).unwrap();
    }
    let task = without_builds(programs.path());
    let before = git(&repository.path(), &["rev-parse", "main"]);
    let words = repository.arguments(&["--spec", &task, "--scenario", "happy", "--run-id", "r1"]);
    let mut command = hybrid(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = Ran::of(command.env("PATH", programs.path()).output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let account = ran.json();
    assert_eq!(account["target"]["before"], before.as_str());
    assert_eq!(account["target"]["after"], git(&repository.path(), &["rev-parse", "main"]).as_str());
    assert_eq!(git(&repository.path(), &["rev-list", "--count", &format!("{before}..main")]), "5");
    git(&repository.path(), &["fsck", "--strict"]);
    assert!(repository.is_tidy());
}

/// Missing parts of a project are reported at once, with a remedy.
#[test]
fn what_a_project_lacks_is_told_before_anybody_is_asked() {
    let own = Own::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
        ("crates/stack/Cargo.toml", &STACK.replace("proptest.workspace = true\n", "")),
        ("crates/stack/src/lib.rs", ""),
        ("stack/stack.py", ""),
    ]);
    let python = "testCommand = [\"python-of-nobody\", \"-m\", \"pytest\"]\nharness = \"exitCode\"";
    let told = [
        task("crates/stack/src/lib.rs", "tests/properties.rs", ""),
        task("crates/queue/src/lib.rs", "crates/queue/tests/properties.rs", ""),
        task("stack/stack.py", "tests/test_stack.py", "languageServer = \"server-of-nobody\""),
        task("stack/stack.py", "tests/test_stack.py", &format!("{python}\nlanguageServer = \"server-of-nobody\"")),
        task("stack/stack.lisp", "tests/stack.lisp", python),
    ]
    .map(|task| own.refused(&own.spec(&task)));
    expect![[r#"
        error: `tests/properties.rs` is not run by `cargo test`: write `testPath` as a file of `crates/stack/tests/`, the tests of the package that `implPath` is in
        `crates/stack/Cargo.toml` has no library for properties among its dependencies (proptest, quickcheck, bolero, arbtest, test-strategy), and builds have no network: run `cargo add --dev proptest`, build once, and commit
        error: there is no `crates/queue/Cargo.toml` for `crates/queue/src/lib.rs`: commit a package (`cargo init`), or correct `implPath`
        error: `tests/test_stack.py` is not Rust, and `harness` is Rust's own: say in `toolchain` what runs the tests (`testCommand`) and how its output is read, such as `harness = { junit = { report = "report.xml" } }`
        Pyright is not installed, or server-of-nobody does not run: run `npm install pyright`; then name the program in `languageServer` of `toolchain`, if it is not in `PATH`
        error: python-of-nobody lacks some of pytest and hypothesis where tests are run: run `python-of-nobody -m pip install pytest hypothesis`, and name in `readablePaths` the directory where they are installed, if it is not one of the system's: there is no program python-of-nobody: install it, or give its path
        Pyright is not installed, or server-of-nobody does not run: run `npm install pyright`; then name the program in `languageServer` of `toolchain`, if it is not in `PATH`
        error: `stack/stack.lisp` is neither Rust nor Python, so its functions cannot be found; write `implPath` and `testPath` with `.rs` or `.py`"#]].assert_eq(&told.join("\n"));
}
