//! A process is killed, as by `kill -9`, at every step of every operation: git accepts what it leaves, and the next
//! call recovers it.

use std::{
    collections::BTreeSet,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::Child,
    sync::atomic::{AtomicUsize, Ordering},
};

use interlocking_worktree::{BranchName, CommitId, Configuration, FastForwardError, Force, Pool, Repository};

use crate::{
    judge::{Place, author, branch, commit_with_git, git_in, run, text, write},
    processes::start,
};

const OPERATIONS: [&str; 8] = ["create", "create-apart", "commit", "merge", "forward", "remove", "retire", "recycle"];

/// Runs one operation in a process of its own, which kills itself at the step that the environment names. Run by
/// itself, it runs each operation once and checks that it has steps.
#[test]
fn victim() {
    let order = |name: &str| std::env::var(name).ok();
    if let (Some(project), Some(operation), Some(step)) =
        (order("WORKER_PROJECT"), order("VICTIM_OPERATION"), order("VICTIM_STEP"))
    {
        act(Path::new(&project), &operation, step.parse().unwrap()).unwrap();
        return;
    }
    for operation in OPERATIONS {
        let scene = Scene::of(operation);
        kill_at(0);
        act(&scene.place.project(), operation, 0).unwrap();
        assert!(REACHED.load(Ordering::Relaxed) >= 5, "{operation}");
        scene.assert_recovered(operation);
    }
}

/// The number of the step at which this process is killed; zero for none.
static FATAL: AtomicUsize = AtomicUsize::new(0);
/// How many steps this process has reached since the last [`kill_at`].
static REACHED: AtomicUsize = AtomicUsize::new(0);

