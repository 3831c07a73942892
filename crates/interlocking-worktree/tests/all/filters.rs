//! Attributes and filters, and a filter that fails halfway.

use interlocking_worktree::{Configuration, FastForwardError, Repository, SwitchError};

use crate::judge::{Place, author, branch, commit_with_git, git_in, write};

#[test]
fn line_ends_are_converted_as_git_does() {
    let place = Place::with_files(&[("a.txt", "one\ntwo\n"), (".gitattributes", "*.txt text eol=crlf\n")]);
    let worktree = place.worktree("one");
    assert_eq!(std::fs::read_to_string(worktree.path().join("a.txt")).unwrap(), "one\r\ntwo\r\n");
    write(&worktree.path().join("a.txt"), "one\r\nthree\r\n");
    write(&worktree.path().join("b.txt"), "new\r\n");
    let commit = worktree.commit_all(&author(), "ends").unwrap().unwrap();
    assert_eq!(place.git(&["cat-file", "blob", &format!("{commit}:a.txt")]), "one\nthree");
    assert_eq!(place.git(&["cat-file", "blob", &format!("{commit}:b.txt")]), "new");
    place.git(&["reset", "--quiet", "--hard"]);
    place.repository.fast_forward(&branch("main"), commit, place.main()).unwrap();
    assert_eq!(std::fs::read_to_string(place.project().join("b.txt")).unwrap(), "new\r\n");
    place.assert_git_agrees();
}

/// As with git, and with the repository that a git program finds there.
#[test]
fn a_filter_of_a_new_worktree_runs_in_it() {
    let place = Place::with_files(&[(".gitattributes", "*.where filter=where\n"), ("a.where", "a\n")]);
    let smudge = place.script("where", "cat >/dev/null; pwd; git rev-parse --absolute-git-dir");
    place.git(&["config", "filter.where.smudge", &smudge]);
    place.git(&["worktree", "add", "--quiet", "--detach", "../by-git"]);
    for root in [&place.path().join("by-git"), place.worktree("linked").path()] {
        let own = place.project().join(".git/worktrees").join(root.file_name().unwrap());
        let expected = format!("{}\n{}\n", root.display(), own.display());
        assert_eq!(std::fs::read_to_string(root.join("a.where")).unwrap(), expected);
    }
}

/// A worktree and a clone of this crate hold and commit the same bytes as a worktree of git's.
#[test]
fn settings_about_line_ends_are_read_as_git_reads_them() {
    let place = Place::with_files(&[
        ("a.txt", "one\n"),
        ("b.md", "one\n"),
        ("c.md", "one\n"),
        (".gitattributes", "*.md text\n"),
    ]);
    let configuration = place.project().join(".git/config");
    let plain = std::fs::read_to_string(&configuration).unwrap();
    for (number, setting) in
        ["autocrlf", "autocrlf = INPUT", "autocrlf = on", "eol = CRLF", "eol = bogus", "eol"].into_iter().enumerate()
    {
        write(&configuration, format!("{plain}[core]\n\tautocrlf = false\n[core]\n\t{setting}\n"));
        let name = |by: &str| format!("{by}-{number}");
        let by_git = place.path().join(name("git"));
        place.git(&["worktree", "add", "--quiet", "--detach", &by_git.display().to_string()]);
        let linked = place.worktree(&name("linked"));
        let at = place.path().join(name("clone"));
        let clone = place.repository.create_clone(at, &branch("clone"), place.main()).unwrap();
        for worktree in [linked, clone] {
            for file in ["a.txt", "b.md"] {
                let read = |root: &std::path::Path| std::fs::read_to_string(root.join(file)).unwrap();
                assert_eq!(read(worktree.path()), read(&by_git), "{setting} {file}");
            }
            for root in [worktree.path(), &by_git] {
                write(&root.join("a.txt"), "two\r\n");
                write(&root.join("c.md"), "two\r\n");
            }
            worktree.commit_all(&author(), "two").unwrap().unwrap();
            let committed =
                ["a.txt", "c.md"].map(|path| git_in(worktree.path(), &["rev-parse", &format!("HEAD:{path}")]));
            assert_eq!(committed, ["a.txt", "c.md"].map(|path| git_in(&by_git, &["hash-object", path])), "{setting}");
            git_in(&by_git, &["reset", "--quiet", "--hard"]);
        }
    }
}

