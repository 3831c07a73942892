//! Clones, if the table demands them: blind agents, and fetching their commits.

use crate::project::{Project, author};
use askama::Template;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::StartError;
use interlocking::sandbox::{Sandbox, Support};
use interlocking::table::Isolation;
use interlocking::workspaces::{GitWorkspaces, GitWorkspacesError};
use interlocking::worktree::{CommitId, Setup};
use std::sync::Arc;

#[derive(Template)]
#[template(source = "Write {{ what }}.", ext = "txt")]
struct WritePrompt {
    what: &'static str,
}

#[derive(Graph)]
#[graph(output = CommitId)]
struct Blind {
    #[node(entry, input = (), fork(code, tests))]
    split: ForkNode<Split>,
    #[node(input = u32, prompt = WritePrompt, output = bool, goto(code, meet), workspace = "code", blind_to(tests), visits = 3)]
    code: LLMNode<Write>,
    #[node(input = (), prompt = WritePrompt, output = bool, goto(meet), workspace = "tests", blind_to(code))]
    tests: LLMNode<Write>,
    #[node(join(code: CommitId, tests: CommitId), goto(exit), workspace = "both")]
    meet: JoinNode<Meet>,
}

held!(Blind, Confined, Parts, Part);

struct Split;
impl ForkHandler<blind::split> for Split {
    async fn fork(&self, (): (), cx: &mut Cx<'_, blind::split>) -> Route<blind::split> {
        fork!(cx, (1, ()))
    }
}

struct Write(Arc<Project>);
impl LLMHandler<blind::code> for Write {
    async fn before<'a>(&'a self, _: &'a u32, _: &mut Cx<'_, blind::code>) -> Ask<WritePrompt> {
        Ok((WritePrompt { what: "code" }, SessionOp::StartFresh(Slug::new("code")?)))
    }
    async fn after(&self, round: u32, _: Reply<bool>, cx: &mut Cx<'_, blind::code>) -> Route<blind::code> {
        let mut worktree = cx.worktree().await?;
        assert!(worktree.path().join(".git").is_dir(), "it is a clone");
        let commit = worktree.commit(format!("Code {round}")).await?.ok_or("nothing new")?;
        if round == 2 {
            // And on top of that.
            std::fs::write(worktree.path().join("more.txt"), "more")?;
            let commit = worktree.commit("More code").await?.ok_or("nothing new")?;
            return goto!(cx, blind::meet, commit);
        }
        let error = worktree.merge(commit, "no").await.unwrap_err();
        assert!(matches!(error, GitWorkspacesError::InClone { operation: "merge", .. }), "{error}");
        // The first round is rejected, with a commit that the agent has made by itself: the second begins at the same
        // commit (CON-74). What cannot be reset counts as what it is.
        let (base, branch) = (worktree.base(), worktree.branch().cloned().ok_or("no branch")?);
        std::fs::write(worktree.path().join("stray.txt"), "stray")?;
        self.0.repository().open_clone(worktree.path(), &branch)?.commit_all(&author(), "Stray")?;
        let head = worktree.path().join(".git/HEAD");
        std::fs::write(&head, "ref: refs/heads/mine\n")?;
        let error = worktree.reset(base).await.unwrap_err();
        assert!(matches!(error, GitWorkspacesError::Reset(_)), "{error}");
        assert_eq!((worktree.head(), worktree.path().join("code.txt").exists()), (commit, true));
        assert!(self.0.repository().branch_head(&branch)?.is_some());
        std::fs::write(&head, "ref: refs/heads/run/code\n")?;
        // As left by an agent's git that was stopped during a commit. The operation waits some seconds for it.
        std::fs::write(worktree.path().join(".git/index.lock"), "")?;
        // Somebody has moved the branch.
        let identity = ["-c", "user.name=User", "-c", "user.email=user@example.org"];
        let moved = self.0.git(&[&identity[..], &["commit-tree", "-m", "Moved", "main^{tree}"]].concat());
        self.0.git(&["update-ref", "refs/heads/run/code", moved.trim()]);
        worktree.reset(base).await?;
        assert_eq!((worktree.head(), worktree.path().join("code.txt").exists()), (base, false));
        assert_eq!(self.0.repository().branch_head(&branch)?, None);
        goto!(cx, blind::code, round + 1)
    }
}
impl LLMHandler<blind::tests> for Write {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, blind::tests>) -> Ask<WritePrompt> {
        Ok((WritePrompt { what: "tests" }, SessionOp::StartFresh(Slug::new("tests")?)))
    }
    async fn after(&self, (): (), _: Reply<bool>, cx: &mut Cx<'_, blind::tests>) -> Route<blind::tests> {
        let commit = cx.worktree().await?.commit("Tests").await?.ok_or("nothing new")?;
        goto!(cx, blind::meet, commit)
    }
}