/// Counts steps from now on, and kills this process at the step with this number, counted from one; at none if it is zero.
fn kill_at(step: usize) {
    REACHED.store(0, Ordering::Relaxed);
    FATAL.store(step, Ordering::Relaxed);
    interlocking_worktree::observe_steps(|_| {
        if REACHED.fetch_add(1, Ordering::Relaxed) + 1 == FATAL.load(Ordering::Relaxed) {
            // Like `kill -9`: nothing is dropped or flushed.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    });
}

/// A repository for the operations: `work` has a commit and an uncommitted file, `side` has one more commit than main,
/// and the pool has a worktree.
struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Self {
        let place = Place::with_files(&[
            (".gitignore", "*.log\n"),
            ("a.txt", "a\n"),
            ("b.txt", "b\n"),
            ("dir/c.txt", "c\n"),
            ("gone.txt", "gone\n"),
            ("tree/deep/f.txt", "f\n"),
            ("file", "file\n"),
        ]);
        place.worktree("work");
        let side = place.worktree("side");
        std::fs::remove_file(side.path().join("gone.txt")).unwrap();
        // A directory becomes a file, and a file becomes a directory.
        std::fs::remove_dir_all(side.path().join("tree")).unwrap();
        std::fs::remove_file(side.path().join("file")).unwrap();
        write(&side.path().join("tree"), "tree\n");
        write(&side.path().join("file/deep/e.txt"), "e\n");
        commit_with_git(side.path(), &[("a.txt", "side\n"), ("new/d.txt", "d\n"), ("dir/c.txt", "side c\n")], "side");
        let pool = pool_of(&place.repository, &place.project());
        for (name, waits) in [("pooled", true), ("own", false)] {
            let worktree =
                pool.create_worktree(place.path().join("run").join(name), branch(name), place.main()).unwrap();
            if waits {
                assert!(pool.retire(&worktree, Force::No).unwrap().clean().unwrap());
            }
        }
        // The user's own files in their working tree.
        write(&place.project().join("untracked.txt"), "mine\n");
        write(&place.project().join("debug.log"), "mine\n");
        Self { place }
    }

    /// The repository in which an operation is tried.
    fn of(operation: &str) -> Self {
        let scene = Self::new();
        if operation == "create-apart" {
            scene.place.git(&["config", "extensions.worktreeConfig", "true"]);
        }
        scene
    }

    fn victim(&self, operation: &str, step: usize) -> Child {
        let orders = [("VICTIM_OPERATION", operation), ("VICTIM_STEP", &step.to_string())];
        start("kills::victim", &self.place.project(), &orders)
    }

    /// Right after the kill, with nothing recovered.
    fn assert_git_accepts(&self, context: &str) {
        let project = self.place.project();
        let commands: [&[&str]; 3] =
            [&["fsck", "--strict", "--no-dangling"], &["status", "--porcelain"], &["worktree", "list", "--porcelain"]];
        for command in commands {
            let output = run(&project, command);
            assert!(output.status.success(), "{context}: git {command:?}: {}", text(&output.stderr));
        }
    }

    /// After the next call, nothing is locked, there are no leftovers, and no uncommitted work is touched.
    fn assert_recovered(&self, context: &str) {
        let project = self.place.project();
        let left: Vec<_> = locks_and_leftovers(self.place.path());
        assert_eq!(left, Vec::<PathBuf>::new(), "{context}");
        assert_eq!(std::fs::read_to_string(project.join("untracked.txt")).unwrap(), "mine\n", "{context}");
        assert_eq!(std::fs::read_to_string(project.join("debug.log")).unwrap(), "mine\n", "{context}");
        assert_eq!(git_in(&project, &["status", "--porcelain"]), "?? untracked.txt", "{context}");
        for entry in self.place.repository.worktrees().unwrap() {
            assert_eq!((entry.locked, entry.is_missing), (None, false), "{context}: {}", entry.name);
            let status = git_in(&entry.path, &["status", "--porcelain"]);
            assert!(["", "?? new.txt"].contains(&status.as_str()), "{context}: {}: {status}", entry.name);
        }
    }
}

fn pool_of(repository: &Repository, project: &Path) -> Pool {
    Pool::open(repository, project.with_file_name("pool"), 2).unwrap()
}

/// Git's locks, half-made files of this crate, and trash.
fn locks_and_leftovers(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_kept = ["registration.lock", "debug.log"].contains(&name.as_str());
        let endings = [".lock", ".note", ".draft", ".entry"];
        let is_leftover = endings.iter().any(|ending| name.ends_with(ending))
            || name.contains(".held")
            || name.starts_with(".interlocking-removed");
        if is_leftover && !is_kept {
            found.push(path.clone());
        }
        if path.is_dir() && !path.is_symlink() {
            found.extend(locks_and_leftovers(&path));
        }
    }
    found
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Runs the operation. If it is run again after a kill, it continues from what it finds.
fn act(project: &Path, operation: &str, step: usize) -> Outcome {
    let repository = Repository::open_with(project, Configuration::RepositoryOnly)?;
    let run = project.with_file_name("run");
    let side = repository.branch_head(&branch("side"))?.ok_or("no side")?;
    let pool = pool_of(&repository, project);
    let main: CommitId = repository.resolve("main")?;
    if operation == "commit" {
        std::fs::write(run.join("work/new.txt"), "new\n")?;
    }
    // The count is the process's, and other tests of this process run operations to their end.
    if step > 0 {
        kill_at(step);
    }
    match operation {
        "create" | "create-apart" => drop(repository.create_worktree(run.join("made/one"), branch("made"), side)?),
        "recycle" => drop(pool.create_worktree(run.join("made/one"), branch("made"), side)?),
        "commit" => drop(repository.open_worktree(run.join("work"))?.commit_all(&author(), "new")?),
        "merge" => drop(repository.open_worktree(run.join("work"))?.merge(side, &author(), "merge")?),
        "forward" => repository.fast_forward(&branch("main"), side, main)?,
        "remove" => repository.remove_worktree(&repository.open_worktree(run.join("own"))?, Force::No)?.delete()?,
        "retire" => drop(pool.retire(&repository.open_worktree(run.join("own"))?, Force::No)?.clean()?),
        other => return Err(other.into()),
    }
    Ok(())
}

/// Whether the operation was complete when its process was killed; otherwise everything is as before it.
fn is_done(scene: &Scene, operation: &str, before: &Before) -> bool {
    let repository = &scene.place.repository;
    let head = |name: &str| repository.branch_head(&branch(name)).unwrap();
    let run = scene.place.path().join("run");
    match operation {
        "create" | "create-apart" | "recycle" => {
            let is_there = run.join("made/one/a.txt").exists();
            assert_eq!(head("made").is_some(), is_there, "branch and worktree together");
            is_there
        }
        "commit" | "merge" => head("work") != before.work,
        "forward" => {
            let is_moved = head("main") != before.main;
            let expected = if is_moved { "side\n" } else { "a\n" };
            assert_eq!(std::fs::read_to_string(scene.place.project().join("a.txt")).unwrap(), expected);
            assert_eq!(scene.place.project().join("gone.txt").exists(), !is_moved);
            is_moved
        }
        "remove" | "retire" => !run.join("own").exists(),
        other => panic!("{other}"),
    }
}

struct Before {
    main: Option<CommitId>,
    work: Option<CommitId>,
}

fn at_every_step(operation: &str) {
    let mut steps = 0;
    loop {
        steps += 1;
        let scene = Scene::of(operation);
        let head = |name: &str| scene.place.repository.branch_head(&BranchName::new(name).unwrap()).unwrap();
        let before = Before { main: head("main"), work: head("work") };
        let status = scene.victim(operation, steps).wait_with_output().unwrap().status;
        if status.success() {
            break;
        }
        assert_eq!(status.signal(), Some(9), "{operation}, step {steps}");
        let context = format!("{operation}, killed at step {steps}");
        scene.assert_git_accepts(&context);
        // Any call of this crate recovers.
        scene.place.repository.worktrees().unwrap();
        pool_of(&scene.place.repository, &scene.place.project());
        scene.assert_recovered(&context);
        if !is_done(&scene, operation, &before) {
            // It can be repeated with the same names and paths.
            if let Err(error) = act(&scene.place.project(), operation, 0) {
                panic!("{context}: {error}");
            }
            assert!(is_done(&scene, operation, &before), "{context}");
            scene.assert_recovered(&context);
        }
        scene.place.assert_sound();
    }
    assert!(steps > 5, "{operation} has but {steps} steps");
}

#[test]
fn while_a_worktree_is_made() {
    at_every_step("create");
}

/// gix makes the worktree, as it does in a repository with sparse checkouts or relative links.
#[test]
fn while_a_worktree_with_its_own_configuration_is_made() {
    at_every_step("create-apart");
}

#[test]
fn while_a_retired_worktree_is_used_again() {
    at_every_step("recycle");
}

#[test]
fn while_a_commit_is_made() {
    at_every_step("commit");
}

#[test]
fn while_a_merge_is_made() {
    at_every_step("merge");
}

#[test]
fn while_main_is_advanced_where_it_is_checked_out() {
    at_every_step("forward");
}

#[test]
fn while_a_worktree_is_removed() {
    at_every_step("remove");
}

#[test]
fn while_a_worktree_is_retired() {
    at_every_step("retire");
}

/// The process is killed not at a step but at any moment, while three hundred files of the user's tree change. Changes
/// that the user makes after the kill stay, too.
#[test]
fn at_any_moment_while_main_is_advanced() {
    let names: Vec<String> = (0..300).map(|file| format!("part{}/file{file}.txt", file % 10)).collect();
    let old: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "old contents\n")).collect();
    let new: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "new contents, and more of them\n")).collect();
    let mut verdicts = BTreeSet::new();
    for round in 0..12_u32 {
        let place = Place::with_files(&old);
        commit_with_git(place.worktree("side").path(), &new, "side");
        write(&place.project().join("untracked.txt"), "mine\n");
        let (main, side) = (place.main(), place.repository.branch_head(&branch("side")).unwrap().unwrap());
        let orders = [("VICTIM_OPERATION", "forward"), ("VICTIM_STEP", "0")];
        let mut victim = start("kills::victim", &place.project(), &orders);
        // The operation has begun once it has locked the index; the kill comes later each time.
        let lock = place.project().join(".git/index.lock");
        while !lock.exists() && victim.try_wait().unwrap().is_none() {}
        std::thread::sleep(std::time::Duration::from_micros(u64::from(round) * 1_400));
        victim.kill().unwrap();
        victim.wait().unwrap();
        let was_locked = lock.exists();
        assert!(run(&place.project(), &["status", "--porcelain"]).status.success());
        // The user continues to work in a file that may or may not have been changed.
        let theirs = format!("part{}/file{}.txt", round % 10, round);
        write(&place.project().join(&theirs), "the user's\n");

        place.repository.recover().unwrap();
        assert!(!lock.exists());
        assert_eq!(std::fs::read_to_string(place.project().join(&theirs)).unwrap(), "the user's\n");
        assert_eq!(std::fs::read_to_string(place.project().join("untracked.txt")).unwrap(), "mine\n");
        let status = git_in(&place.project(), &["status", "--porcelain"]);
        assert_eq!(status, format!(" M {theirs}\n?? untracked.txt"), "round {round}");
        verdicts.insert((was_locked, place.main() == side));
        if place.main() == main {
            let refused = place.repository.fast_forward(&branch("main"), side, main).unwrap_err();
            assert!(matches!(refused, FastForwardError::CheckedOut { .. }), "{refused}");
            git_in(&place.project(), &["checkout", "--", &theirs]);
            place.repository.fast_forward(&branch("main"), side, main).unwrap();
        }
        place.assert_sound();
    }
    assert!(verdicts.contains(&(true, false)), "killed amid the change at least once: {verdicts:?}");
}

