//! Branches whose names the program chooses (SAW-25).

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::{Event, EventKind, Journal, MemoryJournal};
use interlocking::workspaces::GitWorkspaces;
use interlocking::worktree::{BranchName, CommitId};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// A wave of agents, each with a branch that has a descriptive name.
#[derive(Graph)]
#[graph(output = ())]
struct Wave {
    #[node(entry, input = Vec<String>, map = Agent, goto(exit), workspace = "wave")]
    agents: MapNode<Agents>,
}

#[derive(Graph)]
#[graph(output = CommitId)]
struct Agent {
    #[node(entry, input = String, goto(exit), workspace = "own")]
    work: LogicNode<Work>,
}

held!(Wave, Agent);

struct Agents(Arc<Notify>, Option<&'static str>);
impl MapHandler<wave::agents> for Agents {
    fn graph(&self, _: &Cx<'_, wave::agents>) -> Result<Arc<Agent>, NodeError> {
        Ok(Arc::new(Agent { work: LogicNode(Work(self.0.clone(), self.1)) }))
    }
    async fn items(&self, agents: &Vec<String>, _: &mut Cx<'_, wave::agents>) -> Result<Vec<Item<Agent>>, NodeError> {
        Ok(agents.iter().map(|agent| Item::new(agent.clone()).with_key(agent.clone())).collect())
    }
    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Agent>,
        cx: &mut Cx<'_, wave::agents>,
    ) -> Route<wave::agents> {
        for child in children.all().await {
            let commit = child.result?;
            let seen = cx.child_workspaces::<wave::agents>().await?;
            let own = seen.iter().find(|seen| seen.run == child.run).ok_or("it has a workspace")?;
            assert_eq!((own.branch.as_str(), own.head), (&*format!("wave1-agent-{}", child.key), commit));
            cx.worktree().await?.merge(commit, format!("Merge {}", child.key)).await?;
        }
        let head = cx.worktree().await?.head();
        cx.land(head).await?;
        goto!(cx, wave::exit, ())
    }
}

/// Where it is interrupted, if anywhere.
struct Work(Arc<Notify>, Option<&'static str>);
impl LogicHandler<agent::work> for Work {
    async fn run(&self, agent: String, cx: &mut Cx<'_, agent::work>) -> Route<agent::work> {
        let mut worktree = cx.worktree().await?;
        std::fs::write(worktree.path().join(format!("{agent}.txt")), &agent)?;
        let commit = worktree.commit(&agent).await?.ok_or("nothing new")?;
        if self.1 == Some(&agent) {
            self.0.notify_one();
            std::future::pending::<()>().await;
        }
        goto!(cx, agent::exit, commit)
    }
}

fn named(project: &Project) -> GitWorkspaces {
    project.workspaces().with_branch_names(|scope| {
        let key = scope.key.filter(|_| scope.workspace == "own")?;
        // By mistake, two items may get the same name.
        BranchName::new(format!("wave1-agent-{}", key.trim_end_matches('\''))).ok()
    })
}

fn wave(project: &Project, journal: &Arc<dyn Journal>, cut: Option<&'static str>) -> (Run<Wave>, Arc<Notify>) {
    let told = Arc::new(Notify::new());
    let run = Run::new(Wave { agents: MapNode(Agents(told.clone(), cut)) });
    (run.with_workspaces(Arc::new(named(project))).with_journal(journal.clone()), told)
}

/// Runs a wave of these agents until the last of them is at work, and drops the run, as if its process were killed.
async fn cut(project: &Project, journal: &Arc<dyn Journal>, names: &[&'static str]) {
    let (run, told) = wave(project, journal, names.last().copied());
    tokio::select! {
        ended = run.start(agents(names)) => panic!("{ended:?}"),
        () = told.notified() => {}
    }
}

fn agents(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The branches have the chosen names, are found by another process, and are removed with the run.
#[tokio::test]
async fn a_branch_is_called_as_the_program_says() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    cut(&project, &journal, &["a", "b"]).await;
    let branches = project.git(&["branch", "--format=%(refname:short)"]);
    assert!(branches.contains("wave1-agent-b\n") && !branches.contains("/own"), "{branches}");
    let ended = wave(&project, &journal, None).0.resume().await.unwrap();
    assert!(matches!(ended.outcome, Outcome::Finished(())), "{:?}", ended.outcome);
    assert_eq!(project.git(&["ls-tree", "--name-only", "main"]), ".gitignore\nREADME.md\na.txt\nb.txt\n");
    // CON-153: the journal did not have the commit of the handler that was interrupted.
    assert!(project.archived().contains(&"run/wave1-agent-b".to_owned()));
    assert_eq!(project.left(), [""; 0]);
}

/// The directory of the runs is a temporary one, which the system has cleared.
#[tokio::test]
async fn a_run_finds_its_branches_without_its_directory() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    cut(&project, &journal, &["b"]).await;
    drop(project.leftover_run().await);
    std::fs::remove_dir_all(project.runs()).unwrap();
    let found = project.workspaces().leftover_of(&RunId::DEFAULT).await.unwrap().unwrap();
    let branches: Vec<_> = found.branches().iter().map(|(branch, _)| branch.to_string()).collect();
    assert_eq!(branches, ["run/wave", "wave1-agent-b"]);
    drop(found);
    let ended = wave(&project, &journal, None).0.resume().await.unwrap();
    assert!(matches!(ended.outcome, Outcome::Finished(())), "{:?}", ended.outcome);
    assert_eq!((project.left(), project.archived()), (vec![], vec!["run/wave1-agent-b".to_owned()]));
    assert!(!project.root().join(".git/interlocking/branches/run").exists());
}

/// A program that can write to the repository can change what is noted there.
#[tokio::test]
async fn a_note_that_names_a_foreign_directory_or_the_target_does_not_count() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    cut(&project, &journal, &["a"]).await;
    drop(project.leftover_run().await);
    let (notes, victim) =
        (project.root().join(".git/interlocking/branches/run"), project.root().with_file_name("victim"));
    assert!(std::fs::read_to_string(&notes).unwrap().ends_with("/own wave1-agent-a\n"));
    std::fs::create_dir(&victim).unwrap();
    std::fs::write(&notes, "wave/../../../victim wave1-agent-a\nwave main\n").unwrap();
    let found = project.workspaces().leftover_of(&RunId::DEFAULT).await.unwrap().unwrap();
    assert_eq!(found.branches().len(), 1, "{found:?}");
    drop(found);
    // The workspace is made again.
    let work = std::fs::read_dir(project.runs().join("run")).unwrap().map(|entry| entry.unwrap().path());
    work.filter(|path| path.join("own").exists()).for_each(|path| std::fs::remove_dir_all(path).unwrap());
    let ended = wave(&project, &journal, None).0.resume().await.unwrap();
    let Outcome::Failed(failure) = ended.outcome else { panic!("{:?}", ended.outcome) };
    assert!(failure.message.contains("is taken by a branch that this run did not make"), "{failure}");
    assert!(victim.exists());
    assert_eq!(project.left(), ["wave1-agent-a"]);
}

