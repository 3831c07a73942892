//! What an agent can do to the git directory of its clone.

use std::{
    collections::BTreeMap,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use interlocking_worktree::{
    ChangeKind, CommitError, CommitId, Configuration, OpenCloneError, Refused, Repository, Worktree, WorktreeError,
};

use crate::judge::{Place, author, branch, commit_with_git, git_in, run, write};

/// A clone of the second of three commits.
pub(crate) fn with_clone() -> (Place, Worktree, CommitId) {
    let place = Place::with_files(&[("a.txt", "a\n"), ("src/lib.rs", "lib\n")]);
    commit_with_git(&place.project(), &[("b.txt", "b\n")], "second");
    let base = place.main();
    commit_with_git(&place.project(), &[("later.txt", "later\n")], "later");
    let clone = place.repository.create_clone(place.path().join("run/one"), &branch("one"), base).unwrap();
    (place, clone, base)
}

/// This crate runs no program that the clone's own configuration names, while git itself does.
#[test]
fn the_configuration_of_a_clone_is_not_believed() {
    let (place, clone, base) = with_clone();
    let root = clone.path();
    let ran = place.path().join("ran");
    let command = format!("touch {}; cat", ran.display());
    for key in ["filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "merge.evil.driver", "diff.external"] {
        git_in(root, &["config", key, &command]);
    }
    git_in(root, &["config", "filter.evil.required", "true"]);
    write(&root.join(".git/hooks/pre-commit"), "#!/bin/sh\nfalse\n");
    write(&root.join(".gitattributes"), "* filter=evil merge=evil\n");
    write(&root.join("a.txt"), "changed\n");
    git_in(root, &["add", "a.txt"]);
    assert!(ran.exists(), "git runs the filter");
    std::fs::remove_file(&ran).unwrap();
    write(&root.join("a.txt"), "changed again\n");
    assert!(!clone.is_clean().unwrap());
    let head = clone.commit_all(&author(), "all").unwrap().unwrap();
    clone.reset_to(base).unwrap();
    clone.cherry_pick(base..head, &author()).unwrap();
    place.repository.fetch_from_clone(&clone, base, None).unwrap();
    assert!(!ran.exists());
}

/// How files are compared and converted is the user's to say.
#[test]
fn a_clone_does_not_say_how_its_files_are_compared() {
    let (place, clone, base) = with_clone();
    let root = clone.path();
    let settings = [
        ("core.autocrlf", "true"),
        ("core.checkStat", "minimal"),
        ("core.eol", "crlf"),
        ("core.fileMode", "false"),
        ("core.ignoreCase", "true"),
        ("core.symlinks", "false"),
        ("core.trustCtime", "false"),
    ];
    for (key, value) in settings {
        git_in(root, &["config", key, value]);
    }
    // Another file of the same size and time, which is long before the index was written.
    let written = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let age = |name| std::fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(written).unwrap();
    age("a.txt");
    git_in(root, &["update-index", "--refresh"]);
    write(&root.join("other"), "b\n");
    age("other");
    std::fs::rename(root.join("other"), root.join("a.txt")).unwrap();
    // A mode alone, a link, line endings, and a name that differs only in case.
    let library = root.join("src/lib.rs");
    std::fs::set_permissions(&library, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::remove_file(root.join("b.txt")).unwrap();
    symlink("a.txt", root.join("b.txt")).unwrap();
    write(&root.join("ends.txt"), "one\r\ntwo\r\n");
    write(&root.join("A.txt"), "A\n");
    let expected = [
        ("A.txt", ChangeKind::Untracked),
        ("a.txt", ChangeKind::Modified),
        ("b.txt", ChangeKind::TypeChanged),
        ("ends.txt", ChangeKind::Untracked),
        ("src/lib.rs", ChangeKind::Modified),
    ];
    for clone in [clone.clone(), place.repository.open_clone(root, &branch("one")).unwrap()] {
        let changes = clone.status().unwrap();
        let found: Vec<_> = changes.iter().map(|change| (change.path.to_string(), change.kind)).collect();
        assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
    }
    let head = clone.commit_all(&author(), "all").unwrap().unwrap();
    assert_eq!(run(root, &["show", &format!("{head}:ends.txt")]).stdout, b"one\r\ntwo\r\n");
    assert!(git_in(root, &["ls-tree", "-r", &head.to_string()]).contains("100755 blob"));
    clone.reset_to(base).unwrap();
    clone.reset_to(head).unwrap();
    assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"b\n");
    assert_eq!(std::fs::read(root.join("ends.txt")).unwrap(), b"one\r\ntwo\r\n");
}

/// The files are those of the clone, whatever its configuration says.
#[test]
fn a_clone_cannot_name_other_files_as_its_own() {
    let (place, clone, _base) = with_clone();
    git_in(clone.path(), &["config", "core.worktree", &place.project().display().to_string()]);
    write(&clone.path().join("new.txt"), "new\n");
    let head = clone.commit_all(&author(), "new").unwrap().unwrap();
    assert_eq!(git_in(clone.path(), &["show", "--format=", "--name-only", &head.to_string()]), "new.txt");
    git_in(clone.path(), &["config", "core.bare", "true"]);
    assert!(matches!(clone.status(), Err(WorktreeError::Diverted { .. })));
}

/// Each of these would make this crate write, read or block elsewhere.
#[test]
fn a_git_directory_that_leads_elsewhere_is_refused() {
    let (place, clone, _base) = with_clone();
    let own = clone.path().join(".git");
    let victim = place.project().join(".git");
    let diverted = |what: &str| {
        let error = clone.commit_all(&author(), "x").unwrap_err();
        assert!(matches!(error, CommitError::Worktree(WorktreeError::Diverted { .. })), "{what}: {error}");
        assert!(place.repository.open_clone(clone.path(), &branch("one")).is_err(), "{what}");
    };
    write(&clone.path().join("new.txt"), "new\n");
    let before = place.snapshot();
    for name in ["objects", "refs", "refs/heads", "logs", "info"] {
        let (path, aside) = (own.join(name), place.path().join("aside"));
        std::fs::rename(&path, &aside).unwrap_or_default();
        symlink(victim.join(name), &path).unwrap();
        diverted(name);
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap_or_default();
    }
    std::fs::create_dir_all(own.join("logs")).unwrap();
    symlink(place.path().join("profile"), own.join("logs/HEAD")).unwrap();
    diverted("a log");
    std::fs::remove_file(own.join("logs/HEAD")).unwrap();

    for (name, contents) in [
        ("commondir", victim.display().to_string()),
        ("objects/info/alternates", victim.join("objects").display().to_string()),
        ("config.worktree", "[core]\n".to_owned()),
    ] {
        write(&own.join(name), contents);
        diverted(name);
        std::fs::remove_file(own.join(name)).unwrap();
    }
    let config = std::fs::read(own.join("config")).unwrap();
    write(&own.join("config"), [&config[..], b"[include]\npath = /dev/zero\n"].concat());
    diverted("an include");
    write(&own.join("config"), config);
    assert!(Command::new("mkfifo").arg(own.join("packed-refs")).status().unwrap().success());
    diverted("a pipe");
    std::fs::remove_file(own.join("packed-refs")).unwrap();

    std::fs::rename(&own, place.path().join("aside")).unwrap();
    symlink(&victim, &own).unwrap();
    diverted("the directory");
    std::fs::remove_file(&own).unwrap();
    write(&own, format!("gitdir: {}\n", victim.display()));
    diverted("a file");
    std::fs::remove_file(&own).unwrap();
    std::fs::rename(place.path().join("aside"), &own).unwrap();
    assert_eq!(place.snapshot(), before);
    clone.commit_all(&author(), "in its own again").unwrap().unwrap();
}

/// Every file below these directories, including git's, but not this crate's.
fn files_of<const N: usize>(roots: [&Path; N]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut directories: Vec<PathBuf> = roots.map(Path::to_owned).into();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if !path.is_dir() {
                files.insert(path.clone(), std::fs::read(&path).unwrap());
            } else if !path.ends_with(".git/interlocking") {
                directories.push(path);
            }
        }
    }
    files
}

