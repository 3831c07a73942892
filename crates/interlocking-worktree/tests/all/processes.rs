//! Several processes at once in one repository.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use interlocking_worktree::{Configuration, Force, Pool, Repository};

use crate::judge::{Place, author, branch, write};

/// The number of processes. There are as many worktrees at once as all processes have threads.
const PROCESSES: usize = 4;
const THREADS: usize = 8;

/// The work of one process: each thread makes a worktree, commits to it and removes it, round after round. The tests
/// below start it with settings in the environment; by itself it runs one round in a repository of its own.
#[test]
fn worker() {
    let order = |name: &str| std::env::var(name).ok();
    match (order("WORKER_PROJECT"), order("WORKER_NAME"), order("WORKER_ROUNDS")) {
        (Some(project), Some(name), Some(rounds)) => {
            work(Path::new(&project), &name, rounds.parse().unwrap(), order("WORKER_POOL").map(PathBuf::from));
        }
        _ => {
            let place = Place::new();
            work(&place.project(), "alone", 1, Some(place.path().join("pool")));
            assert_eq!(place.repository.worktrees().unwrap(), []);
            place.assert_git_agrees();
        }
    }
}

fn work(project: &Path, name: &str, rounds: usize, pool: Option<PathBuf>) {
    let repository = Repository::open_with(project, Configuration::RepositoryOnly).unwrap();
    let start = repository.resolve("main").unwrap();
    let pool = pool.map(|pool| Pool::open(&repository, pool, 8).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (repository, pool) = (&repository, &pool);
            scope.spawn(move || {
                for round in 0..rounds {
                    let name = format!("{name}-{thread}-{round}");
                    let at = project.with_file_name("run").join(&name);
                    let worktree = match pool {
                        Some(pool) => pool.create_worktree(at, branch(&name), start).unwrap(),
                        None => repository.create_worktree(at, branch(&name), start).unwrap(),
                    };
                    write(&worktree.path().join("result.txt"), &name);
                    let head = worktree.commit_all(&author(), &name).unwrap().unwrap();
                    assert_eq!(
                        repository.read_file(head, &crate::judge::path("result.txt")).unwrap(),
                        Some(name.clone().into_bytes())
                    );
                    match pool {
                        Some(pool) => drop(pool.retire(&worktree, Force::No).unwrap().clean().unwrap()),
                        None => repository.remove_worktree(&worktree, Force::No).unwrap().delete().unwrap(),
                    }
                    repository.delete_branch(&branch(&name), head).unwrap();
                }
            });
        }
    });
}

pub(crate) fn start(test: &str, project: &Path, orders: &[(&str, &str)]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("WORKER_PROJECT", project)
        .envs(orders.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn side_by_side(rounds: usize, with_pool: bool) {
    let place = Place::new();
    let before = place.git(&["for-each-ref"]);
    let (rounds, pool) = (rounds.to_string(), place.path().join("pool"));
    let workers: Vec<Child> = (0..PROCESSES)
        .map(|process| {
            let name = format!("process-{process}");
            let mut orders = vec![("WORKER_NAME", name.as_str()), ("WORKER_ROUNDS", rounds.as_str())];
            if with_pool {
                orders.push(("WORKER_POOL", pool.to_str().unwrap()));
            }
            start("processes::worker", &place.project(), &orders)
        })
        .collect();
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        let report = format!("{}{}", crate::judge::text(&output.stdout), crate::judge::text(&output.stderr));
        assert!(output.status.success() && report.contains("1 passed"), "{report}");
    }
    assert_eq!(place.repository.worktrees().unwrap(), []);
    assert_eq!(place.git(&["for-each-ref"]), before);
    assert_eq!(std::fs::read_dir(place.path().join("run")).unwrap().count(), 0);
    assert!(!place.project().join(".git/interlocking/notes").exists(), "nothing is under way");
    place.assert_git_agrees();
}

/// 32 worktrees at once, for 12 rounds. `WORKTREE_ROUNDS=50` is the full test.
#[test]
fn many_worktrees_of_several_processes() {
    let rounds = std::env::var("WORKTREE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    side_by_side(rounds.unwrap_or(12), false);
}

#[test]
fn several_processes_share_a_pool() {
    side_by_side(5, true);
}