/// What is left of a killed run includes its branches, whatever their names are.
#[tokio::test]
async fn what_is_left_has_branches_of_any_name() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    cut(&project, &journal, &["a"]).await;
    // A new run of the same name is refused.
    let fresh: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let refused = wave(&project, &fresh, None).0.start(agents(&["c"])).await.unwrap_err();
    assert!(refused.to_string().contains("the run's name is taken: there is a branch "), "{refused}");
    let left = project.leftover_run().await;
    let branches: Vec<_> = left.branches().iter().map(|(branch, _)| branch.to_string()).collect();
    assert_eq!(branches, ["run/wave", "wave1-agent-a"]);
    left.remove().await.unwrap();
    assert_eq!((project.left(), project.archived()), (vec![], vec!["run/wave1-agent-a".to_owned()]));
}

/// A branch's name may be so long that no suffix can be added.
#[tokio::test]
async fn what_a_branch_of_the_longest_name_has_is_kept() {
    const LONGEST: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    assert!(BranchName::new(format!("wave1-agent-{LONGEST}")).is_ok());
    assert!(BranchName::new(format!("wave1-agent-{LONGEST}a")).is_err());
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let (run, told) = wave(&project, &journal, Some(LONGEST));
    tokio::select! {
        ended = run.start(agents(&[LONGEST])) => panic!("{ended:?}"),
        () = told.notified() => {}
    }
    let left = project.leftover_run().await;
    let (_, head) = left.branches().iter().find(|(branch, _)| branch.as_str().ends_with(LONGEST)).unwrap().clone();
    left.remove().await.unwrap();
    let archived = project.repository().archived().unwrap();
    let archived: Vec<_> = archived.iter().map(|(name, commit)| (name.as_str(), *commit)).collect();
    assert_eq!((project.left(), archived), (vec![], vec![(&*format!("run/{head}"), head)]));
}

/// A branch of another program is not touched: the node fails.
#[tokio::test]
async fn a_name_that_is_taken_is_refused() {
    let project = Project::new();
    project.git(&["branch", "wave1-agent-a"]);
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let ended = wave(&project, &journal, None).0.start(agents(&["a", "b"])).await.unwrap();
    let Outcome::Failed(failure) = ended.outcome else { panic!("{:?}", ended.outcome) };
    assert!(
        failure.message.contains(&format!(
            "the branch wave1-agent-a, as `GitWorkspaces::with_branch_names` calls it, is taken by a branch that this run did not make, at {}: choose another \
             name, or have that branch removed",
            project.begin
        )),
        "{failure}"
    );
    assert_eq!(project.left(), ["wave1-agent-a"]);
    assert_eq!(project.repository().resolve("wave1-agent-a").unwrap(), project.begin);
    // A branch of another workspace of the run is not touched either.
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let ended = wave(&project, &journal, None).0.start(agents(&["a", "a'"])).await.unwrap();
    let Outcome::Failed(failure) = ended.outcome else { panic!("{:?}", ended.outcome) };
    assert!(failure.message.contains("is taken by workspace `"), "{failure}");
    assert_eq!(project.left(), [""; 0]);
}

/// Worktrees of children are removed when the children end, or stay until the root run ends.
#[tokio::test]
async fn worktrees_of_children_stay_if_the_program_says_so() {
    for (stay, expected) in [(false, 1), (true, 3)] {
        let project = Project::new();
        let workspaces = if stay { named(&project).with_children_kept() } else { named(&project) };
        let (repository, seen) = (project.repository(), Arc::new(AtomicUsize::new(0)));
        let sees = seen.clone();
        let look = move |event: Event| {
            if matches!(&event.kind, EventKind::NodeFinished { node, .. } if node.node == *"agents") {
                sees.store(repository.worktrees().unwrap().len(), Ordering::SeqCst);
            }
        };
        let run =
            Run::new(Wave { agents: MapNode(Agents(Arc::default(), None)) }).with_workspaces(Arc::new(workspaces));
        let ended = run.with_events(Arc::new(look)).start(agents(&["a", "b"])).await.unwrap();
        assert!(matches!(ended.outcome, Outcome::Finished(())), "{:?}", ended.outcome);
        assert_eq!(seen.load(Ordering::SeqCst), expected);
        assert_eq!((project.left(), project.archived()), (vec![], vec![]));
    }
}
