use interlocking_worktree::{Configuration, CreateError, Force, InitError, OpenError, OpenWorktreeError, Repository};

use crate::judge::{Place, author, branch, git_in, write};

#[test]
fn a_worktree_is_what_git_would_have_made() {
    let place = Place::new();
    let worktree = place.worktree("tests-r1");

    assert_eq!(worktree.branch(), Some(&branch("tests-r1")));
    assert_eq!(worktree.name(), Some("tests-r1"));
    assert_eq!(worktree.head().unwrap(), place.main());
    assert!(worktree.is_clean().unwrap());
    assert_eq!(std::fs::read_to_string(worktree.path().join("README.md")).unwrap(), "# Project\n");

    let expected = format!(
        "worktree {}\nHEAD {main}\nbranch refs/heads/main\n\nworktree {}\nHEAD {main}\nbranch refs/heads/tests-r1",
        place.project().display(),
        worktree.path().display(),
        main = place.main(),
    );
    assert_eq!(place.git(&["worktree", "list", "--porcelain"]), expected);
    place.assert_git_agrees();

    // The index has the same entries as after git's own checkout.
    git_in(&place.project(), &["worktree", "add", "--quiet", "-b", "other", "../other"]);
    let listing = ["ls-files", "--stage", "--debug"];
    let modes = |root| -> Vec<String> {
        let listed = git_in(root, &listing);
        listed.lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect()
    };
    assert_eq!(modes(worktree.path()), modes(&place.path().join("other")));
}

#[test]
fn a_detached_worktree_is_on_no_branch() {
    let place = Place::new();
    let at = place.path().join("check");
    let worktree = place.repository.create_detached_worktree(&at, place.main()).unwrap();
    assert_eq!(worktree.branch(), None);
    assert!(place.git(&["worktree", "list", "--porcelain"]).ends_with("\ndetached"));
    place.assert_git_agrees();

    write(&at.join("new.txt"), "new");
    let commit = worktree.commit_all(&author(), "On no branch").unwrap().unwrap();
    assert_eq!(git_in(&at, &["rev-parse", "HEAD"]), commit.to_string());
    assert_eq!(place.repository.branches().unwrap().len(), 1);
}

/// Also in a linked worktree and below the root. A nested repository is an entry as well.
#[test]
fn what_is_tracked_is_what_the_index_has() {
    let place = Place::new();
    let (project, linked) = (place.project(), place.worktree("agent").path().to_owned());
    for root in [&project, &linked] {
        write(&root.join("deep/state/new.json"), "{}");
        let tracked = |path: &str| Repository::tracks(root.join(path)).unwrap();
        for path in ["deep", "deep/state", "deep/state/new.json", "none", ".git"] {
            assert!(!tracked(path), "{path}");
        }
        assert!(tracked("README.md") && tracked("readme.MD") && !tracked("README"));
        git_in(root, &["add", "deep"]);
        for (path, is_tracked) in [("deep", true), ("deep/State", true), ("deep/stat", false), ("deep/state-2", false)]
        {
            assert_eq!(tracked(path), is_tracked, "{path}");
        }
        git_in(root, &["init", "--quiet", "nested"]);
        git_in(
            &root.join("nested"),
            &[
                "-c",
                "user.name=Me",
                "-c",
                "user.email=me@example.org",
                "commit",
                "--quiet",
                "--allow-empty",
                "-m",
                "Nested",
            ],
        );
        assert!(!tracked("nested"));
        git_in(root, &["add", "nested"]);
        assert!(tracked("nested"));
    }
    assert!(!Repository::tracks(place.path().join("none")).unwrap(), "there is no repository");
    assert!(!Repository::tracks(&project).unwrap(), "nor one of which it is a part");
    assert!(Repository::tracks(place.path().join("none/deep")).is_err());
    // Where the index cannot be read, the commit tells.
    std::fs::write(project.join(".git/index"), "not an index").unwrap();
    let tracked = |path: &str| Repository::tracks(project.join(path)).unwrap();
    assert!(tracked("README.md") && !tracked("deep"));
}