/// Notes of operations under way are for recovery after a crash. A note that the agent has forged is applied at most to
/// its own clone: nothing outside is unlocked, renamed, deleted or rolled back.
#[test]
fn a_forged_note_reaches_nothing_outside() {
    let (place, clone, base) = with_clone();
    let root = clone.path();
    let outside = place.path().join("outside");
    let trash = outside.join(".interlocking-removed-1-2-3");
    std::fs::create_dir_all(&trash).unwrap();
    write(&trash.join("kept.txt"), "kept\n");
    let lock = outside.join("precious.lock");
    write(&lock, "precious\n");
    let project = place.project();
    write(&project.join("later.txt"), "the user's own, not committed\n");
    let index_lock = project.join(".git/index.lock");
    write(&index_lock, "somebody else's\n");
    let before = files_of([project.as_path(), outside.as_path()]);

    let notes = root.join(".git/interlocking/notes");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::hard_link(&lock, notes.join("1-0-1.held0")).unwrap();
    std::fs::hard_link(&index_lock, notes.join("1-0-1.held1")).unwrap();
    let (git, tree) = (project.join(".git"), git_in(root, &["rev-parse", "HEAD^{tree}"]));
    let clones = root.join(".git");
    let lines = [
        format!("lock\t{}\t0", lock.display()),
        format!("lock\t{}\t1", index_lock.display()),
        format!("lock\t{}/../../../../outside/precious.lock\t0", clones.display()),
        format!("files\t{}\t{}\t{}", project.display(), git.display(), tree.trim()),
        format!("moving\t{}\t{base}", git.display()),
        format!("files\t{}\t{}\t{}", project.display(), clones.display(), tree.trim()),
        format!(
            "remove\t{}\t{}\t{}\t{}",
            outside.join("gone").display(),
            trash.display(),
            clones.join("worktrees/one").display(),
            clones.join(".interlocking-removed-4-5-6").display(),
        ),
        format!("create\t{}\t{}\t\t{base}", outside.display(), clones.join("worktrees/two").display()),
    ];
    for (number, line) in lines.iter().enumerate() {
        write(&notes.join(format!("1-{number}-1.note")), format!("{line}\n"));
        for held in ["held0", "held1"] {
            let _ = std::fs::hard_link(
                notes.join("1-0-1").with_extension(held),
                notes.join(format!("1-{number}-1.{held}")),
            );
        }
    }
    write(&root.join("a.txt"), "changed\n");
    clone.status().unwrap();
    let head = clone.commit_all(&author(), "all").unwrap().unwrap();
    clone.reset_to(base).unwrap();
    clone.cherry_pick(base..head, &author()).unwrap();
    assert_eq!(files_of([project.as_path(), outside.as_path()]), before);
    interlocking_worktree::delete_directory(clone.path()).unwrap();
    assert_eq!(files_of([project.as_path(), outside.as_path()]), before);
}

