//! Runs over a git repository, by a small program as a process of its own: `examples/pair`, which `cargo test` builds.

use crate::pair::Pair;
use crate::scene::{SCRIPT, Scene, run_words};
use crate::support::damage;
use interlocking::worktree::{BranchName, Repository, Signature};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

held!(Pair);

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// The result is printed, and written to the given file; nothing is left except the journal and the run's record.
#[test]
fn what_two_agents_write_is_landed_and_accounted_for() {
    let scene = Scene::new();
    fs::write(scene.at("result.json"), "of an earlier run").unwrap();
    fs::hard_link(scene.at("result.json"), scene.at("earlier.json")).unwrap();
    let (exit, stdout, stderr) = scene.run(&["--result", "result.json"]);
    assert_eq!(exit, Some(0), "{stderr}");
    let account = json(&stdout);
    let main = scene.head("main").unwrap();
    assert_eq!(account["target"], json!({ "branch": "main", "before": scene.base, "after": main }));
    assert_eq!((&account["result"], &account["success"]), (&json!(main), &json!(true)));
    assert_eq!((&account["usage"]["calls"], &account["usage"]["cost"]), (&json!(2), &json!(12_500)));
    let subjects: Vec<&str> =
        account["commits"].as_array().unwrap().iter().map(|commit| commit["subject"].as_str().unwrap()).collect();
    assert_eq!(subjects.len(), 4, "{subjects:?}");
    assert_eq!(subjects[3], "Merge its check");
    assert_eq!(fs::read_to_string(scene.at("result.json")).unwrap(), stdout);
    let earlier = fs::read_to_string(scene.at("earlier.json")).unwrap();
    assert_eq!(earlier, "of an earlier run", "the file is replaced as a whole");
    assert!(scene.at("project/greet.sh").exists(), "the working tree follows");
    let said = format!("\n`main` is 4 commits further, at {}.\n\nCommits on main\n", &main.to_string()[..10]);
    assert!(stderr.contains(&said), "{stderr}");
    assert!(stderr.contains("\nCost        $0.0125 in 2 calls, "), "{stderr}");
    assert_eq!(scene.left(), ["journal/pair/r1.json"]);
}

/// Killed when one side is written and the other is not: the other process needs only the run's name.
#[test]
fn a_run_that_is_killed_is_resumed_by_its_name() {
    let scene = Scene::new();
    scene.spawn(&["--keep", "--result", "result.json"]).kill();
    let known = scene.show().unwrap();
    assert_eq!(known["state"], "stopped");
    let (exit, stdout, stderr) = scene.call(&["resume", "r1"]);
    assert_eq!(exit, Some(0), "{stderr}");
    let account = json(&stdout);
    let main = scene.head("main").unwrap();
    assert_eq!(account["target"], json!({ "branch": "main", "before": scene.base, "after": main }));
    assert_eq!(account["usage"]["cost"], 12_500, "what was written is not written again");
    assert_eq!(fs::read_to_string(scene.at("result.json")).unwrap(), stdout);

    // The directory is kept, as requested at the start.
    assert!(stderr.contains(&format!("Kept        {}\n", scene.at("work/r1").display())), "{stderr}");
    assert_eq!(fs::read_to_string(scene.at("work/r1/result.json")).unwrap(), stdout);
    assert!(scene.at("work/r1/worktrees/r1/merge/check.sh").exists());
    let again = scene.run(&[]);
    assert_eq!(again.0, Some(2));
    assert!(again.2.starts_with("error: there is a run `r1` in the journal\n"), "{}", again.2);
}

/// The run is being executed, or cannot be watched: its record stays unchanged.
#[test]
fn a_resume_that_is_refused_changes_nothing_for_the_next_one() {
    let scene = Scene::new();
    let running = scene.spawn(&[]);
    let file = scene.at("journal/pair/r1.json");
    let remembered = fs::read_to_string(&file).unwrap();
    let other = ["resume", "r1", "--land-on", "other", "--keep", "--result", "other.json", "--script", "agents.toml"];
    let (exit, stdout, stderr) = scene.call(&other);
    assert_eq!((exit, stdout.as_str()), (Some(7), ""), "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), remembered);
    running.kill();

    let (exit, stdout, stderr) = scene.call(&[&other[..], &["--events", "nowhere/at/all"]].concat());
    assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), remembered);
    assert!(!scene.at("other.json").exists());
    let (exit, _, stderr) = scene.call(&["resume", "r1"]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert_ne!(scene.head("main"), Some(scene.base));
    assert_eq!(scene.left(), ["journal/pair/r1.json"]);
}

