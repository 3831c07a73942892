//! The whole protocol with the real Claude Code. Only the model is scripted: a server on loopback plays it.

use crate::artefacts::target_directory;
use crate::model::{HEADINGS, every_node, place, role};
use crate::program::{Process, Ran, Repository, Session, git};
use interlocking_model_server::{ModelServer, Request, Script, programs};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fake key, for which all output is searched.
const KEY: &str = "sk-ant-api03-hybrid-canary-7d1c";

/// A machine with Claude Code: a home, a path, and the address of the provider.
pub(crate) struct Machine {
    pub(crate) session: Session,
    pub(crate) server: ModelServer,
    home: tempfile::TempDir,
    path: std::ffi::OsString,
}

impl Machine {
    pub(crate) fn new(claude: &Path, model: Script) -> Self {
        let own = claude.parent().unwrap().to_owned();
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&paths))).unwrap();
        let server = ModelServer::start(model).unwrap();
        Self { session: Session::new(), server, home: tempfile::tempdir().unwrap(), path }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.session.command(arguments);
        let usual = std::env::home_dir().unwrap();
        for (name, directory) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(name, std::env::var_os(name).map_or_else(|| usual.join(directory), PathBuf::from));
        }
        command.env("HOME", self.home.path()).env("PATH", &self.path).env_remove("XDG_STATE_HOME");
        command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", self.server.url());
        command
    }
}

