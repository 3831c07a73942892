//! Agents that misuse git in their worktree.

use crate::project::Project;
use askama::Template;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::failure::Failure;
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use std::sync::Arc;

#[derive(Template)]
#[template(source = "Work.", ext = "txt")]
struct WorkPrompt;

#[derive(Graph)]
#[graph(output = CommitId)]
struct Solo {
    #[node(entry, input = (), prompt = WorkPrompt, output = bool, goto(exit), workspace = "work")]
    work: LLMNode<Work>,
}

held!(Solo);

struct Work;
impl LLMHandler<solo::work> for Work {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, solo::work>) -> Ask<WorkPrompt> {
        Ok((WorkPrompt, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, (): (), reply: Reply<bool>, cx: &mut Cx<'_, solo::work>) -> Route<solo::work> {
        let mut worktree = cx.worktree().await?;
        let commit = match reply.output {
            true => Some(worktree.adopt_commits().await?),
            false => worktree.commit("The agent's work").await?,
        };
        let landed = cx.land(commit.ok_or("nothing new")?).await?;
        goto!(cx, solo::exit, landed)
    }
}

/// Runs an agent with this command in its worktree. `keeps_its_commits` says whether its commits stay as they are.
async fn agent_does(project: &Project, command: &str, keeps_its_commits: bool) -> Result<CommitId, Failure> {
    let script = format!(
        "[[turn]]\noutput_json = '{keeps_its_commits}'\n[[turn.run]]\ncommand = ['sh', '-c', '''\n\
         export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=a@b\n{command}''']\n"
    );
    let agent = Arc::new(ScriptedAgent::new(Script::parse("script", &script).unwrap()));
    let run = Run::new(Solo { work: LLMNode(Work) }).with_agent_for_others(agent);
    match run.with_workspaces(Arc::new(project.workspaces())).start(()).await.unwrap().outcome {
        Outcome::Finished(commit) => Ok(commit),
        Outcome::Failed(failure) => Err(failure),
        other => panic!("{other:?}"),
    }
}

/// CON-76.
#[tokio::test]
async fn commits_of_an_agent_are_folded_in_or_taken_over() {
    let two =
        "echo 1 > one; git add .; git commit -qm one; echo 2 > two; git add .; git commit -qm two; echo 3 > three";
    let project = Project::new();
    agent_does(&project, two, false).await.unwrap();
    assert_eq!(project.git(&["log", "--format=%s %an"]), "The agent's work Runtime\nBegin Runtime\n");
    assert_eq!(project.file("main", "three").as_deref(), Some("3\n"));
    assert_eq!((project.left(), project.archived()), (vec![], vec![]));

    let project = Project::new();
    agent_does(&project, two, true).await.unwrap();
    assert_eq!(project.git(&["log", "--format=%s %an"]), "two Agent\none Agent\nBegin Runtime\n");
    assert_eq!(project.file("main", "three"), None, "what it has not committed is not there");
    assert_eq!((project.left(), project.archived()), (vec![], vec![]));
}

#[tokio::test]
async fn what_an_agent_leads_astray_fails_its_node_and_is_removed() {
    for (command, finding, left) in [
        ("git checkout -q -b mine", "it should be on the branch run/work, and is on the branch mine", &["mine"][..]),
        ("git checkout -q --detach", "is on a detached HEAD", &[]),
        ("git commit -q --amend -m mine", "its history was rewritten", &[]),
        ("echo 'gitdir: /tmp' > .git", "the `.git` in", &[]),
        ("rm .git; git init -q .", "the `.git` in", &[]),
        ("rm -rf \"$PWD\"", "there is no worktree at", &[]),
        ("git worktree lock .; git checkout -q -b mine", "it should be on the branch", &["mine"]),
    ] {
        let project = Project::new();
        let failure = agent_does(&project, command, false).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Workspace, "{command}: {failure}");
        assert!(failure.to_string().contains(finding), "{command}: {failure}");
        assert_eq!(project.main().head().unwrap(), project.begin, "{command}");
        assert_eq!(project.left(), left, "{command}");
    }
}

