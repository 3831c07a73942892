use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use interlocking_agents::scripted::ActionProblem;
use interlocking_agents::{AgentErrorKind, AgentEvent, Conversation, Disposition, Turn};

use crate::common::{Recorded, agent, fresh, fresh_in, run};

async fn problem_in(workspace: &Path, script: &str) -> (String, ActionProblem) {
    let error = run(&agent(script), fresh_in(workspace, "x")).await.unwrap_err();
    assert_eq!(error.disposition(), Disposition::GiveUp);
    let text = error.to_string();
    match *error.kind {
        AgentErrorKind::Action(action) => (text, action.problem),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn actions_are_done_in_the_order_of_the_script() {
    let workspace = tempfile::tempdir().unwrap();
    let script = r##"
        [[turn]]
        [[turn.write]]
        path = "src/deep/lib.rs"
        content = "one"
        [[turn.run]]
        command = ["grep", "-qx", "one", "src/deep/lib.rs"]
        [[turn.replace]]
        path = "src/deep/lib.rs"
        find = "one"
        with = "two"
        [[turn.run]]
        command = ["grep", "-qx", "two", "src/deep/lib.rs"]
        [[turn.append]]
        path = "src/deep/lib.rs"
        content = " three"
        [[turn.write]]
        path = "run.sh"
        content = "#!/bin/sh\nexit 3\n"
        executable = true
        [[turn.run]]
        command = ["./run.sh"]
        exit = 3
        [[turn.run]]
        command = ["./run.sh"]
        exit = "any"
        [[turn.write]]
        path = "gone/away"
        content = ""
        [[turn.remove]]
        path = "gone"
        [[turn.remove]]
        path = "run.sh"
    "##;
    let recorded = Recorded::default();
    let agent = agent(script);
    Conversation::new(&agent).run(fresh_in(workspace.path(), "x"), &recorded.sink()).await.unwrap();

    assert_eq!(fs::read_to_string(workspace.path().join("src/deep/lib.rs")).unwrap(), "two three");
    assert!(!workspace.path().join("gone").exists() && !workspace.path().join("run.sh").exists());
    let shown: Vec<String> = recorded
        .events()
        .into_iter()
        .filter_map(|event| match event {
            AgentEvent::FileWritten { path } => Some(format!("write {}", path.display())),
            AgentEvent::FileRemoved { path } => Some(format!("remove {}", path.display())),
            AgentEvent::CommandRun { command, exit } => Some(format!("{} = {}", command[0], exit.unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(
        shown,
        [
            "write src/deep/lib.rs",
            "grep = 0",
            "write src/deep/lib.rs",
            "grep = 0",
            "write src/deep/lib.rs",
            "write run.sh",
            "./run.sh = 3",
            "./run.sh = 3",
            "write gone/away",
            "remove gone",
            "remove run.sh",
        ]
    );
}

#[tokio::test]
async fn an_executable_file_can_be_executed_and_others_can_not() {
    let workspace = tempfile::tempdir().unwrap();
    let script = "
        [[turn]]
        write = [{ path = \"a\", content = \"\", executable = true }, { path = \"b\", content = \"\" }]
    ";
    run(&agent(script), fresh_in(workspace.path(), "x")).await.unwrap();
    let mode = |name| fs::metadata(workspace.path().join(name)).unwrap().permissions().mode();
    assert_eq!((mode("a") & 0o111, mode("b") & 0o111), (0o111, 0));
}

/// It must be possible to play an agent that ignores its instructions.
#[tokio::test]
async fn a_read_only_turn_does_not_stop_a_script_from_writing() {
    let workspace = tempfile::tempdir().unwrap();
    let turn = Turn { read_only: true, ..fresh_in(workspace.path(), "look, don't touch") };
    run(&agent("[[turn]]\nwrite = [{ path = \"a\", content = \"\" }]"), turn).await.unwrap();
    assert!(workspace.path().join("a").exists());
}

#[tokio::test]
async fn commands_inherit_the_environment_and_what_was_added() {
    let workspace = tempfile::tempdir().unwrap();
    let script = "[[turn]]\n[[turn.run]]\ncommand = [\"sh\", \"-c\", 'test -n \"$PATH\" && test \"$ADDED\" = yes']";
    run(&agent(script).with_env("ADDED", "yes"), fresh_in(workspace.path(), "x")).await.unwrap();
    let (_, problem) = problem_in(workspace.path(), script).await;
    assert!(matches!(problem, ActionProblem::WrongExit { exit: Some(1), .. }));
}

#[tokio::test]
async fn a_link_does_not_lead_out_of_the_workspace() {
    let (workspace, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("precious"), "text").unwrap();
    symlink(outside.path(), workspace.path().join("dir")).unwrap();
    symlink(outside.path().join("precious"), workspace.path().join("file")).unwrap();
    symlink(outside.path().join("absent"), workspace.path().join("dangling")).unwrap();
    for (action, link) in [
        ("write = [{ path = \"dir/new\", content = \"\" }]", "dir"),
        ("write = [{ path = \"file\", content = \"\" }]", "file"),
        ("write = [{ path = \"dangling\", content = \"\" }]", "dangling"),
        ("append = [{ path = \"file\", content = \"x\" }]", "file"),
        ("replace = [{ path = \"dir/precious\", find = \"text\", with = \"x\" }]", "dir"),
        ("remove = [{ path = \"dir/precious\" }]", "dir"),
    ] {
        let (_, problem) = problem_in(workspace.path(), &format!("[[turn]]\n{action}")).await;
        let ActionProblem::ThroughLink { link: found, .. } = problem else { panic!("{action}: {problem}") };
        assert_eq!(found, Path::new(link), "{action}");
    }
    run(&agent("[[turn]]\nremove = [{ path = \"dir\" }]"), fresh_in(workspace.path(), "x")).await.unwrap();
    assert!(!workspace.path().join("dir").exists(), "the link itself may go");
    assert_eq!(fs::read_to_string(outside.path().join("precious")).unwrap(), "text");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn what_can_not_be_done_is_said_with_the_line_of_the_script() {
    let workspace = tempfile::tempdir().unwrap();
    fs::write(workspace.path().join("twice"), "a a").unwrap();
    for (action, text) in [
        (
            "[[turn.replace]]\npath = \"twice\"\nfind = \"a\"\nwith = \"b\"",
            "script.toml:2: `twice` contains the text to replace 2 times, not once: \"a\"",
        ),
        (
            "[[turn.replace]]\npath = \"twice\"\nfind = \"c\"\nwith = \"b\"",
            "script.toml:2: `twice` contains the text to replace 0 times, not once: \"c\"",
        ),
        ("[[turn.remove]]\npath = \"none\"", "script.toml:2: `none`: No such file or directory (os error 2)"),
        (
            "[[turn.run]]\ncommand = [\"no-such-program-here\", \"x\"]",
            "script.toml:2: `no-such-program-here x` cannot be started: there is no such program",
        ),
        (
            "[[turn.run]]\ncommand = [\"sh\", \"-c\", \"echo out; echo one >&2; echo two >&2; exit 7\"]",
            "script.toml:2: `sh -c echo out; echo one >&2; echo two >&2; exit 7` ended with exit code 7, expected \
             exit code 0\n  | out\n  | one\n  | two",
        ),
        (
            "[[turn.run]]\ncommand = [\"sh\", \"-c\", \"kill -9 $$\"]\nexit = 1",
            "script.toml:2: `sh -c kill -9 $$` was ended by a signal, expected exit code 1",
        ),
    ] {
        assert_eq!(problem_in(workspace.path(), &format!("[[turn]]\n{action}")).await.0, text);
    }
    assert_eq!(fs::read_to_string(workspace.path().join("twice")).unwrap(), "a a");
}

#[tokio::test]
async fn a_turn_without_a_workspace_has_nowhere_to_act() {
    let error = run(&agent("[[turn]]\nremove = [{ path = \"a\" }]"), fresh("x")).await.unwrap_err();
    assert_eq!(error.to_string(), "script.toml:2: the turn has no workspace to do this in");
}

#[tokio::test]
async fn a_workspace_that_does_not_exist_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("gone");
    let (text, _) = problem_in(&workspace, "[[turn]]\nwrite = [{ path = \"a\", content = \"\" }]").await;
    assert_eq!(text, format!("script.toml:2: the workspace {} is not a directory", workspace.display()));
    assert!(!workspace.exists());
}

#[tokio::test]
async fn only_the_end_of_a_long_output_is_kept() {
    let workspace = tempfile::tempdir().unwrap();
    let script = "[[turn]]\n[[turn.run]]\ncommand = [\"sh\", \"-c\", \"seq 1 200000 >&2; exit 1\"]";
    let (_, problem) = problem_in(workspace.path(), script).await;
    let ActionProblem::WrongExit { last_words, .. } = problem else { panic!("{problem}") };
    assert!(last_words.ends_with("199999\n200000") && last_words.len() <= 4096, "{}", last_words.len());
}