struct Meet;
impl JoinHandler<blind::meet> for Meet {
    async fn join(&self, (code, tests): (CommitId, CommitId), cx: &mut Cx<'_, blind::meet>) -> Route<blind::meet> {
        let mut worktree = cx.worktree().await?;
        let base = worktree.base();
        worktree.cherry_pick(base, code).await?;
        let both = worktree.cherry_pick(base, tests).await?;
        let landed = cx.land(both).await?;
        goto!(cx, blind::exit, landed)
    }
}

const SCRIPT: &str = r#"
    [[turn]]
    contains = ["Write code"]
    output_json = 'true'
    times = 2
    write = [{ path = "code.txt", content = "code" }]
    [[turn.run]]
    command = ["sh", "-c", "test $(git rev-list --all | wc -l) -le 1"]

    [[turn]]
    contains = ["Write tests"]
    output_json = 'true'
    delay = "200ms"
    write = [{ path = "tests.txt", content = "tests" }]
    [[turn.run]]
    command = ["sh", "-c", "test $(git rev-list --all | wc -l) = 1"]
"#;

/// CON-78, CON-74.
#[tokio::test]
async fn blind_agents_have_clones_and_what_they_made_comes_back() {
    let project = Arc::new(Project::new());
    let write = || LLMNode(Write(project.clone()));
    let graph = Blind { split: ForkNode(Split), code: write(), tests: write(), meet: JoinNode(Meet) };
    let agent = Arc::new(ScriptedAgent::new(Script::parse("script", SCRIPT).unwrap()));
    let run = Run::new(graph).with_agent_for_others(agent).with_workspaces(Arc::new(project.workspaces()));
    let outcome = run.start(()).await.unwrap().outcome;
    let Outcome::Finished(landed) = outcome else { panic!("{outcome:?}") };
    assert_eq!(project.main().head().unwrap(), landed);
    assert_eq!(project.git(&["log", "--format=%s"]), "Tests\nMore code\nCode 2\nBegin\n");
    assert_eq!((project.left(), project.archived()), (vec![], vec!["run/code".to_owned(); 3]));
    let archived = project.repository().archived().unwrap().into_iter();
    let mut archived: Vec<_> =
        archived.map(|(name, _)| project.git(&["log", "--format=%s", &name.reference()])).collect();
    archived.sort();
    assert_eq!(archived, ["Code 1\nBegin\n", "Moved\n", "Stray\nCode 1\nBegin\n"]);
}

/// A workspace offers the isolation that the table demands.
#[test]
fn a_workspace_offers_what_the_table_demands() {
    use interlocking::graph::Graph as _;
    let levels: Vec<_> =
        Blind::net().table().nodes.iter().filter_map(|row| Some((row.workspace.as_deref()?, row.isolation))).collect();
    let clone = Some(Isolation::Clone);
    assert_eq!(levels, [("code", clone), ("tests", clone), ("both", None)]);
}