#[test]
fn the_list_is_gits() {
    let place = Place::new();
    assert_eq!(place.repository.worktrees().unwrap(), []);
    let one = place.worktree("one");
    let two = place.worktree("two");
    place.git(&["worktree", "lock", "--reason", "mine", &two.path().display().to_string()]);

    let entries = place.repository.worktrees().unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(entries[0].path, one.path());
    assert_eq!(entries[0].branch, Some(branch("one")));
    assert_eq!(entries[0].head, Some(place.main()));
    assert_eq!(entries[0].locked, None);
    assert_eq!(entries[1].locked.as_deref(), Some("mine"));
    assert!(!entries[1].is_missing);

    std::fs::remove_dir_all(one.path()).unwrap();
    assert!(place.repository.worktrees().unwrap()[0].is_missing);
}

#[test]
fn a_worktree_is_opened_by_its_path() {
    let place = Place::new();
    let created = place.worktree("one");
    assert_eq!(place.repository.open_worktree(created.path()).unwrap(), created);
    let elsewhere = place.repository.open_worktree(place.path());
    assert!(matches!(elsewhere, Err(OpenWorktreeError::NotRegistered { .. })));
}

#[test]
fn a_repository_is_found_from_a_linked_worktree_and_from_below() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let from_linked = Repository::open_with(worktree.path(), Configuration::RepositoryOnly).unwrap();
    assert_eq!(from_linked, place.repository);
    assert_eq!(from_linked.working_tree(), place.repository.working_tree());
    assert_eq!(Repository::discover(place.project().join("src")).unwrap(), place.repository);

    let nothing = place.path().join("nothing");
    assert_eq!(Repository::open(&nothing).unwrap_err(), OpenError::NotARepository { path: nothing });
    let again = Repository::init(place.project());
    assert_eq!(again.unwrap_err(), InitError::Exists { path: place.project() });
}

#[test]
fn a_bare_repository_has_worktrees_too() {
    let place = Place::new();
    let bare = place.path().join("bare.git");
    git_in(place.path(), &["clone", "--quiet", "--bare", "project", "bare.git"]);
    let repository = Repository::open_with(&bare, Configuration::RepositoryOnly).unwrap();
    assert_eq!(repository.main_worktree().unwrap(), None);
    let worktree = repository.create_worktree(place.path().join("one"), branch("one"), place.main()).unwrap();
    write(&worktree.path().join("new.txt"), "new");
    let head = worktree.commit_all(&author(), "New").unwrap().unwrap();
    assert_eq!(git_in(&bare, &["rev-parse", "one"]), head.to_string());
    repository.fast_forward(&branch("main"), head, place.main()).unwrap();
    assert_eq!(git_in(&bare, &["rev-parse", "main"]), head.to_string());
    assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), "");
    repository.remove_worktree(&worktree, Force::No).unwrap().delete().unwrap();
    git_in(&bare, &["fsck", "--strict"]);
}

/// The listed name is the last part of the path, with a number if that is taken.
#[test]
fn two_places_that_end_alike_get_two_names() {
    let place = Place::new();
    let make = |at: &str, name: &str| {
        place.repository.create_worktree(place.path().join(at), branch(name), place.main()).unwrap()
    };
    let (one, two) = (make("a/same", "one"), make("b/same", "two"));
    assert_ne!(one.name(), two.name());
    assert_eq!(place.repository.open_worktree(two.path()).unwrap(), two);
    place.assert_git_agrees();
}

#[test]
fn an_existing_branch_is_refused_even_at_the_same_commit() {
    let place = Place::new();
    let at = place.path().join("run/one");
    place.git(&["branch", "one"]);
    let before = place.snapshot();
    let error = place.repository.create_worktree(&at, branch("one"), place.main()).unwrap_err();
    assert_eq!(error, CreateError::BranchExists { branch: branch("one"), at: place.main() });
    assert_eq!(place.snapshot(), before, "and it is not deleted by a clean-up");

    // Packed, and with reflogs off, where gix alone would not notice the clash.
    place.git(&["config", "core.logAllRefUpdates", "false"]);
    place.git(&["pack-refs", "--all", "--prune"]);
    let before = place.snapshot();
    let error = place.repository.create_worktree(&at, branch("one"), place.main()).unwrap_err();
    assert!(matches!(error, CreateError::BranchExists { .. }), "{error}");
    for name in ["one/below", "main/below"] {
        let error = place.repository.create_worktree(&at, branch(name), place.main()).unwrap_err();
        assert!(matches!(error, CreateError::BranchClash { .. }), "{error}");
    }
    assert_eq!(place.snapshot(), before);
}

