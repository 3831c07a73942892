//! A wave of three agents, each the real Claude Code, on a user's repository that cargo does not build. Only the model is
//! scripted: a server on loopback plays it.

use crate::project::{Project, git};
use interlocking::cli::repository::EmbeddedFile;
use interlocking_model_server::{ModelServer, Reaction, Request, Script, programs};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const FILES: [EmbeddedFile; 3] = [
    EmbeddedFile {
        path: "package.json",
        contents: r#"{ "name": "greetings", "private": true, "scripts": { "build": "node --check index.js", "test": "node --test" } }"#,
    },
    EmbeddedFile { path: "index.js", contents: "module.exports = {};\n" },
    EmbeddedFile { path: "names.txt", contents: "all\n" },
];

/// The project's toolchain, with a gate of npm commands (TC-25).
const TOOLCHAIN: &str = "\
buildCommand: [npm, run, build]
testCommand: [npm, test]
";

/// A module that greets in a language, and its test.
fn work(letter: &str) -> [(String, String); 2] {
    let (name, word) = match letter {
        "A" => ("english", "hello"),
        "B" => ("german", "hallo"),
        _ => ("french", "bonjour"),
    };
    let module = format!("module.exports = () => '{word}';\n");
    let test = format!(
        "const test = require('node:test');\nconst assert = require('node:assert');\n\
         test('{name}', () => assert.equal(require('../lib/{name}')(), '{word}'));\n"
    );
    [(format!("lib/{name}.js"), module), (format!("test/{name}.test.js"), test)]
}

fn plan() -> Value {
    let agents = ["A", "B", "C"].map(|letter| {
        let [(module, _), (test, _)] = work(letter);
        json!({
            "agent": letter, "creates": [module, test], "task": "Greet.", "tests": ["one"],
            "verification": [["npm", "test"]], "constraints": [], "minutes": 5,
        })
    });
    let lines = ["A", "B", "C"].map(|letter| json!({ "agent": letter, "lines": [work(letter)[0].0] }));
    json!({
        "title": "Greetings",
        "summary": "Three languages.",
        "waves": [{ "agents": agents }],
        "contracts": [],
        "append_only": [{ "file": "names.txt", "additions": lines }],
        // This differs from the user's gate: it would always pass.
        "gate": [["true"]],
        "estimates": { "scout": 1, "merge": 1, "sequential": 30 },
    })
}

/// How long each agent's first answer takes: enough time for the others to ask, too.
const THINKS: Duration = Duration::from_secs(2);

/// The letter of the agent that asks; `None` for the scout.
fn letter(request: &Request) -> Option<&'static str> {
    let prompt = request.prompt();
    ["A", "B", "C"].into_iter().find(|letter| prompt.contains(&format!("# You are agent {letter} of wave 1\n")))
}

/// The program's working directory, as it tells the model.
fn place(request: &Request) -> PathBuf {
    let line = |line: &str| line.trim().strip_prefix("- Primary working directory: ").map(PathBuf::from);
    request.system().lines().find_map(line).expect("the program says where it works")
}

/// The check that the agent's prompt tells it to run first.
fn preflight(request: &Request) -> String {
    let prompt = request.prompt();
    let (_, rest) = prompt.split_once("```sh\n").expect("the prompt has the commands");
    rest.split_once("```").expect("they end").0.to_owned()
}

fn bash(command: &str) -> Reaction {
    Reaction::tool("Bash", json!({ "command": command, "description": "as asked" }))
}

/// Checks its place, writes, tests, commits, and reports.
fn react(request: &Request) -> Reaction {
    let Some(letter) = letter(request) else { return Reaction::output(plan()) };
    let [module, test] = work(letter);
    let write = |(path, content): &(String, String)| {
        Reaction::tool("Write", json!({ "file_path": place(request).join(path), "content": content }))
    };
    let results = request.results();
    match results.len() {
        0 => bash(&preflight(request)).after(THINKS),
        1 => write(&module),
        2 => write(&test),
        3 => bash("npm test"),
        4 => bash("git add -A"),
        5 => bash("git commit -m 'feat: greet'"),
        6 => bash("git rev-parse HEAD"),
        _ => Reaction::output(json!({
            "status": if results[3].contains("pass 1") { "complete" } else { "partial" },
            "worktree": format!(".claude/worktrees/{}", results[0].lines().last().unwrap_or_default()),
            "commit": results[6].trim(),
            "files_changed": [],
            "files_created": [module.0, test.0],
            "interface_deviations": [],
            "out_of_scope_deps": [],
            "tests_added": ["one"],
            "verification": "PASS (npm test - 1/1 tests)",
        })),
    }
}