/// After a kill, the user removes the worktree by git's own means, or collects as garbage what was to be written.
#[test]
fn what_is_gone_since_a_kill_is_in_the_way_of_no_later_operation() {
    for operation in ["commit", "merge"] {
        for step in 1.. {
            let scene = Scene::of(operation);
            if scene.victim(operation, step).wait_with_output().unwrap().status.success() {
                assert!(step > 5, "{operation}");
                break;
            }
            scene.place.git(&["worktree", "remove", "--force", "../run/work"]);
            if let Err(error) = scene.place.repository.recover() {
                panic!("{operation}, killed at step {step}: {error}");
            }
            scene.assert_recovered(&format!("{operation}, killed at step {step}"));
        }
    }
    let scene = Scene::new();
    let main = scene.place.main();
    let side = scene.place.repository.branch_head(&branch("side")).unwrap().unwrap();
    act_until(&scene, || !scene.place.project().join("gone.txt").exists());
    scene.place.git(&["worktree", "remove", "--force", "../run/side"]);
    scene.place.git(&["branch", "--quiet", "-D", "side"]);
    scene.place.git(&["prune", "--expire=now"]);
    assert!(!run(&scene.place.project(), &["cat-file", "-e", &side.to_string()]).status.success());
    scene.place.repository.recover().unwrap();
    assert_eq!((scene.place.main(), locks_and_leftovers(scene.place.path())), (main, Vec::new()));
    assert!(
        git_in(&scene.place.project(), &["status", "--porcelain"]).contains("D gone.txt"),
        "files stay as they are"
    );
}