#[test]
fn an_occupied_place_is_refused() {
    let place = Place::new();
    let one = place.worktree("one");
    let occupied = place.path().join("occupied");
    write(&occupied.join("file"), "mine");
    let file = place.path().join("file");
    write(&file, "mine");
    let before = place.snapshot();
    for at in [occupied.as_path(), file.as_path(), one.path()] {
        let error = place.repository.create_worktree(at, branch("two"), place.main()).unwrap_err();
        assert_eq!(error, CreateError::PlaceOccupied { place: at.to_owned() });
    }
    assert_eq!(place.snapshot(), before);

    // An empty directory is accepted like a missing one.
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    place.repository.create_worktree(&empty, branch("two"), place.main()).unwrap();
    place.assert_sound();
}

#[test]
fn a_place_inside_the_repository_is_refused() {
    let place = Place::new();
    let one = place.worktree("one");
    let link = place.path().join("link");
    std::os::unix::fs::symlink(place.project(), &link).unwrap();
    let before = place.snapshot();
    for at in [
        place.project().join("inside"),
        place.project().join("deep/inside"),
        place.project().join(".git/inside"),
        one.path().join("inside"),
        link.join("inside"),
    ] {
        let error = place.repository.create_worktree(&at, branch("two"), place.main()).unwrap_err();
        assert!(matches!(error, CreateError::PlaceInside { .. }), "{}: {error}", at.display());
    }
    for at in ["../two", "run/../project/two", "/", ""] {
        let at = if at == "/" { "/".into() } else { place.path().join(at) };
        let result = place.repository.create_worktree(&at, branch("two"), place.main());
        assert!(result.is_err(), "{}", at.display());
    }
    assert_eq!(place.snapshot(), before);
}

/// Git stores paths as lines, and people give names to commands.
#[test]
fn a_place_with_a_name_that_means_something_else_is_refused() {
    let place = Place::new();
    let before = place.snapshot();
    for at in ["run/two\nlines", "deep\u{1b}/two", "run/-two", "run/.git", "run/.Git", "run/../two"] {
        let at = place.path().join(at);
        let error = place.repository.create_worktree(&at, branch("two"), place.main()).unwrap_err();
        assert_eq!(error, CreateError::BadPlace { place: at });
    }
    assert_eq!(place.snapshot(), before);
}

#[test]
fn a_place_whose_directory_is_gone_is_still_taken() {
    let place = Place::new();
    let one = place.worktree("one");
    std::fs::remove_dir_all(one.path()).unwrap();
    let error = place.repository.create_worktree(one.path(), branch("two"), place.main()).unwrap_err();
    assert_eq!(error, CreateError::PlaceRegistered { place: one.path().to_owned() });
    assert_eq!(place.repository.branch_head(&branch("two")).unwrap(), None);
}

#[test]
fn an_unknown_commit_is_refused() {
    let place = Place::new();
    let before = place.snapshot();
    let commit = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    let error = place.repository.create_worktree(place.path().join("one"), branch("one"), commit).unwrap_err();
    assert_eq!(error, CreateError::NoSuchCommit { commit });
    assert_eq!(place.snapshot(), before);
}

#[test]
fn a_checkout_that_fails_leaves_nothing_behind() {
    let place =
        Place::with_files(&[("a.txt", "a\n"), ("b.broken", "b\n"), (".gitattributes", "*.broken filter=broken\n")]);
    place.git(&["config", "filter.broken.clean", "cat"]);
    place.git(&["config", "filter.broken.smudge", "false"]);
    place.git(&["config", "filter.broken.required", "true"]);
    let before = place.snapshot();
    let error = place.repository.create_worktree(place.path().join("deep/down/one"), branch("one"), place.main());
    assert!(matches!(error, Err(CreateError::Git(_))), "{error:?}");
    assert_eq!(place.snapshot(), before, "no branch, no registration, no directory, no parents");
}
