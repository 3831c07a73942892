//! The library starts no programs of its own: every operation works where no program can be found.

use std::process::Command;

use interlocking_worktree::{BranchName, Configuration, Force, Repository, Signature};

/// The variable that is set in the process without programs.
const ALONE: &str = "INTERLOCKING_TEST_ALONE";

#[test]
fn everything_works_where_no_program_can_be_found() {
    if std::env::var_os(ALONE).is_some() {
        return work_alone();
    }
    let nothing = tempfile::tempdir().unwrap();
    let name = "without_git::everything_works_where_no_program_can_be_found";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--test-threads=1"])
        .env(ALONE, "1")
        .env("PATH", nothing.path())
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && report.contains("1 passed"), "{report}");
}

fn work_alone() {
    assert!(Command::new("git").arg("--version").output().is_err(), "there is a git after all");
    let place = tempfile::tempdir().unwrap();
    let by = Signature::new("Ada", "ada@example.org").unwrap();
    let branch = |name: &str| BranchName::new(name).unwrap();
    for configuration in [Configuration::All, Configuration::RepositoryOnly] {
        let root = place.path().join(format!("{configuration:?}"));
        let repository = Repository::init_with(root.join("project"), configuration).unwrap();
        let user = repository.main_worktree().unwrap().unwrap();
        std::fs::write(user.path().join("README.md"), "# Project\n").unwrap();
        let base = user.commit_all(&by, "Begin").unwrap().unwrap();
        let worktrees = ["one", "two"].map(|name| {
            let worktree = repository.create_worktree(root.join(name), branch(name), base).unwrap();
            std::fs::write(worktree.path().join(format!("{name}.txt")), name).unwrap();
            let head = worktree.commit_all(&by, name).unwrap().unwrap();
            (worktree, head)
        });
        let [(one, first), (two, second)] = &worktrees;
        assert!(one.is_clean().unwrap());
        assert_eq!(repository.diff(base, *first).unwrap().len(), 1);
        assert!(repository.unified_diff(base, *first).unwrap().contains("one.txt"));
        let picked = repository.cherry_pick_onto(*first, base..*second, &by).unwrap();
        one.merge(*second, &by, "merged").unwrap().unwrap();
        two.rebase(base, *first, &by).unwrap();
        two.reset_to(base).unwrap();
        two.cherry_pick(base..*first, &by).unwrap();
        two.squash_since(base, &by, "squashed").unwrap().unwrap();
        repository.fast_forward(&branch("main"), picked[0], base).unwrap();
        assert!(user.is_clean().unwrap());
        for (worktree, _) in &worktrees {
            repository.remove_worktree(worktree, Force::No).unwrap().delete().unwrap();
        }
        assert_eq!(repository.prune_worktrees().unwrap(), []);
    }
}
