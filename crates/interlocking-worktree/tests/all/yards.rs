//! The life of a run's worktrees: made ready, cleaned up, kept, found again; and what lies beside them.

use std::{
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use interlocking_worktree::{CopyError, Keep, PlaceName, RunOutcome, Setup, SetupError, Yard, YardError, YardSettings};

use crate::{
    judge::{Place, author, branch, git_in, path, run as git, write},
    processes::start,
};

fn name(name: &str) -> PlaceName {
    PlaceName::new(name).unwrap()
}

fn yard(place: &Place, settings: YardSettings) -> Yard {
    Yard::open(&place.repository, place.path().join("yard"), settings).unwrap()
}

#[test]
fn a_run_leaves_its_branches_and_nothing_else() {
    let place = Place::new();
    for outcome in [RunOutcome::Succeeded, RunOutcome::Failed] {
        let yard = yard(&place, YardSettings::default());
        let run = yard.begin(&name("r1")).unwrap();
        assert!(matches!(yard.begin(&name("r1")), Err(YardError::RunExists { .. })));
        let of = |place: &str| format!("{place}-{outcome:?}");
        let tests = run.create_worktree(&name("tests"), branch(&of("tests")), place.main()).unwrap();
        run.create_worktree(&name("impl"), branch(&of("impl")), place.main()).unwrap();
        write(&tests.path().join("new.rs"), "new\n");
        let head = tests.commit_all(&author(), "new").unwrap().unwrap();
        write(&tests.path().join("left.rs"), "not committed\n");
        assert_eq!(yard.orphans().unwrap().len(), 0, "it lives");
        let end = run.end(outcome).unwrap();
        assert_eq!((end.kept, end.strangers), (vec![], vec![]));
        assert_eq!(place.repository.branch_head(&branch(&of("tests"))).unwrap(), Some(head));
        assert_eq!(place.repository.worktrees().unwrap(), []);
        assert_eq!(std::fs::read_dir(yard.directory()).unwrap().count(), 1, "the marker alone");
        place.assert_git_agrees();
    }
}

#[test]
fn worktrees_are_kept_for_whoever_wants_to_look_at_them() {
    let place = Place::new();
    let cases = [
        (Keep::Never, RunOutcome::Failed, false),
        (Keep::OnFailure, RunOutcome::Succeeded, false),
        (Keep::OnFailure, RunOutcome::Failed, true),
        (Keep::Always, RunOutcome::Succeeded, true),
    ];
    for (number, (keep, outcome, stays)) in cases.into_iter().enumerate() {
        let yard = yard(&place, YardSettings { keep, ..YardSettings::default() });
        let run = yard.begin(&name(&format!("r{number}"))).unwrap();
        let tests = run.create_worktree(&name("tests"), branch(&format!("tests-{number}")), place.main()).unwrap();
        write(&tests.path().join("left.rs"), "to be looked at\n");
        if number == 2 {
            // A run that panics has failed.
            drop(run);
        } else {
            assert_eq!(run.end(outcome).unwrap().kept.is_empty(), !stays);
        }
        assert_eq!(tests.path().join("left.rs").exists(), stays, "{keep:?}, {outcome:?}");
    }
    let yard = yard(&place, YardSettings { pool: 4, ..YardSettings::default() });
    let kept = yard.orphans().unwrap();
    let names: Vec<_> = kept.iter().map(|orphan| (orphan.run().as_str().to_owned(), orphan.is_kept())).collect();
    assert_eq!(names, [("r2".to_owned(), true), ("r3".to_owned(), true)]);
    assert_eq!(kept[0].worktrees()[0].branch, Some(branch("tests-2")));
    for orphan in kept {
        assert_eq!(orphan.remove().unwrap(), Vec::<PathBuf>::new());
    }
    assert_eq!(yard.orphans().unwrap().len(), 0);
    assert_eq!(place.repository.worktrees().unwrap(), []);
    place.assert_git_agrees();
}

/// Makes a worktree in a run and has itself killed; by itself it is a run that ends well.
#[test]
fn runner() {
    let Ok(project) = std::env::var("WORKER_PROJECT") else {
        let place = Place::new();
        let run = yard(&place, YardSettings::default()).begin(&name("r1")).unwrap();
        run.create_worktree(&name("tests"), branch("tests"), place.main()).unwrap();
        assert_eq!(run.end(RunOutcome::Succeeded).unwrap().kept, Vec::<PathBuf>::new());
        return;
    };
    let configuration = interlocking_worktree::Configuration::RepositoryOnly;
    let repository = interlocking_worktree::Repository::open_with(&project, configuration).unwrap();
    let yard = Path::new(&project).with_file_name("yard");
    let yard = Yard::open(&repository, yard, YardSettings { pool: 2, ..YardSettings::default() }).unwrap();
    let run = yard.begin(&name(&std::env::var("WORKER_NAME").unwrap())).unwrap();
    let main = repository.resolve("main").unwrap();
    let own = std::env::var("WORKER_NAME").unwrap();
    let tests = run.create_worktree(&name("tests"), branch(&format!("tests-{own}")), main).unwrap();
    write(&tests.path().join("left.rs"), "of a dead run\n");
    interlocking_worktree::kill_at(1);
    run.create_worktree(&name("impl"), branch(&format!("impl-{own}")), main).unwrap();
}

#[test]
fn runs_of_dead_processes_are_found_and_dealt_with() {
    let place = Place::new();
    for run in ["dead", "died", "gone"] {
        let output = start("yards::runner", &place.project(), &[("WORKER_NAME", run)]).wait_with_output().unwrap();
        assert!(!output.status.success(), "{}", crate::judge::text(&output.stdout));
    }
    let yard = yard(&place, YardSettings { pool: 2, ..YardSettings::default() });
    let alive = yard.begin(&name("alive")).unwrap();
    let mut orphans = yard.orphans().unwrap();
    let names: Vec<_> = orphans.iter().map(|orphan| (orphan.run().to_string(), orphan.is_kept())).collect();
    assert_eq!(names, ["dead", "died", "gone"].map(|run| (run.to_owned(), false)));
    assert_eq!(yard.orphans().unwrap().len(), 0, "somebody deals with them already");
    let (gone, died, dead) = (orphans.remove(2), orphans.remove(1), orphans.remove(0));
    // One is removed, one kept, one left as it is.
    let left = dead.directory().join("tests/left.rs");
    assert_eq!(dead.worktrees().len(), 1);
    assert!(left.exists());
    dead.remove().unwrap();
    assert!(!left.exists() && !yard.directory().join("dead").exists());
    died.keep().unwrap();
    drop(gone);
    let names: Vec<_> =
        yard.orphans().unwrap().iter().map(|orphan| (orphan.run().to_string(), orphan.is_kept())).collect();
    assert_eq!(names, [("died".to_owned(), true), ("gone".to_owned(), false)]);
    assert!(yard.directory().join("died/tests/left.rs").exists());
    alive.end(RunOutcome::Succeeded).unwrap();
    place.assert_sound();
}

#[test]
fn the_setup_command_runs_in_the_new_worktree_with_its_own_environment() {
    let place = Place::new();
    let script = "set -eu; test \"$(cat README.md)\" = '# Project'; pwd > where; env > environment; echo made > out";
    let setup = Setup::new("sh", ["-c", script]).with_variable("PATH", "/usr/bin:/bin").with_variable("TOKEN", "t 1");
    let yard = yard(&place, YardSettings { setup: Some(setup), pool: 1, ..YardSettings::default() });
    let run = yard.begin(&name("r1")).unwrap();
    let tests = run.create_worktree(&name("tests"), branch("tests"), place.main()).unwrap();
    let read = |file: &str| std::fs::read_to_string(tests.path().join(file)).unwrap();
    assert_eq!(read("where").trim(), tests.path().to_str().unwrap());
    let variables: Vec<_> =
        read("environment").lines().map(|line| line.split('=').next().unwrap().to_owned()).collect();
    let given = ["PATH", "TOKEN", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(variables.iter().all(|name| given.contains(&name.as_str())), "{variables:?}");
    assert!(read("environment").contains("TOKEN=t 1"));
    run.end(RunOutcome::Succeeded).unwrap();
}

/// What made it ready is made again: what was copied is as the user has it, whatever an agent wrote there.
#[test]
fn a_worktree_that_is_reset_is_made_ready_again() {
    let place = Place::with_files(&[("README.md", "# Project\n"), (".gitignore", ".env\nbuilt\nnoise\n")]);
    write(&place.project().join(".env"), "TOKEN=1\n");
    let setup = Setup::new("sh", ["-c", "echo built > built"]).with_variable("PATH", "/usr/bin:/bin");
    let settings = YardSettings { setup: Some(setup), copied: vec![path(".env")], ..YardSettings::default() };
    let yard = yard(&place, settings);
    let run = yard.begin(&name("r1")).unwrap();
    let tests = run.create_worktree(&name("tests"), branch("tests"), place.main()).unwrap();
    for file in [".env", "built", "noise", "new.rs"] {
        write(&tests.path().join(file), "the agent's\n");
    }
    run.reset_worktree(&tests, place.main()).unwrap();
    assert_eq!(crate::hostile_files::names_below(tests.path()), [".env", ".git", ".gitignore", "README.md", "built"]);
    let read = |file: &str| std::fs::read_to_string(tests.path().join(file)).unwrap();
    assert_eq!((read(".env").as_str(), read("built").as_str()), ("TOKEN=1\n", "built\n"));
    run.end(RunOutcome::Succeeded).unwrap();
}

#[test]
fn a_setup_command_that_fails_leaves_no_worktree() {
    let place = Place::new();
    let before = place.snapshot();
    let path = ("PATH", "/usr/bin:/bin");
    let failing = Setup::new("sh", ["-c", "echo half; echo why >&2; exit 7"]).with_variable(path.0, path.1);
    let yards = yard(&place, YardSettings { setup: Some(failing), ..YardSettings::default() });
    let run = yards.begin(&name("r1")).unwrap();
    match run.create_worktree(&name("tests"), branch("tests"), place.main()).unwrap_err() {
        YardError::Setup(SetupError::Failed { code, output, error, .. }) => {
            assert_eq!((code, output.as_str(), error.as_str()), (Some(7), "half\n", "why\n"));
        }
        other => panic!("{other}"),
    }
    run.end(RunOutcome::Failed).unwrap();
    let absent = Setup::new("no-such-program", ["x"]);
    let yards = yard(&place, YardSettings { setup: Some(absent), ..YardSettings::default() });
    let run = yards.begin(&name("r2")).unwrap();
    let error = run.create_worktree(&name("tests"), branch("tests"), place.main()).unwrap_err();
    assert!(matches!(error, YardError::Setup(SetupError::NotStarted { .. })), "{error}");
    run.end(RunOutcome::Failed).unwrap();
    std::fs::remove_dir_all(yards.directory()).unwrap();
    assert_eq!(place.snapshot(), before);
    place.assert_git_agrees();
}

#[test]
fn listed_files_are_copied_and_no_others() {
    let place =
        Place::with_files(&[(".gitignore", ".env\nconfig/*.key\n*.link\n"), ("a.txt", "a\n"), ("config/x", "x\n")]);
    write(&place.project().join(".env"), "SECRET=1\n");
    std::fs::set_permissions(place.project().join(".env"), PermissionsExt::from_mode(0o600)).unwrap();
    write(&place.project().join("config/own.key"), "key\n");
    write(&place.project().join("config/other.key"), "other\n");
    write(&place.path().join("outside/passwords"), "outside\n");
    symlink("../outside/passwords", place.project().join("to.link")).unwrap();
    symlink("../outside", place.project().join("directory.link")).unwrap();
    let with = |listed: &[&str]| {
        let copied = listed.iter().map(|listed| path(listed)).collect();
        yard(&place, YardSettings { copied, ..YardSettings::default() }).begin(&name("r1")).unwrap()
    };

    let run = with(&[".env", "config/own.key"]);
    let tests = run.create_worktree(&name("tests"), branch("tests"), place.main()).unwrap();
    assert_eq!(std::fs::read_to_string(tests.path().join(".env")).unwrap(), "SECRET=1\n");
    let mode = std::fs::metadata(tests.path().join(".env")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(tests.path().join("config/own.key").exists() && !tests.path().join("config/other.key").exists());
    assert_eq!(tests.status().unwrap(), []);
    run.end(RunOutcome::Succeeded).unwrap();

    let root = place.project();
    let missing = CopyError::Missing { path: path("config/none.key"), root: root.clone() };
    let link = CopyError::NotAFile { path: path("to.link"), root: root.clone() };
    let through = CopyError::NotAFile { path: path("directory.link/passwords"), root };
    let tracked = CopyError::NotIgnored { path: path("a.txt") };
    for (listed, expected) in
        [("config/none.key", missing), ("to.link", link), ("directory.link/passwords", through), ("a.txt", tracked)]
    {
        let run = with(&[listed]);
        let error = run.create_worktree(&name("more"), branch("more"), place.main()).unwrap_err();
        assert_eq!(error, YardError::Copy(expected));
        run.end(RunOutcome::Failed).unwrap();
        assert_eq!(place.repository.branch_head(&branch("more")).unwrap(), None);
    }
    assert_eq!(place.repository.worktrees().unwrap(), []);
    place.assert_git_agrees();
}

/// Everything outside, and everything in the yard that is not a worktree of the run.
#[test]
fn hostile_layouts_lose_nothing() {
    let place = Place::new();
    let outside = place.path().join("outside");
    write(&outside.join("precious.txt"), "precious\n");
    let yard = yard(&place, YardSettings { pool: 2, ..YardSettings::default() });
    let run = yard.begin(&name("r1")).unwrap();
    let at = run.directory().to_owned();
    let make = |worktree: &str| run.create_worktree(&name(worktree), branch(worktree), place.main()).unwrap();

    // A worktree replaced with a link, one whose link was rewritten, one with a repository and links inside.
    let linked = make("linked");
    std::fs::rename(linked.path(), place.path().join("moved")).unwrap();
    symlink(&outside, linked.path()).unwrap();
    let diverted = make("diverted");
    write(&diverted.path().join(".git"), format!("gitdir: {}\n", place.project().join(".git").display()));
    let full = make("full");
    symlink(&outside, full.path().join("link")).unwrap();
    symlink("/", full.path().join("root")).unwrap();
    symlink("..", full.path().join("up")).unwrap();
    git(full.path(), &["init", "--quiet", "nested"]);
    write(&full.path().join("nested/file"), "x\n");
    std::fs::hard_link(outside.join("precious.txt"), full.path().join("second-name")).unwrap();
    std::fs::set_permissions(full.path().join("nested"), PermissionsExt::from_mode(0o000)).unwrap();

    // In the run's directory and in the yard: another repository, a link, a file; and the user's own repository.
    git(&at, &["init", "--quiet", "strange"]);
    symlink(&outside, at.join("to-outside")).unwrap();
    write(&at.join("notes.txt"), "mine\n");
    write(&yard.directory().join("r9/tests/file"), "no run of ours\n");
    symlink(&outside, yard.directory().join("r8")).unwrap();
    std::fs::create_dir(yard.directory().join("r7")).unwrap();
    symlink(outside.join("precious.txt"), yard.directory().join("r7/.run")).unwrap();

    let error = run.end(RunOutcome::Succeeded).unwrap_err();
    assert!(matches!(error, YardError::Remove(_)), "{error}");
    assert!(!full.path().exists(), "the others are removed all the same");
    let orphans = yard.orphans().unwrap();
    assert_eq!(orphans.len(), 1, "neither the links nor what has no lock of ours");
    for orphan in orphans {
        orphan.remove().unwrap_err();
    }
    let read = |file: PathBuf| std::fs::read_to_string(file).unwrap();
    assert_eq!(read(outside.join("precious.txt")), "precious\n");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(read(at.join("notes.txt")), "mine\n");
    assert_eq!(read(yard.directory().join("r9/tests/file")), "no run of ours\n");
    assert!(at.join("strange/.git").is_dir() && at.join("to-outside").is_symlink());
    assert!(place.path().join("moved/README.md").exists());
    assert!(diverted.path().join("README.md").exists());
    assert!(place.project().join(".git/HEAD").exists());
    place.assert_sound();
}

/// The user moves the repository itself, and other work, into the yard.
#[test]
fn the_users_repository_in_the_yard_is_nobodys_orphan() {
    let place = Place::new();
    let before = yard(&place, YardSettings::default());
    std::mem::forget(before.begin(&name("r1")).unwrap());
    let moved = before.directory().join("r1/project");
    std::fs::rename(place.project(), &moved).unwrap();
    write(&moved.join("untracked.txt"), "mine\n");
    let configuration = interlocking_worktree::Configuration::RepositoryOnly;
    let repository = interlocking_worktree::Repository::open_with(&moved, configuration).unwrap();
    // Its yard is another repository's now, as far as the marker tells.
    let refused = Yard::open(&repository, before.directory(), YardSettings::default()).unwrap_err();
    assert!(matches!(refused, YardError::NotAYard { .. }), "{refused}");
    write(&before.directory().join(".interlocking-yard"), moved.join(".git").to_str().unwrap());
    let yard = Yard::open(&repository, before.directory(), YardSettings::default()).unwrap();
    for orphan in yard.orphans().unwrap() {
        assert_eq!(orphan.remove().unwrap(), std::slice::from_ref(&moved));
    }
    assert_eq!(git_in(&moved, &["status", "--porcelain"]), "?? untracked.txt");
    let run = yard.begin(&name("r2")).unwrap();
    let main = repository.resolve("main").unwrap();
    run.create_worktree(&name("tests"), branch("tests"), main).unwrap();
    run.end(RunOutcome::Succeeded).unwrap();
    assert_eq!(std::fs::read_to_string(moved.join("untracked.txt")).unwrap(), "mine\n");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for bad in ["", "..", "a/b", "/a", "-a", ".pool", "a\nb", "a b", "HEAD"] {
        assert!(PlaceName::new(bad).is_err(), "{bad:?}");
    }
    let place = Place::new();
    for inside in [place.project().join("yard"), place.project().join(".git/yard")] {
        assert!(matches!(Yard::open(&place.repository, inside, YardSettings::default()), Err(YardError::Create(_))));
    }
    let theirs = place.path().join("theirs");
    write(&theirs.join("precious.txt"), "mine\n");
    let refused = Yard::open(&place.repository, &theirs, YardSettings::default()).unwrap_err();
    assert_eq!(refused, YardError::NotAYard { directory: theirs });
}
