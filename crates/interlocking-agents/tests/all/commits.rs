//! A scripted agent that commits, and reports its commit.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use interlocking_agents::{AgentEvent, Conversation};
use serde_json::json;

use crate::common::{Recorded, agent, fresh, fresh_in, run};

/// Runs git in a directory, without the configuration of the user who runs the tests.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    git(directory.path(), &["init", "-q", "-b", "main"]);
    directory
}

const TWO: &str = r#"
    [[turn]]
    output = { commit = "$HEAD", all = ["at $HEAD.", 1], "$HEAD" = true }
    text = "I committed $HEAD."
    [[turn.write]]
    path = ".gitignore"
    content = "*.log\n"
    [[turn.write]]
    path = "debug.log"
    content = "x"
    [[turn.commit]]
    message = "One\n\n# no comment"
    [[turn.write]]
    path = "src/two.rs"
    content = ""
    [[turn.remove]]
    path = ".gitignore"
    [[turn.run]]
    command = ["rm", "debug.log"]
    [[turn.commit]]
    message = "Two"
"#;

/// CON-76: an agent that commits itself reports the hash of its last commit.
#[tokio::test]
async fn commits_are_made_and_the_last_is_named() {
    let directory = repository();
    let recorded = Recorded::default();
    let agent = agent(TWO);
    let turn = fresh_in(directory.path(), "x");
    let reply = Conversation::new(&agent).run(turn, &recorded.sink()).await.unwrap();
    let head = git(directory.path(), &["rev-parse", "HEAD"]);
    let head = head.trim();
    assert_eq!(reply.output, json!({ "commit": head, "all": [format!("at {head}."), 1], "$HEAD": true }));
    expect![[r#"
        Two|Scripted agent <scripted-agent@localhost>|Scripted agent <scripted-agent@localhost>
        D	.gitignore
        A	src/two.rs
        One

        # no comment|Scripted agent <scripted-agent@localhost>|Scripted agent <scripted-agent@localhost>
        A	.gitignore
    "#]]
    .assert_eq(
        &git(directory.path(), &["log", "--name-status", "--format=%B|%an <%ae>|%cn <%ce>"])
            .replace("\n|", "|")
            .replace(">\n\n", ">\n")
            .replace("rs\n\nOne", "rs\nOne"),
    );
    assert_eq!(git(directory.path(), &["status", "--porcelain"]), "");
    let events = recorded.events();
    let text = AgentEvent::Text { text: format!("I committed {head}.") };
    assert!(events.contains(&text), "{events:?}");
    let commits: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::CommandRun { command, exit: Some(0) } if command[..2] == ["git", "commit"] => command.last(),
            _ => None,
        })
        .collect();
    assert_eq!(commits, ["One\n\n# no comment", "Two"]);
}

/// `$HEAD` works in the input of a decision, too. In a turn without a commit it is the commit that is checked out.
#[tokio::test]
async fn the_commit_of_before_is_named_without_a_commit() {
    let directory = repository();
    run(&agent(TWO), fresh_in(directory.path(), "x")).await.unwrap();
    let head = git(directory.path(), &["rev-parse", "HEAD"]);
    let script = "[[turn]]\n[[turn.decide]]\ntool = 'Approved'\ninput = { commit = '$HEAD' }\n";
    let (agent, recorded) = (agent(script), Recorded::default());
    let turn = fresh_in(directory.path(), "x");
    // The turn has no schema, so the decision is invalid and the agent is asked to correct it.
    Conversation::new(&agent).run(turn, &recorded.sink()).await.unwrap_err();
    let input = json!({ "commit": head.trim() });
    assert!(recorded.events().contains(&AgentEvent::ToolUse { name: "Approved".to_owned(), input }));
}

/// Hooks, the configuration of the repository and of the user, and git's variables have no influence.
#[tokio::test]
async fn hooks_and_configuration_have_no_say() {
    use std::os::unix::fs::PermissionsExt;
    let directory = repository();
    let hooks = directory.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in
        ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change"]
    {
        fs::write(hooks.join(hook), format!("#!/bin/sh\ntouch {}/hooked\nexit 1\n", directory.path().display()))
            .unwrap();
        fs::set_permissions(hooks.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", "touch hooked"),
        ("commit.gpgSign", "true"),
        ("gpg.program", "/nowhere/gpg"),
        ("core.editor", "/nowhere/editor"),
        ("diff.external", "/nowhere/diff"),
        ("core.hooksPath", ".git/hooks"),
        ("commit.template", "nowhere"),
        ("user.name", "Somebody"),
    ] {
        git(directory.path(), &["config", key, value]);
    }
    let agent = agent(TWO).with_env("GIT_AUTHOR_DATE", "2001-02-03T04:05:06Z");
    run(&agent, fresh_in(directory.path(), "x")).await.unwrap();
    let log = ["-c", "core.fsmonitor=false", "log", "--format=%s %an %as"];
    assert_eq!(git(directory.path(), &log), "Two Scripted agent 2001-02-03\nOne Scripted agent 2001-02-03\n");
    assert!(!directory.path().join("hooked").exists());
}

/// A commit that is impossible is an error that names the step.
#[tokio::test]
async fn what_cannot_be_committed_is_told() {
    let directory = repository();
    let problem = async |workspace: &Path, script: &str| {
        let told = run(&agent(script), fresh_in(workspace, "x")).await.unwrap_err().to_string();
        // Git's messages differ from version to version.
        let ours: Vec<_> = told.lines().filter(|line| !line.starts_with("  | ")).collect();
        ours.join("\n").replace(&*workspace.to_string_lossy(), "WORKSPACE")
    };
    let commit = "[[turn]]\n[[turn.commit]]\nmessage = 'x'\n";
    let mut told = vec![problem(directory.path(), commit).await];
    told.push(problem(directory.path(), "[[turn]]\noutput = '$HEAD'\n").await);
    let once = run(&agent(TWO), fresh_in(directory.path(), "x")).await;
    once.unwrap();
    told.push(problem(directory.path(), commit).await);
    // A subdirectory of a worktree is not accepted: the commit would include the worktree around it.
    let inside = directory.path().join("src");
    told.push(
        problem(&inside, "[[turn]]\n[[turn.write]]\npath = 'a'\ncontent = ''\n[[turn.commit]]\nmessage = 'x'\n").await,
    );
    told.push(problem(&inside, "[[turn]]\noutput = 'at $HEAD'\n").await);
    told.push(run(&agent("[[turn]]\noutput = '$HEAD'\n"), fresh("x")).await.unwrap_err().to_string());
    fs::write(directory.path().join(".git/index.lock"), "").unwrap();
    told.push(
        problem(
            directory.path(),
            "[[turn]]\n[[turn.write]]\npath = 'a'\ncontent = ''\n[[turn.commit]]\nmessage = 'x'\n",
        )
        .await,
    );
    expect![[r#"
        script.toml:2: there is nothing to commit: change a file before this, or leave the commit out
        script.toml:1: `$HEAD` is no commit yet: commit before, with `[[turn.commit]]`
        script.toml:2: there is nothing to commit: change a file before this, or leave the commit out
        script.toml:5: WORKSPACE is no git worktree, so it has no commits: give the turn one
        script.toml:1: WORKSPACE is no git worktree, so it has no commits: give the turn one
        script.toml:1: the turn has no workspace to do this in
        script.toml:5: `git add` ended with exit code 128, expected exit code 0"#]]
    .assert_eq(&told.join("\n"));
    assert_eq!(git(directory.path(), &["log", "--format=%s"]), "Two\nOne\n");
}
