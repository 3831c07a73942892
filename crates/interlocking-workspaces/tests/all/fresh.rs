//! Fresh checkouts for builds and tests: the files of one commit, and no others.

use crate::project::Project;
use askama::Template;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::{Journal, MemoryJournal, Workspaces};
use interlocking::workspaces::{Checkout, FreshCheckout, GitWorkspacesError};
use interlocking::worktree::{BranchName, CommitId, Configuration, Keep, Repository, RepositoryPath};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Template)]
#[template(source = "Work.", ext = "txt")]
struct WorkPrompt;

/// The same in a worktree and in a clone: each is examined before it is committed, and read where the first node has
/// put its reader.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Trial {
    #[node(entry, input = (), goto(clone), workspace = "plain")]
    plain: LogicNode<Plain>,
    #[node(input = CommitId, prompt = WorkPrompt, output = bool, goto(look), workspace = "cell", isolation = "clone")]
    clone: LLMNode<Cloned>,
    #[node(input = CommitId, goto(exit), workspace = "look", read_only)]
    look: LogicNode<Look>,
}

held!(Trial);

fn path(text: &str) -> RepositoryPath {
    RepositoryPath::new(text).unwrap()
}

fn files_of(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.filter(|name| name != ".git").collect();
    names.sort();
    names
}

/// Changes that git was told to hide are in no checkout. Changes after an examination are not committed.
async fn examined(worktree: &mut Checkout<'_>, project: &Project) -> Result<CommitId, NodeError> {
    let (root, before) = (worktree.path().to_owned(), project.left());
    let unchanged = worktree.examine().await?;
    assert_eq!((unchanged.commit(), files_of(unchanged.path())), (worktree.head(), files_of(&root)));
    std::fs::create_dir(root.join(".cargo"))?;
    std::fs::write(root.join(".cargo/.gitignore"), "*\n")?;
    std::fs::write(root.join(".cargo/config.toml"), "[build]\n")?;
    worktree.write_file(&path("src/code.rs"), "examined\n").await?;
    assert_eq!(worktree.read_file(&path("src/code.rs"), 9).await?.as_deref(), Some(&b"examined\n"[..]));
    assert_eq!(worktree.text(&path("src/code.rs")).await?, Ok(Some("examined\n".to_owned())));
    assert_eq!(worktree.text(&path("src")).await?.unwrap_err().reason, "src is a directory, not a file: delete it");
    let checked_out = worktree.examine().await?;
    assert_eq!(files_of(checked_out.path()), [".gitignore", "README.md", "src"]);
    assert_eq!(checked_out.read_file(&path("src/code.rs"), 9).await?.as_deref(), Some(&b"examined\n"[..]));
    assert_eq!(checked_out.text(&path("src/code.rs")).await?, Ok(Some("examined\n".to_owned())));
    assert_eq!(checked_out.text(&path("src/none.rs")).await?, Ok(None));
    assert_ne!(checked_out.path(), unchanged.path());
    assert_eq!(project.left(), before, "no branch and no worktree is made for it");

    // Builds identify a project by its path.
    let (examined, first) = (checked_out.commit(), checked_out.path().to_owned());
    drop(checked_out);
    assert!(!first.exists());
    assert_eq!(worktree.examine().await?.path(), first);
    // As left by a killed process.
    std::fs::create_dir_all(&first)?;
    std::fs::write(first.join("left.rs"), "left")?;
    assert_eq!(files_of(worktree.examine().await?.path()), [".gitignore", "README.md", "src"]);

    let at = worktree.head();
    worktree.write_file(&path("src/code.rs"), "something else\n").await?;
    let error = worktree.commit_examined(examined, "Code").await.unwrap_err();
    let GitWorkspacesError::ChangedMeanwhile { path: changed, .. } = &error else { panic!("{error}") };
    assert_eq!((changed.to_string(), worktree.head()), ("src/code.rs".to_owned(), at));
    worktree.write_file(&path("src/code.rs"), "examined\n").await?;
    let commit = worktree.commit_examined(examined, "Code").await?.ok_or("nothing new")?;
    assert_eq!(worktree.head(), commit);
    Ok(commit)
}