#[derive(Graph)]
#[graph(output = CommitId)]
struct Confined {
    #[node(entry, input = (), prompt = WritePrompt, output = bool, goto(exit), workspace = "cell", isolation = "sandbox")]
    write: LLMNode<Writes>,
}

/// Whether a worktree is reset to its commit, too.
struct Writes(bool);
impl LLMHandler<confined::write> for Writes {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, confined::write>) -> Ask<WritePrompt> {
        Ok((WritePrompt { what: "code" }, SessionOp::StartFresh(Slug::new("code")?)))
    }
    async fn after(&self, (): (), _: Reply<bool>, cx: &mut Cx<'_, confined::write>) -> Route<confined::write> {
        let commit = cx.worktree().await?.commit("Code").await?.ok_or("nothing new")?;
        if self.0 {
            let mut beside = cx.worktree_of("beside").await?;
            beside.reset(commit).await?;
            assert!(beside.path().join("ready.log").exists());
        }
        let landed = cx.land(commit).await?;
        goto!(cx, confined::exit, landed)
    }
}

/// Programs in the sandbox reach their clone and what they are granted, but not the project.
#[tokio::test]
async fn a_sandbox_is_of_the_clone_and_of_what_is_granted() {
    let project = Project::new();
    let granted = tempfile::tempdir().unwrap();
    std::fs::write(granted.path().join("granted.txt"), "granted").unwrap();
    let command = format!(
        "cat {}/README.md >&2 && exit 7; cat {}/granted.txt > code.txt && git status >&2 && test -d \"$TMPDIR\"",
        project.root().display(),
        granted.path().display()
    );
    let script = format!("[[turn]]\noutput_json = 'true'\n[[turn.run]]\ncommand = ['sh', '-c', '''{command}''']\n");
    let agent = Arc::new(ScriptedAgent::new(Script::parse("script", &script).unwrap()));
    let path = granted.path().to_owned();
    let workspaces = project.workspaces().with_grants(move |name, sandbox| {
        assert_eq!(name, "cell");
        sandbox.read(&path)
    });
    let run = Run::new(Confined { write: LLMNode(Writes(false)) }).with_agent_for_others(agent);
    let ended = run.with_workspaces(Arc::new(workspaces)).start(()).await;
    if Sandbox::for_place(project.root()).missing_on(Support::of_this_system()).is_empty() {
        let outcome = ended.unwrap().outcome;
        assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
        assert_eq!(project.file("main", "code.txt").as_deref(), Some("granted"));
        assert_eq!(project.git(&["ls-tree", "-r", "--name-only", "main"]).lines().count(), 3);
    } else {
        assert!(matches!(ended, Err(StartError::Isolation { .. })), "nothing is started: {ended:?}");
    }
    assert_eq!(project.left(), [""; 0]);
}