/// A lock without proof of ownership counts as another program's.
#[test]
fn a_lock_of_somebody_elses_is_respected() {
    let scene = Scene::new();
    let lock = scene.place.project().join(".git/index.lock");
    let main = scene.place.main();
    let side = scene.place.repository.branch_head(&branch("side")).unwrap().unwrap();
    // This crate's lock was left, deleted by hand, and another program took its own.
    let steps = act_until(&scene, || lock.exists());
    assert!(lock.exists(), "killed at step {steps}");
    std::fs::remove_file(&lock).unwrap();
    write(&lock, "theirs");
    scene.place.repository.recover().unwrap();
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "theirs");
    let refused = scene.place.repository.fast_forward(&branch("main"), side, main).unwrap_err();
    assert!(refused.to_string().contains("index.lock"), "{refused}");
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "theirs");
    std::fs::remove_file(&lock).unwrap();
    scene.place.repository.fast_forward(&branch("main"), side, main).unwrap();
    scene.assert_recovered("a foreign lock");
}

/// Kills a fast-forward of main at the first step at which this is so.
fn act_until(scene: &Scene, is_so: impl Fn() -> bool) -> usize {
    (1..100)
        .find(|step| {
            scene.victim("forward", *step).wait_with_output().unwrap();
            is_so()
        })
        .unwrap()
}
