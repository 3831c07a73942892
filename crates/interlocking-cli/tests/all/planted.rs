//! What an agent, or whoever has made a repository, puts where a program keeps its own files.

use crate::processes::{call, example, ran};
use crate::scene::{SCRIPT, Scene};
use interlocking::worktree::Signature;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Facts of a run, with another directory to remove.
fn forge(facts: &Path, removed: &Path) {
    let mut forged: Value = serde_json::from_slice(&fs::read(facts).unwrap()).unwrap();
    for field in ["removed", "directory"] {
        forged[field] = removed.to_str().unwrap().into();
    }
    fs::write(facts, forged.to_string()).unwrap();
}

/// The journal is where it is by default, in the repository's working tree. The agent writes what the program reads
/// there of a run.
#[test]
fn what_an_agent_commits_does_not_land_in_the_journal() {
    let scene = Scene::new();
    let planted = r#", { path = ".Interlocking/pair/rx.json", content = "{}" }] "#;
    scene.script(
        "agents.toml",
        &SCRIPT.replace("HELLO", "hello").replacen("\"echo hello\" }]", &format!("\"echo hello\" }}{planted}"), 1),
    );
    let work = scene.at("work").display().to_string();
    let words = ["run", "a greeting", "--work-dir", &work, "--script", "../agents.toml", "--run-id"];
    let run = |more: &[&str]| {
        let words = [&words[..], more].concat();
        ran(example("pair", &scene.at("project"), &words).env("TMPDIR", scene.at("temporary")).output().unwrap())
    };
    for more in [&["r1"][..], &["r2", "--land-on", "other"]] {
        let (exit, _, stderr) = run(more);
        assert_eq!(exit, Some(1), "{stderr}");
        let journal = scene.at("project/.interlocking").canonicalize().unwrap();
        let told = format!(
            " does not land, because it changes .Interlocking/pair/rx.json: {} belongs to the program that executes \
             the run, and agents do not write there\n",
            journal.display()
        );
        assert!(stderr.contains(&told), "{stderr}");
    }
    assert_eq!((scene.head("main"), scene.head("other")), (Some(scene.base), None));
    assert!(!scene.at("project/.Interlocking").exists());

    // Everything that lands would be in this journal.
    let (exit, _, stderr) = run(&["r3", "--journal", "."]);
    assert_eq!(exit, Some(2), "{stderr}");
    assert!(
        stderr.starts_with(
            "error: the journal's directory is the repository's working tree, in which agents' work lands\n"
        ),
        "{stderr}"
    );
}

/// A program's default journal does not come with a repository.
#[test]
fn a_default_journal_that_git_tracks_is_refused() {
    let scene = Scene::new();
    let project = scene.at("project");
    fs::create_dir_all(project.join(".interlocking/pair")).unwrap();
    fs::write(project.join(".interlocking/pair/r1.json"), "{}").unwrap();
    scene
        .repository()
        .main_worktree()
        .unwrap()
        .unwrap()
        .commit_all(&Signature::new("Me", "me@example.org").unwrap(), "Plant")
        .unwrap();
    for words in [&["run", "tides"][..], &["list"], &["resume", "r1"], &["prune", "--keep-last", "0"]] {
        let (exit, stdout, stderr) = call(&project, words);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert_eq!(
            stderr,
            "error: git tracks files in the default directory of the journal, so that whoever commits to the \
             repository could write there\n  at: .interlocking\n  to do: name another directory with \
             --journal DIR or $INTERLOCKING_JOURNAL, or, if these \
             files are yours, let git forget them: git rm -r --cached .interlocking\n"
        );
        assert_eq!(fs::read_dir(project.join(".interlocking")).unwrap().count(), 1);
    }
    assert_eq!(call(&project, &["run", "tides", "--journal", "../journal"]).0, Some(3));
}

/// Only what a program has made for a run is removed with it, not a directory that only the run's facts name.
#[test]
fn a_directory_that_was_not_made_for_the_run_is_not_removed() {
    let scene = Scene::new();
    scene.spawn(&[]).kill();
    let (facts, precious) = (scene.at("journal/pair/r1.json"), scene.at("precious"));
    let known = fs::read(&facts).unwrap();
    fs::create_dir_all(precious.join("worktrees/r1")).unwrap();
    fs::write(precious.join("worktrees/r1/mine"), "mine").unwrap();
    forge(&facts, &precious);
    for words in [&["cancel", "r1"][..], &["cancel", "r1"]] {
        let (exit, _, stderr) = scene.call(words);
        assert_eq!(exit, Some(8), "{stderr}");
        let told = format!(
            "error: the directory is left alone, because no file `.interlocking-run` in it says that `pair` made it \
             for `r1`: remove it yourself, if nothing in it is needed\n  at: {}\n  \
             to do: `pair cancel r1` tries that again\n",
            precious.display()
        );
        assert!(stderr.contains(&told), "{stderr}");
        assert!(precious.join("worktrees/r1/mine").exists());
    }
    fs::write(&facts, known).unwrap();
    let (exit, _, stderr) = scene.call(&["cancel", "r1"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), "r1 was cancelled before\n"));
    assert_eq!(scene.left(), ["journal/pair/r1.json"]);
}