/// A setup runs what an agent may have written. Also in another workspace of the run, which is reset to an agent's commit.
#[tokio::test]
async fn a_setup_is_confined_in_a_run_that_demands_a_sandbox() {
    let project = Project::new();
    let outside = tempfile::tempdir().unwrap();
    let command = format!(
        "(echo out > {outside}/$(basename \"$PWD\")); (echo out > {root}/out.txt); \
         echo 1 > \"$TMPDIR/one\" && test \"$HOME\" = \"$TMPDIR\" && echo ready > ready.log",
        outside = outside.path().display(),
        root = project.root().display(),
    );
    let setup = Setup::new("sh", ["-c", command.as_str()]).with_variable("PATH", std::env::var("PATH").unwrap());
    let script = "[[turn]]\noutput_json = 'true'\n[[turn.run]]\n\
                  command = ['sh', '-c', 'test -f ready.log && echo code > code.txt']\n";
    let agent = Arc::new(ScriptedAgent::new(Script::parse("script", script).unwrap()));
    let run = Run::new(Confined { write: LLMNode(Writes(true)) }).with_agent_for_others(agent);
    let ended = run.with_workspaces(Arc::new(project.workspaces().with_setup(setup))).start(()).await;
    if Sandbox::for_place(project.root()).missing_on(Support::of_this_system()).is_empty() {
        let outcome = ended.unwrap().outcome;
        assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
        assert_eq!(project.file("main", "code.txt").as_deref(), Some("code\n"));
    } else {
        assert!(matches!(ended, Err(StartError::Isolation { .. })), "nothing is started: {ended:?}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert!(!project.root().join("out.txt").exists());
    assert_eq!(project.left(), [""; 0]);
}

/// A parent whose table demands a sandbox, although only its child is run.
#[derive(Graph)]
#[graph(output = ())]
struct Parts {
    #[node(entry, input = (), map = Part, goto(write, exit))]
    parts: MapNode<Splits>,
    #[node(input = (), prompt = WritePrompt, output = bool, goto(exit), workspace = "cell", isolation = "sandbox")]
    write: LLMNode<Write>,
}

#[derive(Graph)]
#[graph(output = ())]
struct Part {
    #[node(entry, input = (), goto(exit), workspace = "part")]
    work: LogicNode<Works>,
}

struct Works;
impl LogicHandler<part::work> for Works {
    async fn run(&self, (): (), cx: &mut Cx<'_, part::work>) -> Route<part::work> {
        assert!(cx.worktree().await?.path().join("ready.log").exists());
        goto!(cx, part::exit, ())
    }
}

/// The workspaces of its child.
struct Splits(GitWorkspaces);
impl MapHandler<parts::parts> for Splits {
    fn graph(&self, _: &Cx<'_, parts::parts>) -> Result<Arc<Part>, NodeError> {
        Ok(Arc::new(Part { work: LogicNode(Works) }))
    }
    async fn items(&self, (): &(), _: &mut Cx<'_, parts::parts>) -> Result<Vec<Item<Part>>, NodeError> {
        Ok(vec![Item::new(()).with_workspaces(Arc::new(self.0.clone()))])
    }
    async fn gather(&self, (): (), children: Children<Part>, cx: &mut Cx<'_, parts::parts>) -> Route<parts::parts> {
        for child in children.all().await {
            child.result?;
        }
        goto!(cx, parts::exit, ())
    }
}
impl LLMHandler<parts::write> for Write {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, parts::write>) -> Ask<WritePrompt> {
        Ok((WritePrompt { what: "nothing" }, SessionOp::StartFresh(Slug::new("code")?)))
    }
    async fn after(&self, (): (), _: Reply<bool>, cx: &mut Cx<'_, parts::write>) -> Route<parts::write> {
        goto!(cx, parts::exit, ())
    }
}

/// A child with workspaces of its own gets the commits of its parent's agents, too.
#[tokio::test]
async fn a_setup_is_confined_in_a_child_with_other_workspaces_if_its_parent_demands_a_sandbox() {
    let (project, outside) = (Arc::new(Project::new()), tempfile::tempdir().unwrap());
    let command = format!("(echo out > {}/out); echo ready > ready.log", outside.path().display());
    let setup = Setup::new("sh", ["-c", command.as_str()]).with_variable("PATH", std::env::var("PATH").unwrap());
    let parts = MapNode(Splits(project.workspaces().with_setup(setup)));
    let graph = Parts { parts, write: LLMNode(Write(project.clone())) };
    let agent = Arc::new(ScriptedAgent::new(Script::parse("script", SCRIPT).unwrap()));
    let run = Run::new(graph).with_agent_for_others(agent).with_workspaces(Arc::new(project.workspaces()));
    let ended = run.start(()).await;
    if Sandbox::for_place(project.root()).missing_on(Support::of_this_system()).is_empty() {
        let outcome = ended.unwrap().outcome;
        assert!(matches!(outcome, Outcome::Finished(())), "{outcome:?}");
    } else {
        assert!(matches!(ended, Err(StartError::Isolation { .. })), "nothing is started: {ended:?}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(project.left(), [""; 0]);
}
