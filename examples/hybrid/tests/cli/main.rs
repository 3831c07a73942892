//! The program: its output, its exit codes, what it leaves behind, and how another process resumes a run.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

#[path = "../../../../tests/help_is_whole.rs"]
mod help_is_whole;
#[path = "../all/artefacts.rs"]
mod artefacts;
mod program;
mod going_on;
mod journal;
mod left_behind;
mod lies;
mod model;
mod own_repository;
mod real_agent;
mod taking_up;

use crate::program::{Ran, Repository, git, hybrid, run, without_builds};
use expect_test::expect;
use hybrid::types::HybridResult;
use serde_json::Value;
use std::fs;

#[test]
fn the_program_says_all_of_itself() {
    help_is_whole::help_is_whole(|words| Ran::of(hybrid(words).output().unwrap()).stdout);
}

/// HY-238, HY-134, HY-155: the result is printed and kept as JSON that a later run can read, with the nine checks; a
/// name that is taken is refused before anything is done.
#[test]
fn the_demonstration_succeeds_and_can_be_kept() {
    let work = tempfile::tempdir().unwrap();
    let at = work.path().to_str().unwrap();
    let (json, events) = (work.path().join("copy.json"), work.path().join("events.jsonl"));
    let ran = run(&[
        "--work-dir",
        at,
        "--run-id",
        "r1",
        "--keep",
        "--result",
        json.to_str().unwrap(),
        "--events",
        events.to_str().unwrap(),
    ]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let account = ran.json();
    assert_eq!((&account["run"], &account["success"]), (&"r1".into(), &true.into()));
    let result: HybridResult = serde_json::from_value(account["result"].clone()).unwrap();
    assert!(result.succeeded());
    assert_eq!(result.lattice().checks().len(), 9);
    assert_eq!(account["usage"]["cost"], 145_000);
    for copy in [&json, &work.path().join("r1/result.json")] {
        assert_eq!(fs::read_to_string(copy).unwrap(), ran.stdout);
    }

    let repository = work.path().join("r1/repository");
    let log = git(&repository, &["log", "--format=%H %s", "--reverse", "main"]);
    let log: Vec<&str> = log.lines().collect();
    let commits = account["commits"].as_array().unwrap();
    let listed = commits
        .iter()
        .map(|commit| format!("{} {}", commit["commit"].as_str().unwrap(), commit["subject"].as_str().unwrap()));
    assert_eq!(listed.collect::<Vec<_>>(), log[1..]);
    assert_eq!(account["target"]["before"].as_str(), log[0].split(' ').next());
    assert_eq!(account["target"]["after"].as_str(), log[log.len() - 1].split(' ').next());
    assert!(work.path().join("r1/worktrees/r1/tests/tests/properties.rs").exists());

    for shown in [
        "  types           started\n",
        "  types           → skeleton + adversary ",
        "  $0.031\n",
        "  types           wrote src/lib.rs\n",
        "\nSucceeded: `main` is 5 commits further, at ",
        "  ✓ the merged tests pass                   7 tests pass\n",
        "  ✓ the tests catch mutants                 0 of 9 mutants survive; ",
        "\nTo do       ",
        "\nCoverage    5 of 5 functions, 10 of 10 examples, 6 of 6 sketched properties\n",
        "\nCost        $0.145 in 5 calls, ",
    ] {
        assert!(ran.stderr.contains(shown), "{shown:?} in\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains('\u{1b}'), "no control sequences where there is no terminal");
    assert!(ran.stderr.ends_with(&format!("Kept        {at}/r1\n")), "{}", ran.stderr);

    let events = fs::read_to_string(events).unwrap();
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "run_started");
    assert_eq!(events[events.len() - 1]["event"], "run_ended");

    let again = run(&["--work-dir", at, "--run-id", "r1"]);
    assert_eq!((again.exit, again.stdout.as_str()), (Some(2), ""));
    let expected =
        "/r1 exists already, from an earlier run of that name: choose another --run-id or --work-dir, or remove it\n";
    assert_eq!(again.stderr, format!("error: {at}{expected}"));

    let elsewhere = work.path().join("elsewhere");
    let (repository, elsewhere) = (repository.to_str().unwrap(), elsewhere.to_str().unwrap());
    let taken = run(&["--repo", repository, "--scenario", "happy", "--run-id", "r1", "--work-dir", elsewhere]);
    assert_eq!((taken.exit, taken.stdout.as_str()), (Some(2), ""));
    let said = "the run could not start: the run's name is taken: there is a branch r1/impl, at ";
    assert!(taken.stderr.contains(said), "{}", taken.stderr);
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
}

/// Exit code 1: the protocol's result is negative, with a typed reason.
#[test]
fn a_run_without_success_says_why() {
    let work = tempfile::tempdir().unwrap();
    let ran = run(&["--scenario", "build_lie", "--work-dir", work.path().to_str().unwrap()]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let account = ran.json();
    assert_eq!(account["success"], false);
    let diagnostics = &account["result"]["failure"]["ImplementationDoesNotBuild"]["diagnostics"];
    assert!(diagnostics.as_str().unwrap().contains("no method named `size`"), "{diagnostics}");
    assert_eq!(account["target"]["before"], account["target"]["after"]);
    assert_eq!(account["commits"], Value::Array(Vec::new()));
    let said =
        "\nNot a success: ImplementationDoesNotBuild; `main` is where it was.\nthe implementation does not build\n";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(ran.stderr.contains("error[E0599]: no method named `size`"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(work.path()).unwrap().count(), 0, "nothing is left without --keep");
}

/// An invalid file is refused before anything is done, with file, line, column and field.
#[test]
fn bad_files_are_refused_with_their_place() {
    let directory = tempfile::tempdir().unwrap();
    let refusal = |option: &str, name: &str, text: &str| {
        fs::write(directory.path().join(name), text).unwrap();
        let ran = Ran::of(hybrid(&[option, name]).current_dir(&directory).output().unwrap());
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        ran.stderr
    };
    let spec = "moduleName = \"stack\"\ndescription = \"A stack.\"\nacceptanceCriteria = [\"It holds.\"]\n\
                implPath = \"../lib.rs\"\ntestPath = \"tests/properties.rs\"\n\n[strictness]\nmaxFixAttempts = 99\n";
    expect![[r#"
        error: spec.toml:4:12: `implPath`: "../lib.rs" is not a file inside the crate: it has an empty, `.` or `..` part; write it relative to the crate, such as `src/lib.rs`
        spec.toml:8:18: `strictness.maxFixAttempts`: out of range; use 1 to 10
    "#]]
    .assert_eq(&refusal("--spec", "spec.toml", spec));
    expect![[r#"
        error: spec.yaml: not a known kind of file; name it `.toml` or `.json`
    "#]]
    .assert_eq(&refusal("--spec", "spec.yaml", spec));
    expect![[r#"
        error: script.toml:3:1: `turn.cots`: there is no such field (did you mean `cost`?); the fields are `agent`, `contains`, `session`, `times`, `delay`, `write`, `append`, `replace`, `remove`, `run`, `commit`, `output`, `output_json`, `decide`, `text`, `cost`, `tokens`, `fail` and `retry_after`
    "#]].assert_eq(&refusal("--script", "script.toml", "[[turn]]\nagent = \"types\"\ncots = 0.1\n"));
    let missing = Ran::of(hybrid(&["--spec", "none.toml"]).current_dir(&directory).output().unwrap());
    assert_eq!(missing.exit, Some(2));
    expect![[r#"
        error: none.toml: cannot be read: No such file or directory (os error 2)
    "#]]
    .assert_eq(&missing.stderr);
}

#[test]
fn a_wrong_command_line_is_refused() {
    let refusal = |arguments: &[&str]| {
        let ran = Ran::of(hybrid(arguments).output().unwrap());
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        ran.stderr.lines().take(2).collect::<Vec<_>>().join("\n")
    };
    let cases: [&[&str]; 7] = [
        &["--scenario", "nope"],
        &["--run-id", "../x"],
        &["--scenario", "happy", "--script", "x.toml"],
        &["--repo", "."],
        &["--branch", "next"],
        &["graph", "svg"],
        &["--repo", "/", "--scenario", "happy"],
    ];
    expect![[r#"
        error: invalid value 'nope' for '--scenario <NAME>'
          [possible values: happy, types_hole, trivial_tests, tests_do_not_compile, build_lie, impl_edits_tests, fix_round, claimed_coverage, tests_of_another_type, swallowed_panics, tests_left_out, tests_read_the_source, detects_tests, edits_after_commit, faked_harness]
        error: invalid value '../x' for '--run-id <ID>': "../x" is not a run id: only lower-case letters, digits and hyphens are allowed

        error: the argument '--scenario <NAME>' cannot be used with '--script <FILE>'

        error: the following required arguments were not provided:
          <--scenario <NAME>|--script <FILE>|--agent <[ROLE=]BACKEND[:MODEL]>|--agents <FILE>>
        error: the following required arguments were not provided:
          --repo <DIR>
        error: invalid value 'svg' for '[LANGUAGE]'
          [possible values: mermaid, dot, json]
        error: / is not a git repository: create one with `git init`, or give its root"#]].assert_eq(&cases.map(refusal).join("\n"));
}

#[test]
fn the_graph_is_drawn() {
    let drawn = |arguments: &[&str]| {
        let ran = Ran::of(hybrid(arguments).output().unwrap());
        assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""));
        ran.stdout
    };
    let start = |text: &str| text.lines().take(3).collect::<Vec<_>>().join("\n");
    let mermaid = drawn(&["graph"]);
    assert_eq!(mermaid, drawn(&["graph", "mermaid"]));
    assert_eq!(mermaid, drawn(&["--graph"]));
    expect![[r#"
        flowchart TD
          run_entry(["entry"])
          n_types("types: StackSpec<br/>LLMNode, timeout 30 min, agent types, workspace skeleton")"#]]
    .assert_eq(&start(&mermaid));
    expect![[r#"
        digraph "Hybrid" {
          rankdir=TB
          run_entry [label="entry", shape=plaintext]"#]]
    .assert_eq(&start(&drawn(&["graph", "dot"])));
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&format!("```mermaid\n{mermaid}```\n")), "put the output of `graph` into README.md");
}

/// Agents are checked before anything is done: every role, each agent's program and key.
#[test]
fn agents_that_cannot_play_are_refused_before_anything_is_done() {
    let (work, nothing) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(
        work.path().join("agents.toml"),
        "[roles]\nfix = 'claude'\ntest = 'claude'\n\n[backends.claude]\nturns = 3\n",
    )
    .unwrap();
    let file = work.path().join("agents.toml").display().to_string();
    let mut told = String::new();
    for more in [
        &["--agent", "fix=claude"][..],
        &["--agent", "claude"],
        &["--scenario", "happy", "--agent", "fx=claude", "--agent", "tests=clude"],
        &["--agents", &file],
        &["--scenario", "happy", "--script", "none.toml"],
        &["--repo", "."],
    ] {
        let mut command = hybrid(more);
        command.args(["--work-dir", work.path().join("work").to_str().unwrap()]).env("PATH", nothing.path());
        // No program is called before that is found.
        command.env("INTERLOCKING_AGENTS", "allow");
        for key in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
            command.env_remove(key);
        }
        let ran = Ran::of(command.output().unwrap());
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        told += &ran.stderr.replace(work.path().to_str().unwrap(), "PLACE");
        let left = fs::read_dir(work.path().join("work")).map_or(0, |left| left.count());
        assert_eq!(left, 0, "{more:?}");
    }
    expect![[r#"
        error: no agent plays:
          `types`, for node `types`
          `adversary`, for node `adversary`
          `types_fix`, for node `types_fix`
          `tests`, for node `tests` and node `mutation_fix`
          `impl`, for node `implementation`
          `conflict`, for node `conflict`
          `mutation`, for node `mutation` and node `mutation_advisory`
        played are:
          `fix` by `claude`
          to do: say who plays: --agent types=BACKEND:MODEL, --agent BACKEND for all roles, or a file with --agents
        error: these agents cannot work here:
          `claude`, which plays `types` and `adversary` and `types_fix` and `tests` and `impl` and `conflict` and `fix` and `mutation`: the agent is not set up: there is no key: set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN (from `claude setup-token`), or name another variable in `credential`, or set it to the login that is kept in `home`; there is no program claude: install Claude Code (`npm install -g @anthropic-ai/claude-code`), or set `program` to its path
          to do: let others play: --agent ROLE=BACKEND:MODEL, or in the file of --agents
        error: the roles cannot be bound as the options say:
          --agent fx=claude: there is no role `fx` in the graph: did you mean `fix`?
          --agent tests=clude: there is no backend `clude`: did you mean `claude`?
        error: `backends.claude.turns`: there is no such field; the fields are `program`, `model`, `fallback_models`, `home`, `credential`, `base_url`, `tools`, `allowed_tools`, `disallowed_tools`, `read_only_tools`, `permission_mode`, `mcp_servers`, `setting_sources`, `add_directories`, `max_steps`, `max_dollars`, `decisions`, `retries`, `request_limit`, `time_limit`, `first_event_limit`, `idle_limit`, `inherit` and `environment`
          at: PLACE/agents.toml:6:1
        error: the argument '--scenario <NAME>' cannot be used with '--script <FILE>'

        Usage: hybrid --scenario <NAME> --work-dir <DIR>

        For more information, try '--help'.
        error: the following required arguments were not provided:
          <--scenario <NAME>|--script <FILE>|--agent <[ROLE=]BACKEND[:MODEL]>|--agents <FILE>>

        Usage: hybrid --repo <DIR> --work-dir <DIR> <--scenario <NAME>|--script <FILE>|--agent <[ROLE=]BACKEND[:MODEL]>|--agents <FILE>>

        For more information, try '--help'.
    "#]].assert_eq(&told);
}

/// The help of the program and of its own commands with options; the other commands are the same in every program.
#[test]
fn help_says_what_the_program_does() {
    let mut page = String::new();
    for words in [&["--help"][..], &["run", "--help"], &["resume", "--help"]] {
        let help = Ran::of(hybrid(words).output().unwrap());
        assert_eq!((help.exit, help.stderr.as_str()), (Some(0), ""));
        page += &format!("$ hybrid {}\n{}\n", words.join(" "), help.stdout);
    }
    expect_test::expect_file!["../help.txt"].assert_eq(&page);
    let readme = include_str!("../../README.md");
    for code in ["0", "1", "2", "4", "5", "6", "7", "8", "130"] {
        assert!(page.contains(&format!("\n  {code:<5}")), "{code}");
        assert!(readme.contains(&format!("\n| {code} |")), "{code}");
    }
}

/// HY-25: a main checkout with uncommitted changes is not advanced; neither they nor the run's work are lost.
#[tokio::test]
async fn uncommitted_changes_are_not_overwritten() {
    let repository = Repository::new().await;
    let before = git(&repository.path(), &["rev-parse", "main"]);
    let edited = "//! Somebody is at work here.\n";
    fs::write(repository.path().join("src/lib.rs"), edited).unwrap();
    let task = without_builds(repository.directory.path());
    let ran = repository.run(&["--spec", &task, "--scenario", "happy", "--run-id", "r2"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert_eq!(git(&repository.path(), &["rev-parse", "main"]), before);
    assert_eq!(fs::read_to_string(repository.path().join("src/lib.rs")).unwrap(), edited);
    let account = ran.json();
    let message = account["result"]["failure"]["NodeFailed"]["failure"]["message"].as_str().unwrap();
    assert!(message.starts_with("main is checked out: ") && message.contains("has uncommitted changes: "), "{message}");
    // The merged work is available in the archive.
    let kept = account["archived"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let merged = kept.clone().find(|name| name.starts_with("refs/interlocking/archive/r2/merge-")).unwrap();
    assert!(ran.stderr.contains(merged), "{}", ran.stderr);
    git(&repository.path(), &["checkout", "--quiet", "--", "src/lib.rs"]);
    git(&repository.path(), &["merge", "--quiet", "--ff-only", merged]);
    assert!(fs::read_to_string(repository.path().join("src/lib.rs")).unwrap().contains("impl BoundedStack"));
    assert!(repository.is_tidy());
}

/// Worktrees below the repository would become its files.
#[tokio::test]
async fn a_work_directory_inside_the_repository_is_refused() {
    let repository = Repository::new().await;
    let (path, inside) = (repository.path(), repository.path().join("deep/work"));
    let arguments = ["--repo", path.to_str().unwrap(), "--scenario", "happy", "--work-dir", inside.to_str().unwrap()];
    let ran = run(&arguments);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.ends_with(": give a --work-dir outside of it\n"), "{}", ran.stderr);
    assert!(!path.join("deep").exists());
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
}