fn program(project: &Project, claude: &Path, server: &ModelServer) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scout-and-wave"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let own = claude.parent().unwrap().to_owned();
    let home = project.place().join("home");
    std::fs::create_dir_all(&home).unwrap();
    command.env("PATH", std::env::join_paths([own].into_iter().chain(std::env::split_paths(&paths))).unwrap());
    command.env("HOME", home).env_remove("XDG_STATE_HOME").env("INTERLOCKING_JOURNAL", project.place().join("journal"));
    command.env("ANTHROPIC_API_KEY", "sk-ant-api03-nobodys").env("ANTHROPIC_BASE_URL", server.url());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command
}

/// TC-23, TC-25, SAW-25, SAW-41, SAW-57: three at once, in worktrees of their own; npm tests their work by the user's gate, not
/// the plan's, and it lands.
#[tokio::test]
async fn three_real_agents_build_what_npm_tests() {
    let Some(claude) = programs::found(programs::claude()) else { return };
    let project = Project::of(&FILES).await;
    project.git(&["config", "user.name", "A user"]);
    project.git(&["config", "user.email", "user@example.org"]);
    std::fs::write(project.place().join("toolchain.yaml"), TOOLCHAIN).unwrap();
    let server = ModelServer::start(Script::computed(react)).unwrap();
    let (repository, toolchain, work) =
        (project.root(), project.place().join("toolchain.yaml"), project.place().join("work"));
    let mut command = program(&project, &claude, &server);
    command.args(["run", "--task", "Greet in three languages.", "--name", "greetings", "--approve", "--run-id", "r1"]);
    command.args(["--agent", "claude:haiku", "--accept-weaker-isolation", "--json"]);
    for (option, path) in [("--repo", &repository), ("--toolchain", &toolchain), ("--work-dir", &work)] {
        command.arg(option).arg(path);
    }
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{said}");
    let account: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(account["result"]["result"]["state"], "COMPLETE", "{said}");
    server.assert_all_matched();

    // The agents' files are on `main`, and the gate is the user's.
    for (path, content) in ["A", "B", "C"].iter().flat_map(|letter| self::work(letter)) {
        assert_eq!(project.file("main", &path), content);
    }
    assert_eq!(project.file("main", "names.txt"), "all\nlib/english.js\nlib/german.js\nlib/french.js\n");
    let document = project.file("main", "docs/IMPL-greetings.md");
    assert!(document.contains("gate:\n  - [npm, run, build]\n  - [npm, test]\n"), "{document}");
    assert_eq!(project.git(&["log", "--merges", "--format=%s", "main"]).lines().count(), 3);

    // Each worked in its own place, and each was asked before any had ended.
    let requests = server.requests();
    let of = |letter: &str| -> Vec<&Request> {
        let asked =
            requests.iter().map(AsRef::as_ref).filter(|request: &&Request| self::letter(request) == Some(letter));
        asked.collect()
    };
    let all = ["A", "B", "C"].map(of);
    let places: BTreeSet<_> = all.iter().map(|asked| place(asked[0])).collect();
    assert_eq!(places.len(), 3);
    // Field 0: each has checked its place, as its permissions allow, and the place was right.
    for (asked, branch) in all.iter().zip(["wave1-agent-a", "wave1-agent-b", "wave1-agent-c"]) {
        let looked = &asked[asked.len() - 1].results()[0];
        assert_eq!(looked.trim(), format!("{}\n{branch}", place(asked[0]).display()));
    }
    assert!(places.iter().all(|place| place.starts_with(&work) && !place.starts_with(&repository)), "{places:?}");
    let last_began = all.iter().map(|asked| asked[0].at).max().unwrap();
    let first_ended = all.iter().map(|asked| asked[asked.len() - 1].at).min().unwrap();
    assert!(last_began < first_ended, "they worked one after the other");
    git(&repository, &["fsck", "--strict"]);
}