/// Every node, with an interrupt in the middle: `resume` needs no option to go on with the same agents. The program itself
/// builds and tests the agents' work, and lands it on `main`.
#[tokio::test]
async fn the_protocol_is_run_with_the_real_claude_code() {
    let Some(claude) = programs::found(programs::claude()) else { return };
    let machine = Machine::new(&claude, every_node());
    let (repository, target) = (Repository::new().await, target_directory());
    let more = ["--agent", "claude:haiku", "--run-id", "r1", "--keep", "--target-dir", target.to_str().unwrap()];
    let arguments = repository.arguments(&more);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();

    let mut process = Process::spawn(machine.command(&arguments));
    machine.session.wait_until_done(&mut process, "blind_fork", 1);
    let both_at_work = |shown: &Value| {
        let executions = shown["executions"].as_array().unwrap().iter();
        executions.filter(|execution| execution["state"] == "running" && execution["sessions"].is_array()).count() == 2
    };
    machine.session.wait_until(&mut process, "both sides are at work", both_at_work);
    process.interrupt();
    let stopped = process.wait();
    assert_eq!(stopped.exit, Some(6), "{}", stopped.stderr);
    let ran = Ran::of(machine.command(&["resume", "r1"]).output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    machine.server.assert_all_matched();

    every_node_has_run(&machine);
    what_was_written_is_on_main(&repository, &ran);
    everyone_was_asked_in_their_place(&machine.server.requests());
    nobody_has_the_key(&[repository.directory.path(), machine.session.path(), machine.home.path()], &[&stopped, &ran]);
    let left: Vec<_> = fs::read_dir(machine.home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [""; 0], "what an agent keeps is kept with the run");
}

fn every_node_has_run(machine: &Machine) {
    let shown = machine.session.show("r1");
    let done = Session::done(&shown);
    let nodes: BTreeSet<&str> = done.iter().map(|(node, ..)| node.as_str()).collect();
    let table: Value = machine.session.call(&["graph", "json"]).json();
    let all: BTreeSet<&str> =
        table["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect();
    // Nothing conflicts, survivors do not block, and nodes beside the graph are not steps of the run.
    let others = ["conflict", "mutation", "mutation_fix", "settle", "mutation_advisory", "witness"];
    assert_eq!(&nodes - &BTreeSet::from(others), &all - &BTreeSet::from(others));
    let visits = |name: &str| done.iter().filter(|(node, ..)| node == name).count();
    assert_eq!(["types", "adversary", "tests", "implementation", "validate"].map(visits), [1, 2, 2, 1, 2]);
}

fn what_was_written_is_on_main(repository: &Repository, ran: &Ran) {
    let account = ran.json();
    assert_eq!(account["success"], true, "{}", ran.stderr);
    let at = repository.path();
    assert_eq!(git(&at, &["rev-parse", "main"]), account["target"]["after"].as_str().unwrap());
    for (file, text) in [
        ("src/lib.rs", include_str!("../../demo/work/implementation/lib.rs")),
        ("tests/properties.rs", include_str!("../../demo/work/tests/properties.rs")),
    ] {
        assert_eq!(git(&at, &["show", &format!("main:{file}")]), text.trim_end(), "{file}");
    }
    git(&at, &["fsck", "--strict"]);
    let mut cargo = Command::new("cargo");
    // The directory in which the dependencies are compiled.
    let target = target_directory().join("verdicts");
    cargo.args(["test", "--quiet", "--offline"]).current_dir(&at).env("CARGO_TARGET_DIR", target);
    let tested = Ran::of(cargo.output().unwrap());
    assert_eq!(tested.exit, Some(0), "{}{}", tested.stdout, tested.stderr);

    // Each role keeps its session, across the interrupt and the refusal, and every call has a price.
    let calls = account["calls"]["entries"].as_array().unwrap();
    let sessions = |role: &str| -> BTreeSet<&str> {
        calls.iter().filter(|call| call["role"] == role).map(|call| call["session"].as_str().unwrap()).collect()
    };
    let counts = HEADINGS.map(|(role, _)| (role, sessions(role).len()));
    assert_eq!(
        counts,
        [("types", 1), ("types_fix", 1), ("adversary", 2), ("tests", 1), ("impl", 1), ("fix", 1), ("mutation", 1)],
        "{calls:?}"
    );
    assert_eq!(sessions("types"), sessions("types_fix"), "who has made the hole closes it");
    assert!(calls.iter().all(|call| call["agent"] == "claude"), "{calls:?}");
    assert!(account["usage"]["cost"].as_u64() > Some(0), "{}", account["usage"]);
}

/// Each agent works in its own place, and neither blind side was told, or could see, what the other writes.
fn everyone_was_asked_in_their_place(requests: &[impl AsRef<Request>]) {
    let mut places: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for request in requests.iter().map(AsRef::as_ref) {
        let role = role(request).unwrap();
        let place = place(request);
        places.entry(role).or_default().insert(place.file_name().unwrap().to_string_lossy().into_owned());
        let knows = |text: &str| request.texts().any(|known| known.contains(text));
        // HY-56, TC-22: backend and model are those of `--agent claude:haiku`, at every node.
        assert!(request.model().contains("haiku"), "{role}: {}", request.model());
        assert!(request.system().contains("You are one of several agents"), "{role} is told how it works");
        match role {
            "tests" => assert!(!knows("self.items"), "the tests' agent has seen an implementation"),
            "impl" => assert!(!knows("proptest!"), "the implementation's agent has seen a test"),
            _ => {}
        }
    }
    assert_eq!(places.len(), HEADINGS.len());
    let expected = [
        ("adversary", "types-review"),
        ("fix", "merge"),
        ("impl", "impl"),
        ("mutation", "mutation-review"),
        ("tests", "tests"),
        ("types", "skeleton"),
        ("types_fix", "skeleton"),
    ];
    let expected: BTreeMap<&str, BTreeSet<String>> =
        expected.into_iter().map(|(role, place)| (role, BTreeSet::from([place.to_owned()]))).collect();
    assert_eq!(places, expected);
    let told = |role: &str, text: &str| {
        let mut of_role = requests.iter().map(AsRef::as_ref).filter(|request| self::role(request) == Some(role));
        of_role.any(|request| request.texts().any(|known| known.contains(text)))
    };
    assert!(told("impl", "denied"), "what the other side writes cannot be read");
    assert!(told("impl", "Finished `dev` profile"), "what it writes can be built");
}

fn nobody_has_the_key(places: &[&Path], printed: &[&Ran]) {
    for ran in printed {
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    }
    let mut seen = 0;
    let mut places: Vec<PathBuf> = places.iter().map(|place| place.to_path_buf()).collect();
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(&place).unwrap() {
            let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
            if kind.is_dir() {
                places.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(&path).unwrap();
                assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "only {seen} files: was anything kept?");
}