/// The check puts a directory in place of the file, and a file in place of a directory that is removed.
#[test]
fn what_cannot_be_written_at_the_end_keeps_no_result_back() {
    for json_options in [&[][..], &["--json"]] {
        let scene = Scene::new();
        let place = scene.place.path().display();
        let check = format!(
            "rm -r {place}/journal/pair/r1 {place}/result.json && echo > {place}/journal/pair/r1 && mkdir {place}/result.json"
        );
        let script = SCRIPT.replace(r#""test \"$(sh greet.sh)$PROVIDER_KEY\" = HELLO""#, &format!("{check:?}"));
        scene.script("agents.toml", &script);
        let (exit, stdout, stderr) = scene.run(&[&["--result", "result.json"], json_options].concat());
        assert_eq!(exit, Some(8), "{stderr}");
        let printed = json(&stdout);
        let account = if json_options.is_empty() { &printed } else { &printed["result"] };
        assert_eq!(account["result"], json!(scene.head("main").unwrap()));
        let path = format!("{place}/result.json");
        let is_told = |line: &str| match serde_json::from_str::<Value>(line) {
            Ok(told) => told["error"]["where"] == path && told["error"]["exit"] == 8,
            Err(_) => json_options.is_empty() && line == format!("  at: {path}"),
        };
        assert!(stderr.lines().any(is_told), "{stderr}");
        assert!(!scene.at("journal/pair/r1").exists());
    }
}

#[test]
fn nothing_is_left_of_a_run_that_is_cancelled_while_nobody_executes_it() {
    let scene = Scene::new();
    scene.spawn(&["--land-on", "other"]).kill();
    assert_eq!(scene.head("other"), None);
    assert!(scene.at("work/r1/worktrees/r1/program").exists());
    let (exit, stdout, stderr) = scene.call(&["cancel", "r1"]);
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Some(0), "", "r1 is cancelled\n"));
    assert_eq!(scene.left(), ["journal/pair/r1.json"]);
    assert_eq!(scene.head("main"), Some(scene.base));
    assert!(!scene.repository().archived().unwrap().is_empty(), "what was committed is kept");
}

#[test]
fn nothing_is_left_of_a_stopped_run_that_is_removed() {
    let scene = Scene::new();
    scene.spawn(&[]).kill();
    let all = ["prune", "--keep-last", "0", "--unfinished"];
    let (exit, stdout, stderr) = scene.call(&[&all[..], &["--dry-run"]].concat());
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Some(0), "r1\n", "1 run would be removed\n"));
    assert!(scene.at("work/r1/worktrees/r1/program").exists());

    // What cannot be cleaned up is told, and does not keep the other runs.
    fs::rename(scene.at("project"), scene.at("away")).unwrap();
    let (exit, _, stderr) = scene.call(&all);
    assert_eq!(exit, Some(8), "{stderr}");
    assert!(stderr.contains("r1"), "{stderr}");
    fs::rename(scene.at("away"), scene.at("project")).unwrap();

    let scene = Scene::new();
    scene.spawn(&[]).kill();
    let (exit, stdout, stderr) = scene.call(&all);
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Some(0), "r1\n", "1 run removed\n"));
    assert_eq!(scene.left(), ["journal/pair/r1.json"]);
    assert!(!scene.repository().archived().unwrap().is_empty(), "what was committed is kept");
}

#[test]
fn what_stays_behind_of_a_run_shows_in_the_exit_code() {
    for command in [&["cancel", "r1"][..], &["prune", "--keep-last", "0", "--unfinished"]] {
        let scene = Scene::new();
        scene.spawn(&[]).kill();
        fs::write(scene.at("project/.git/refs/heads/r1/check"), format!("{}\n", "1".repeat(40))).unwrap();
        let (exit, _, stderr) = scene.call(command);
        assert_eq!(exit, Some(8), "{stderr}");
        assert!(stderr.contains("some worktrees could not be removed: "), "{stderr}");
    }
}

