//! The order in which the branches of a wave are merged does not matter.

use crate::project::{Project, git};
use crate::small::{Turn, passing, plan, script, turn};
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::cli::repository::EmbeddedFile;
use interlocking::prelude::*;
use interlocking::worktree::{BranchName, CommitId, Repository, Signature};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use scout_and_wave::graph::SawResult;
use serde_json::json;
use std::path::Path;
use std::process::Command;

const LETTERS: [&str; 3] = ["A", "B", "C"];

/// Three files for each agent.
const FILES: [&str; 9] = ["one/a", "one/b", "c", "one/d", "two/e", "f", "two/g", "h", "i"];

/// All orders of three branches.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// A change of a file.
#[derive(Clone, Copy, Debug)]
enum Change {
    Nothing,
    Append,
    Rewrite,
    Delete,
    Rename,
    MakeExecutable,
}

impl Change {
    fn any() -> impl Strategy<Value = Self> {
        use Change::*;
        prop::sample::select(vec![Nothing, Append, Rewrite, Delete, Rename, MakeExecutable])
    }

    fn command(self, file: &str) -> String {
        match self {
            Self::Nothing => ":".to_owned(),
            Self::Append => format!("echo more >> {file}"),
            Self::Rewrite => format!("echo other > {file}"),
            Self::Delete => format!("rm {file}"),
            Self::Rename => format!("mv {file} {file}.moved"),
            Self::MakeExecutable => format!("chmod +x {file}"),
        }
    }
}

/// The files on `main` at the end, without the document, if the agents A, B and C do the works with these numbers.
async fn tree_of(changes: &[Change], works: [usize; 3]) -> String {
    let files = FILES.map(|path| EmbeddedFile { path, contents: "the same in each\n" });
    let project = Project::of(&files).await;
    let mut plan = plan();
    let wave = plan["waves"][0]["agents"].as_array_mut().unwrap();
    wave.push(wave[0].clone());
    let mut turns = Vec::new();
    for ((letter, work), agent) in LETTERS.into_iter().zip(works).zip(wave) {
        let own = work * 3..work * 3 + 3;
        let moved: Vec<_> = FILES[own.clone()].iter().map(|file| format!("{file}.moved")).collect();
        let made = format!("made/{work}");
        agent["agent"] = json!(letter);
        agent["changes"] = json!(FILES[own.clone()]);
        agent["creates"] = json!([&moved[..], std::slice::from_ref(&made)].concat());
        let done = FILES[own.clone()].iter().zip(&changes[own]).map(|(file, change)| change.command(file));
        let done: Vec<_> = done.chain([self::made(work)]).collect();
        let done: &'static str = Box::leak(done.join(" && ").into_boxed_str());
        let post: &'static str = Box::leak(format!("agent {letter} of wave 1").into_boxed_str());
        let mut turn = Turn { post, actions: vec![vec!["sh", "-c", done], vec!["commit"]], ..turn("A", "") };
        turn.report["worktree"] = json!(format!(".claude/worktrees/wave1-agent-{}", letter.to_lowercase()));
        turn.report["files_created"] = json!([made]);
        turns.push(turn);
    }
    (plan["append_only"], plan["contracts"]) = (json!([]), json!([]));
    let test = TestRun::new(&project, script(&plan, &turns)).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{works:?}: {ended:?}");
    let merges = project.git(&["log", "--merges", "--reverse", "--format=%s", "main"]);
    assert_eq!(merges, "Merge wave1-agent-a\nMerge wave1-agent-b\nMerge wave1-agent-c\n");
    let tree = project.git(&["ls-tree", "-r", "main"]);
    tree.lines().filter(|line| !line.ends_with(DOCUMENT)).map(|line| format!("{line}\n")).collect()
}

/// SAW-50, SAW-86: whatever three agents do to their own files, each of the six orders gives the same files.
#[test]
fn any_order_of_merges_gives_the_same_files() {
    let mut runner = TestRunner::deterministic();
    let any = prop::collection::vec(Change::any(), FILES.len());
    for _ in 0..5 {
        let changes = any.new_tree(&mut runner).unwrap().current();
        let place = tempfile::tempdir().unwrap();
        let repository = begun(&place.path().join("project"));
        let base = repository.resolve("main").unwrap();
        let author = Signature::new("Agent", "agent@example.org").unwrap();
        let works = (0..3).map(|work: usize| {
            let branch = BranchName::new(format!("wave1-agent-{work}")).unwrap();
            let worktree = repository.create_worktree(place.path().join(branch.as_str()), branch, base).unwrap();
            let own = work * 3..work * 3 + 3;
            let done = FILES[own.clone()].iter().zip(&changes[own]).map(|(file, change)| change.command(file));
            let done: Vec<_> = done.chain([made(work)]).collect();
            let ended =
                Command::new("sh").args(["-c", &done.join(" && ")]).current_dir(worktree.path()).status().unwrap();
            assert!(ended.success());
            worktree.commit_all(&author, "work").unwrap().unwrap()
        });
        let works: Vec<CommitId> = works.collect();
        let staging = BranchName::new("staging").unwrap();
        let staging = repository.create_worktree(place.path().join("staging"), staging, base).unwrap();
        let trees = ORDERS.map(|order| {
            staging.reset_to(base).unwrap();
            for work in order {
                staging.merge(works[work], &author, "Merge").unwrap().unwrap();
            }
            git(staging.path(), &["ls-tree", "-r", "HEAD"])
        });
        assert!((0..3).all(|work| trees[0].contains(&format!("made/{work}"))), "{}", trees[0]);
        assert!(trees.iter().all(|tree| *tree == trees[0]), "{changes:?}: {trees:#?}");
    }
}

/// SAW-50: the same for whole runs, whose agents A, B and C do three works in several orders.
#[tokio::test]
async fn whichever_agent_does_which_work_the_run_comes_to_the_same() {
    use Change::*;
    let changes = [Append, Rewrite, Rename, Delete, MakeExecutable, Append, Rename, Nothing, Rewrite];
    let first = tree_of(&changes, ORDERS[0]).await;
    assert!((0..3).all(|work| first.contains(&format!("made/{work}"))), "{first}");
    for works in [ORDERS[3], ORDERS[5]] {
        assert_eq!(tree_of(&changes, works).await, first, "{works:?}");
    }
}

/// The command that creates an agent's file.
fn made(work: usize) -> String {
    format!("mkdir -p made && echo {work} > made/{work}")
}

fn begun(root: &Path) -> Repository {
    let files = FILES.map(|path| EmbeddedFile { path, contents: "the same in each\n" });
    let repository = Repository::init(root).unwrap();
    EmbeddedFile::write_all(&files, root).unwrap();
    let author = Signature::new("A user", "user@example.org").unwrap();
    repository.main_worktree().unwrap().unwrap().commit_all(&author, "Begin").unwrap();
    repository
}