/// What the first node does.
#[derive(Clone, Copy, PartialEq)]
enum First {
    Examines,
    /// Forges an object before it checks a commit out.
    Forges,
    /// Drops a checkout while no thread is free to delete it.
    Drops,
}

struct Plain(Arc<Project>, First);
impl LogicHandler<trial::plain> for Plain {
    async fn run(&self, (): (), cx: &mut Cx<'_, trial::plain>) -> Route<trial::plain> {
        if self.1 == First::Drops {
            drop_while_no_thread_is_free(cx.fresh_checkout(self.0.begin).await?).await?;
            return Err("dropped".into());
        }
        let first = examined(&mut cx.worktree().await?, &self.0).await?;
        if self.1 == First::Forges {
            forge(&self.0);
            return Err(cx.fresh_checkout(first).await.unwrap_err().into());
        }
        cx.worktree_of("look").await?.reset(first).await?;
        let mut worktree = cx.worktree().await?;
        let marked = worktree.commit_empty("Marked").await?;
        assert_eq!((worktree.head(), worktree.diff_since(first).await?), (marked, vec![]));
        // Independent of where any workspace is.
        let checked_out = cx.fresh_checkout(self.0.begin).await?;
        assert_eq!(files_of(checked_out.path()), [".gitignore", "README.md"]);
        goto!(cx, trial::clone, first)
    }
}