/// The output says what is kept of the run; once the cause is gone, the run goes on at the failed node.
#[test]
fn a_run_that_fails_leaves_its_work_in_the_archive_and_is_retried() {
    let scene = Scene::new();
    scene.script("agents.toml", SCRIPT);
    let (exit, stdout, stderr) = scene.run(&["--land-on", "other"]);
    assert_eq!(exit, Some(1), "{stderr}");
    let account = json(&stdout);
    assert_eq!(
        (&account["success"], &account["interrupted"], &account["result"]),
        (&json!(false), &json!(false), &Value::Null)
    );
    assert_eq!(account["target"], json!({ "branch": "other", "before": scene.base, "after": scene.base }));
    assert!(stderr.contains("\n`other` is where it was.\n\nWork kept in "), "{stderr}");
    assert!(stderr.contains("  refs/interlocking/archive/r1/merge-"), "{stderr}");
    assert_eq!(scene.left(), ["journal/pair/r1", "journal/pair/r1.json"], "and what its agents remember");

    // The check's `sh` is replaced by a program that always succeeds.
    let shell = scene.at("bin");
    fs::create_dir(&shell).unwrap();
    let path = format!("{}:{}", shell.display(), std::env::var("PATH").unwrap());
    fs::write(shell.join("sh"), "#!/bin/true\n").unwrap();
    set_executable(&shell.join("sh"));
    let retried = scene.command(&["resume", "r1", "--retry"]).env("PATH", path).output().unwrap();
    let (exit, stdout, stderr) = crate::processes::ran(retried);
    assert_eq!(exit, Some(0), "{stderr}");
    assert_eq!(json(&stdout)["target"]["after"], json!(scene.head("other")));
    assert_eq!(scene.head("main"), Some(scene.base));
    assert_eq!(scene.left(), ["journal/pair/r1.json", "other"]);
}