/// A lock that an agent leaves blocks the commit, and the error names it.
#[tokio::test]
async fn a_lock_that_an_agent_leaves_is_named() {
    let project = Project::new();
    let failure =
        agent_does(&project, "echo 1 > one; touch $(git rev-parse --git-dir)/index.lock", false).await.unwrap_err();
    assert!(failure.message.contains("index.lock is locked by another git process"), "{failure}");
    assert_eq!(project.left(), [""; 0]);
}

/// An agent can write a false path of its worktree; that does not decide what is deleted.
#[tokio::test]
async fn only_what_lies_in_a_runs_directory_is_deleted_with_it() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim");
    std::fs::create_dir(&victim).unwrap();
    std::fs::write(victim.join("file"), "somebody's").unwrap();
    let up = "../".repeat(64);
    for place in [format!("$PWD/{up}{}", victim.display()), "$PWD/link/victim".to_owned()] {
        let project = Project::new();
        let command = format!(
            "ln -s {} link; git=$(git rev-parse --git-dir); echo \"{place}/.git\" > \"$git/gitdir\"; \
             test -e \"{place}/file\" || exit 1",
            outside.path().display()
        );
        agent_does(&project, &command, false).await.unwrap_err();
        assert_eq!(std::fs::read_to_string(victim.join("file")).unwrap(), "somebody's", "{place}");
        assert_eq!(project.left(), [""; 0], "{place}");
    }
}

/// Files beside the workspaces are not workspaces, and are deleted with the run's directory.
#[tokio::test]
async fn what_an_agent_leaves_beside_its_workspace_goes_with_the_run() {
    let project = Project::new();
    let of_user = project.worktree_of_user();
    let beside = "echo 1 > one; echo 1 > ../file; ln -s / ../link; mkdir ../directory; mkfifo ../pipe";
    agent_does(&project, beside, false).await.unwrap();
    assert_eq!((project.left(), project.archived()), (vec![format!("worktree {}", of_user.display())], vec![]));
    assert_eq!(std::fs::read_to_string(of_user.join("untracked")).unwrap(), "the user's");
}

/// An agent can write a false path of the user's worktree, too.
#[tokio::test]
async fn a_worktree_of_the_user_is_not_deleted_because_of_a_false_entry() {
    for place in ["$PWD/../../../of-user", "$PWD/../link/of-user"] {
        let project = Project::new();
        let of_user = project.worktree_of_user();
        let command = format!(
            "echo 1 > one; ln -s ../.. ../link; test -e {place}/untracked || exit 1; \
             echo \"{place}/.git\" > $(git rev-parse --git-common-dir)/worktrees/of-user/gitdir"
        );
        agent_does(&project, &command, false).await.unwrap();
        assert_eq!(std::fs::read_to_string(of_user.join("untracked")).unwrap(), "the user's", "{place}");
        assert_eq!(project.left(), [""; 0], "{place}: its entry says that it was of the run, and nothing is there");
    }
}

/// Whatever an agent has put in place of a run's own files, and whether they can be opened: the run is found, or an error.
#[tokio::test]
async fn a_run_is_not_hidden_by_what_is_in_place_of_its_files() {
    let project = Project::new();
    let run = project.runs().join("gone");
    std::fs::create_dir_all(&run).unwrap();
    let notes = project.root().join(".git/interlocking/branches");
    std::fs::create_dir_all(&notes).unwrap();
    for (command, refused) in [
        ("mkfifo .run", None),
        ("rm .run; ln -s /dev/zero .run", None),
        ("rm .run; touch .run; mkfifo $NOTES", Some("branches/gone: it is not a file: delete it")),
        ("rm $NOTES; ln -s /dev/zero $NOTES", Some("branches/gone: it is not a file: delete it")),
        ("rm $NOTES; truncate -s 17M $NOTES", Some("branches/gone: it is not the file that was written there")),
        ("rm $NOTES; chmod 0 .run", Some(".run: Permission denied")),
    ] {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).current_dir(&run).env("NOTES", notes.join("gone"));
        let done = shell.status().unwrap();
        assert!(done.success(), "{command}");
        let found = project.workspaces().leftover_runs().await;
        match refused.filter(|_| std::fs::File::open(run.join(".run")).is_err() || !command.contains("chmod")) {
            None => assert_eq!(found.unwrap()[0].run().as_str(), "gone", "{command}"),
            Some(reason) => assert!(found.unwrap_err().to_string().contains(reason), "{command}"),
        }
    }
}
