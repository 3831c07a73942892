use interlocking_worktree::{Configuration, CreateError, FastForwardError, Force, Repository};

use crate::judge::{Place, author, branch, run, write};

/// Eight threads create, commit, list and remove at once; every second thread has a handle of its own.
#[test]
fn eight_threads_work_side_by_side() {
    const ROUNDS: usize = 4;
    let place = Place::new();
    let start = place.main();
    let before = place.snapshot();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let place = &place;
            scope.spawn(move || {
                let repository = if thread % 2 == 0 {
                    place.repository.clone()
                } else {
                    Repository::open_with(place.project(), Configuration::RepositoryOnly).unwrap()
                };
                for round in 0..ROUNDS {
                    let name = format!("agent-{thread}-{round}");
                    let at = place.path().join("run").join(&name);
                    let worktree = repository.create_worktree(at, branch(&name), start).unwrap();
                    write(&worktree.path().join("result.txt"), &name);
                    let head = worktree.commit_all(&author(), &name).unwrap().unwrap();
                    assert!(worktree.is_clean().unwrap());
                    let listed = repository.worktrees().unwrap();
                    assert!(listed.iter().any(|entry| entry.name == name && entry.head == Some(head)));
                    repository.remove_worktree(&worktree, Force::No).unwrap().delete().unwrap();
                    repository.delete_branch(&branch(&name), head).unwrap();
                }
            });
        }
    });
    std::fs::remove_dir(place.path().join("run")).unwrap();
    assert_eq!(place.snapshot(), before);
    place.assert_git_agrees();
}

#[test]
fn of_eight_threads_that_want_one_branch_one_gets_it() {
    let place = Place::new();
    let start = place.main();
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let place = &place;
                scope.spawn(move || {
                    let at = place.path().join(format!("run/{thread}"));
                    place.repository.create_worktree(at, branch("wanted"), start)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let refused = results.iter().filter(|result| matches!(result, Err(CreateError::BranchExists { .. })));
    assert_eq!(refused.count(), 7);
    assert_eq!(place.repository.worktrees().unwrap().len(), 1);
    place.assert_git_agrees();
}

/// Each thread advances the same branch from where it saw it, and reads it again if it was too late.
#[test]
fn compare_and_swap_loses_no_commit() {
    const EACH: usize = 4;
    let place = Place::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let name = format!("agent-{thread}");
                let worktree = place.worktree(&name);
                for round in 0..EACH {
                    write(&worktree.path().join(format!("{name}-{round}.txt")), "x\n");
                    let base = worktree.head().unwrap();
                    let mut commit = worktree.commit_all(&author(), &format!("{name} {round}")).unwrap().unwrap();
                    let mut base = base;
                    loop {
                        let seen = place.main();
                        if seen != base {
                            // Onto the current commit of main.
                            worktree.reset_to(seen).unwrap();
                            commit = worktree.cherry_pick(base..commit, &author()).unwrap()[0];
                            base = seen;
                        }
                        match place.repository.fast_forward(&branch("main"), commit, seen) {
                            Ok(()) => break,
                            Err(FastForwardError::Moved { .. }) => {}
                            Err(other) => panic!("{other}"),
                        }
                    }
                }
            });
        }
    });
    assert_eq!(place.git(&["rev-list", "--count", "main"]), (1 + 4 * EACH).to_string());
    assert_eq!(place.git(&["ls-files", "agent-*"]).lines().count(), 4 * EACH);
    place.assert_git_agrees();
}

/// The git program does not take this crate's lock, and reads and writes the same list.
#[test]
fn the_git_program_works_beside_us() {
    let place = Place::new();
    let start = place.main();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..12 {
                let name = format!("git-{round}");
                let at = place.path().join(&name);
                let at = at.to_str().unwrap();
                // Git may fail at a half-written entry; then it is run again.
                let arguments = ["worktree", "add", "--quiet", "--force", "-B", &name, at];
                while !run(&place.project(), &arguments).status.success() {}
                while !run(&place.project(), &["worktree", "remove", at]).status.success() {}
            }
        });
        scope.spawn(|| {
            for round in 0..12 {
                let name = format!("ours-{round}");
                let worktree = place.worktree_from(&name, start);
                write(&worktree.path().join("new.txt"), &name);
                let head = worktree.commit_all(&author(), &name).unwrap().unwrap();
                place.repository.worktrees().unwrap();
                place.repository.remove_worktree(&worktree, Force::No).unwrap().delete().unwrap();
                place.repository.delete_branch(&branch(&name), head).unwrap();
            }
        });
    });
    assert_eq!(place.repository.worktrees().unwrap(), []);
    place.assert_git_agrees();
}

/// The handles are `Send` and `Sync`.
#[test]
fn handles_are_send_and_sync() {
    fn check<T: Send + Sync + Clone + 'static>() {}
    check::<Repository>();
    check::<interlocking_worktree::Worktree>();
}