fn set_executable(path: &Path) {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// A fork lands on a branch of its own. It needs neither the fork of which it was made nor the run.
#[test]
fn a_fork_has_directories_of_its_own() {
    let scene = Scene::new();
    assert_eq!(scene.run(&[]).0, Some(0));
    let main = scene.head("main").unwrap();
    assert_eq!(scene.call(&["fork", "r1", "--before", "merge"]).0, Some(0));
    assert_eq!(scene.call(&["fork", "r1-fork", "--run-id", "again"]).0, Some(0));
    let (exit, _, stderr) = scene.call(&["prune", "--keep-last", "1", "--unfinished"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), "2 runs removed\n"));
    let (exit, stdout, stderr) = scene.call(&["resume", "again", "--land-on", "main", "--result", "result.json"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(!scene.at("result.json").exists());
    let said = format!(
        "error: the run began at {}, and `main` is at {main}, which has commits that the run did not begin with\n",
        scene.base
    );
    assert!(stderr.starts_with(&said), "{stderr}");
    assert_eq!(scene.left(), ["again", "r1-fork", "r1"].map(|run| format!("journal/pair/{run}.json")));
    let (exit, stdout, stderr) = scene.call(&["resume", "again", "--land-on", "second"]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert_eq!(json(&stdout)["target"]["after"], json!(scene.head("second")));
    assert_eq!(scene.head("main"), Some(main));
    assert_eq!(scene.left()[3..], ["second"]);
}

/// The facts of a removed run stay for a fork of it that has none of its own, as one that a program has made, and go with
/// the fork.
#[test]
fn a_fork_outlives_the_run_whose_facts_it_needs() {
    let scene = Scene::new();
    assert_eq!(scene.run_as("r1", "project", "first").0, Some(0));
    assert_eq!(scene.call(&["fork", "r1", "--before", "merge"]).0, Some(0));
    fs::remove_file(scene.at("journal/pair/r1-fork.json")).unwrap();
    let (exit, _, stderr) = scene.call(&["prune", "--keep-last", "0"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), "1 run removed\n"));
    assert_eq!(scene.run_as("r2", "project", "beside").0, Some(0));
    let (exit, _, stderr) = scene.call(&["resume", "r1-fork", "--land-on", "second"]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert_eq!(scene.run_as("r3", "project", "third").0, Some(0));
    assert!(!scene.at("journal/pair/r1.json").exists() && scene.at("journal/pair/r1-fork.json").exists());
}

/// A removed run of another repository had the fork's name, and its facts are still there.
#[test]
fn a_fork_does_not_take_the_facts_of_another_run_of_its_name() {
    let scene = Scene::new();
    let tree = Repository::init(scene.at("elsewhere")).unwrap().main_worktree().unwrap().unwrap();
    fs::write(tree.path().join("README.md"), "# Elsewhere\n").unwrap();
    tree.commit_all(&Signature::new("Me", "me@example.org").unwrap(), "Begin").unwrap();
    for (name, lands_on) in [("x", "first"), ("r2-fork", "second")] {
        assert_eq!(scene.run_as(name, "elsewhere", lands_on).0, Some(0));
    }
    assert_eq!(scene.run_as("r2", "project", "main").0, Some(0));
    assert_eq!(scene.call(&["prune", "--keep-last", "1"]).0, Some(0));
    let refused = scene.page(scene.call(&["fork", "r2", "--run-id", "x"]));
    expect_test::expect![[r#"
        exit 2
        error: there is a file of a run `x` that is not in the journal
          at: PLACE/journal/pair/x.json
          to do: there was a run of that name, of which a fork may be left, or a process is about to execute one: choose another --run-id, or remove the file if neither is so
    "#]].assert_eq(&refused);
    let (exit, _, stderr) = scene.call(&["fork", "r2"]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(stderr.starts_with("r2-fork-2 has the first "), "{stderr}");
}

/// Nothing is done, and nothing is left.
#[test]
fn what_cannot_be_is_refused_before_anything_is_done() {
    let scene = Scene::new();
    fs::create_dir(scene.at("taken")).unwrap();
    fs::create_dir(scene.at("taken/r1")).unwrap();
    scene.script("bad.toml", "[[turn]]\nagent = \"types\"\ncots = 0.1\n");
    let mut pages = String::new();
    for more in [
        &["--work-dir", "project/deep/work"][..],
        &["--work-dir", "taken"],
        &["--result", "nowhere/result.json"],
        &["--repo", "temporary"],
        &["--repo", "none"],
        &["--branch", "other"],
        &["--branch", "a..b"],
        &["--land-on", "a..b"],
        &["--script", "none.toml"],
        &["--script", "bad.toml"],
        &["--agent", "chekc=claude"],
    ] {
        // An option given in `more` replaces the scene's.
        let mut words = run_words(more);
        for option in more.iter().filter(|word| word.starts_with("--")) {
            let at = words.iter().position(|word| word == option).unwrap();
            if at < words.len() - more.len() {
                words.drain(at..at + 2);
            }
        }
        pages += &format!("$ {}\n{}", more.join(" "), scene.page(scene.call(&words)));
        assert_eq!(scene.left(), [""; 0], "{more:?}");
    }
    let other = BranchName::new("r1/other").unwrap();
    scene.repository().create_branch(&other, scene.base).unwrap();
    let taken = scene.page(scene.run(&[])).replace(&scene.base.to_string(), "BASE");
    pages += &format!("$ (a branch of the run's name)\n{taken}");
    scene.repository().delete_branch(&other, scene.base).unwrap();
    let unbound = ["run", "a greeting", "--repo", "project", "--agent", "check=scripted:agents.toml"];
    pages += &format!("$ {}\n{}", unbound[2..].join(" "), scene.page(scene.call(&unbound)));
    pages +=
        &format!("$ (no repository)\n{}", scene.page(scene.call(&["run", "a greeting", "--script", "agents.toml"])));
    pages += &format!("$ resume --branch\n{}", scene.page(scene.call(&["resume", "r1", "--branch", "main"])));
    assert_eq!(scene.left(), [""; 0]);
    expect_test::expect_file!["../refused.txt"].assert_eq(&pages);
}

/// A file that would have been made for it is not there, and one that was there is as it was.
#[test]
fn a_refused_run_leaves_the_file_of_its_result_as_it_was() {
    let scene = Scene::new();
    fs::write(scene.at("old.json"), "mine").unwrap();
    for more in [
        &["--branch", "other", "--script", "agents.toml"][..],
        &["--work-dir", "project/deep/work", "--script", "agents.toml"],
        &["--agent", "check=scripted:agents.toml"],
        &["--events", "nowhere/at/all", "--script", "agents.toml"],
    ] {
        for result in ["old.json", "new.json"] {
            let words = ["run", "a greeting", "--run-id", "r1", "--repo", "project", "--result", result];
            let (exit, _, stderr) = scene.call(&[&words[..], more].concat());
            assert_eq!(exit, Some(2), "{more:?}: {stderr}");
            assert_eq!(fs::read_to_string(scene.at("old.json")).unwrap(), "mine", "{more:?}");
            assert!(!scene.at("new.json").exists(), "{more:?}");
            assert_eq!(scene.left(), [""; 0], "{more:?}");
        }
    }
}

/// The journal is the cause, not what the user asks for.
#[test]
fn a_run_whose_name_has_records_that_cannot_be_read_is_a_fault_of_the_journal() {
    let scene = Scene::new();
    assert_eq!(scene.run(&[]).0, Some(0));
    damage(&scene.at("journal"), "r1");
    let (exit, stdout, stderr) = scene.run(&[]);
    assert_eq!((exit, stdout.as_str()), (Some(7), ""), "{stderr}");
    assert!(stderr.contains("record 0 of run `r1` cannot be read: "), "{stderr}");
}

/// The record that another process needs is gone.
#[test]
fn a_run_of_which_nothing_is_known_any_more_is_refused_with_what_to_do() {
    let scene = Scene::new();
    scene.spawn(&[]).kill();
    let (file, aside) = (scene.at("journal/pair/r1.json"), scene.at("aside.json"));
    fs::rename(&file, &aside).unwrap();
    let mut pages = scene.page(scene.call(&["resume", "r1"]));
    fs::rename(&aside, &file).unwrap();
    fs::rename(scene.at("project"), scene.at("away")).unwrap();
    pages += &scene.page(scene.call(&["resume", "r1"]));
    fs::rename(scene.at("away"), scene.at("project")).unwrap();
    fs::write(&file, "{}").unwrap();
    pages += &scene.page(scene.call(&["resume", "r1"]));
    expect_test::expect![[r#"
        exit 2
        error: `r1` cannot be resumed: the file that records its repository and directories is gone
          at: PLACE/journal/pair/r1.json
          to do: bring the file back from a copy of the journal's directory, or start it again; `pair show r1` tells what it did
        exit 2
        error: the repository that `r1` worked on is gone
          at: PLACE/project
          to do: bring it back, or write where it is now into PLACE/journal/pair/r1.json
        exit 7
        error: the facts of run `r1` cannot be read: another version may have written them
          at: PLACE/journal/pair/r1.json
          caused by: missing field `isThere` at line 1 column 2
          to do: bring the file back from a copy of the journal's directory, or start it again; `pair show r1` tells what it did
    "#]].assert_eq(&pages);
}

/// The help of the commands that take a repository's options.
#[test]
fn the_help_has_the_options_of_a_repository() {
    let scene = Scene::new();
    let mut page = String::new();
    for words in [&["run", "--help"][..], &["resume", "--help"]] {
        let (exit, stdout, _) = scene.call(words);
        assert_eq!(exit, Some(0));
        page += &format!("$ pair {}\n{stdout}\n", words.join(" "));
    }
    expect_test::expect_file!["../pair_help.txt"].assert_eq(&page);
    let documented = include_str!("../../../../docs/book/src/cli.md");
    for option in ["--repo", "--branch", "--work-dir", "--target-dir", "--script", "--land-on", "--keep", "--result"] {
        assert!(page.contains(option) && documented.contains(option), "{option}");
    }
}