/// A note of a clone has its files written anew, by a filter of the project that would be the agent's program.
#[test]
fn a_forged_note_runs_no_program_of_an_agent() {
    let (place, clone, _) = with_clone();
    let (root, ran) = (clone.path(), place.path().join("ran"));
    write(&root.join("run.sh"), format!("#!/bin/sh\ntouch {}\ncat\n", ran.display()));
    std::fs::set_permissions(root.join("run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    write(&root.join(".gitattributes"), "* filter=x\n");
    git_in(root, &["add", ".gitattributes"]);
    std::fs::remove_file(root.join("a.txt")).unwrap();
    let (git, lock) = (root.join(".git"), root.join(".git/index.lock"));
    let empty_tree = git_in(root, &["mktree"]);
    let notes = git.join("interlocking/notes");
    std::fs::create_dir_all(&notes).unwrap();
    write(&lock, "");
    std::fs::hard_link(&lock, notes.join("1-0-1.held0")).unwrap();
    let files = format!("files\t{}\t{}\t{}", root.display(), git.display(), empty_tree.trim());
    write(&notes.join("1-0-1.note"), format!("lock\t{}\t0\n{files}\n", lock.display()));

    place.git(&["config", "filter.x.smudge", "./run.sh"]);
    let repository = Repository::open_with(place.project(), Configuration::RepositoryOnly).unwrap();
    let found = repository.open_clone(root, &branch("one"));
    assert!(!ran.exists() && !root.join("a.txt").exists(), "{found:?}");
    let Err(OpenCloneError::Worktree(WorktreeError::Git(error))) = found else { panic!("{found:?}") };
    assert!(matches!(error.reason(), Some(Refused::Program { .. })), "{error}");
}