async fn drop_while_no_thread_is_free(checkout: FreshCheckout) -> Result<(), NodeError> {
    let (place, directory) = (checkout.path().to_owned(), checkout.path().parent().unwrap().to_owned());
    let (free, is_free) = std::sync::mpsc::channel::<()>();
    let busy = tokio::task::spawn_blocking(move || is_free.recv().unwrap_err());
    drop(checkout);
    assert!(!place.exists(), "the next checkout can have the place");
    assert_eq!(files_of(&directory).len(), 1, "the files are deleted on another thread");
    drop(free);
    busy.await?;
    let deleted = async {
        while !files_of(&directory).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    Ok(tokio::time::timeout(Duration::from_secs(60), deleted).await?)
}

struct Cloned(Arc<Project>);
impl LLMHandler<trial::clone> for Cloned {
    async fn before<'a>(&'a self, _: &'a CommitId, _: &mut Cx<'_, trial::clone>) -> Ask<WorkPrompt> {
        Ok((WorkPrompt, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, first: CommitId, _: Reply<bool>, cx: &mut Cx<'_, trial::clone>) -> Route<trial::clone> {
        let repository = cx.repository()?;
        let mut worktree = cx.worktree().await?;
        let commit = examined(&mut worktree, &self.0).await?;
        let marked = worktree.commit_empty("Marked").await?;
        assert_eq!(repository.commit(marked)?.parents, [commit], "it has come back");

        // A repository in it stays beside the commit.
        let nested = worktree.path().join("nested");
        Repository::init_with(&nested, Configuration::RepositoryOnly)?;
        worktree.write_file(&path("beside.rs"), "beside\n").await?;
        assert!(worktree.commit("All").await.is_err());
        assert_eq!(worktree.commit_beside_repositories("Beside").await?, [path("nested")]);
        let changes = repository.diff(marked, worktree.head())?;
        assert_eq!(changes.iter().flat_map(|change| change.touched()).collect::<Vec<_>>(), [&path("beside.rs")]);
        std::fs::remove_dir_all(nested)?;
        goto!(cx, trial::look, first)
    }
}

/// Keeps the run's workspaces beyond its end.
type Kept = Arc<Mutex<Option<Arc<dyn Workspaces>>>>;

struct Look(Keep, Kept);
impl LogicHandler<trial::look> for Look {
    async fn run(&self, first: CommitId, cx: &mut Cx<'_, trial::look>) -> Route<trial::look> {
        let worktree = cx.worktree().await?;
        assert_eq!(worktree.head(), first, "where it was put, and not where the others are now");
        assert!(worktree.path().join("src/code.rs").exists());
        let (path, other) = (worktree.path().to_owned(), cx.worktree_of("cell").await?);
        other.retire().await?;
        assert_eq!(path.with_file_name("cell").exists(), self.0 == Keep::Always);
        assert!(cx.repository()?.branch_head(&BranchName::new("run/cell")?)?.is_some(), "until the end");
        // A checkout as a killed process would leave it.
        let checked_out: FreshCheckout = cx.fresh_checkout(first).await?;
        std::mem::forget(checked_out);
        *self.1.lock().unwrap() = Some(cx.workspaces()?);
        goto!(cx, trial::exit, first)
    }
}

fn trial(project: &Arc<Project>, keep: Keep, first: First, kept: &Kept) -> Run<Trial> {
    let agent = ScriptedAgent::new(Script::parse("script", "[[turn]]\noutput_json = 'true'\n").unwrap());
    let graph = Trial {
        plain: LogicNode(Plain(project.clone(), first)),
        clone: LLMNode(Cloned(project.clone())),
        look: LogicNode(Look(keep, kept.clone())),
    };
    Run::new(graph)
        .with_agent_for_others(Arc::new(agent))
        .with_workspaces(Arc::new(project.workspaces().with_keep(keep)))
}

#[tokio::test]
async fn what_is_examined_is_what_is_committed() {
    for keep in [Keep::Never, Keep::Always] {
        let (project, journal): (_, Arc<dyn Journal>) = (Arc::new(Project::new()), Arc::new(MemoryJournal::new()));
        let kept = Kept::default();
        let checkouts = project.workspaces().checkouts_of(&RunId::DEFAULT);
        let ended = trial(&project, keep, First::Examines, &kept).with_journal(journal).start(()).await.unwrap();
        assert!(matches!(ended.outcome, Outcome::Finished(_)), "{:?}", ended.outcome);
        assert!(!checkouts.exists(), "they are not kept");
        assert_eq!(checkouts.parent().unwrap().exists(), keep == Keep::Always);
        let left = project.workspaces().leftover_of(&RunId::DEFAULT).await.unwrap();
        assert_eq!(left.is_some(), keep == Keep::Always, "whoever still holds what the run had, it is over");
        assert!(kept.lock().unwrap().is_some());
    }
}

/// A build may leave many files, and other runs go on while they are deleted.
#[test]
fn a_dropped_checkout_is_deleted_on_another_thread() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    let project = Arc::new(Project::new());
    let run = trial(&project, Keep::Always, First::Drops, &Kept::default());
    let Outcome::Failed(failure) = runtime.block_on(run.start(())).unwrap().outcome else { panic!("it goes on") };
    assert_eq!(failure.message, "dropped");
    assert!(!project.workspaces().checkouts_of(&RunId::DEFAULT).exists());
}

/// A process that can write to the object store can write other contents under an object's id; such contents are not
/// checked out.
#[tokio::test]
async fn an_object_with_other_contents_is_not_checked_out() {
    let project = Arc::new(Project::new());
    let ended = trial(&project, Keep::Never, First::Forges, &Kept::default()).start(()).await.unwrap();
    let Outcome::Failed(failure) = ended.outcome else { panic!("{:?}", ended.outcome) };
    assert!(failure.message.contains("is forged: its contents have the id"), "{failure}");
}

fn forge(project: &Project) {
    let object = |id: &str| project.root().join(".git/objects").join(&id[..2]).join(id[2..].trim());
    let weak = project.root().with_file_name("weak");
    std::fs::write(&weak, "weak\n").unwrap();
    let forged = object(&project.git(&["hash-object", "-w", "--no-filters", weak.to_str().unwrap()]));
    let real = object(&project.git(&["rev-parse", "HEAD:README.md"]));
    std::fs::remove_file(&real).unwrap();
    std::fs::copy(forged, real).unwrap();
}