#[test]
fn an_update_that_fails_half_way_is_undone() {
    let place =
        Place::with_files(&[("a.txt", "a\n"), ("z.txt", "z\n"), (".gitattributes", "*.broken filter=broken\n")]);
    let from = place.main();
    let worktree = place.worktree("feature");
    std::fs::remove_file(worktree.path().join("z.txt")).unwrap();
    let files = [("a.txt", "changed\n"), ("b.broken", "b\n"), ("c/new.txt", "new\n")];
    let to = commit_with_git(worktree.path(), &files, "feature");
    place.git(&["config", "filter.broken.clean", "cat"]);
    place.git(&["config", "filter.broken.smudge", "false"]);
    place.git(&["config", "filter.broken.required", "true"]);
    let before = place.snapshot();
    let error = place.repository.fast_forward(&branch("main"), to, from).unwrap_err();
    match error {
        FastForwardError::CheckedOut { problem: SwitchError::Files { restored, .. }, .. } => assert!(restored),
        other => panic!("{other}"),
    }
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_executable_bit_is_left_alone_where_the_file_system_has_none() {
    let place = Place::new();
    place.git(&["config", "core.fileMode", "false"]);
    let worktree = place.worktree("one");
    let file = worktree.path().join("README.md");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert!(worktree.is_clean().unwrap());
    write(&worktree.path().join("new.sh"), "#!/bin/sh\n");
    std::fs::set_permissions(worktree.path().join("new.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    write(&file, "changed\n");
    worktree.commit_all(&author(), "no bits").unwrap().unwrap();
    let modes = git_in(worktree.path(), &["ls-files", "--format=%(objectmode)"]);
    assert_eq!(modes, "100644\n100644\n100644");
    place.assert_git_agrees();
}

/// A filter stands for another program that changes branches while files are read.
#[test]
fn a_branch_that_is_left_while_a_commit_is_made_is_no_reason_to_move_another() {
    let place = Place::with_files(&[("a.txt", "a\n"), (".gitattributes", "*.switch filter=switch\n")]);
    let worktree = place.worktree("one");
    place.git(&["branch", "other"]);
    let clean = place.script("switch", "git symbolic-ref HEAD refs/heads/other && cat");
    place.git(&["config", "filter.switch.clean", &clean]);
    write(&worktree.path().join("new.switch"), "new\n");
    let error = worktree.commit_all(&author(), "new").unwrap_err();
    assert!(error.to_string().contains("it was on refs/heads/one and is on refs/heads/other now"), "{error}");
    for name in ["one", "other"] {
        assert_eq!(place.repository.branch_head(&branch(name)).unwrap(), Some(place.main()), "{name}");
    }
}

/// A filter stands for another program that keeps the list of worktrees from being locked.
#[test]
fn a_creation_that_cannot_be_undone_is_undone_by_the_next_operation() {
    let place = Place::with_files(&[("a.broken", "a\n"), (".gitattributes", "*.broken filter=broken\n")]);
    let lock = place.project().join(".git/interlocking/registration.lock");
    let smudge = place.script("smudge", &format!("rm '{0}' && mkdir '{0}' && false", lock.display()));
    place.git(&["config", "filter.broken.smudge", &smudge]);
    place.git(&["config", "filter.broken.clean", "cat"]);
    place.git(&["config", "filter.broken.required", "true"]);
    let repository = Repository::open_with(place.project(), Configuration::RepositoryOnly).unwrap();
    let at = place.path().join("run/one");
    let error = repository.create_worktree(&at, branch("one"), place.main()).unwrap_err();
    assert!(error.to_string().contains("writing files in"), "{error}");
    std::fs::remove_dir(lock).unwrap();
    repository.recover().unwrap();
    assert_eq!(repository.branch_head(&branch("one")).unwrap(), None);
    assert!(!at.exists() && repository.worktrees().unwrap().is_empty());
    place.assert_sound();
}
