use interlocking_worktree::{RebaseError, SwitchError};

use crate::judge::{Place, author, commit_with_git, git_in, write};

/// HY-61, CON-151. The task began on unfinished work of another task: only its own commits move.
#[test]
fn exactly_the_tasks_commits_move() {
    let place = Place::new();
    let unfinished = place.worktree("unfinished");
    let start = commit_with_git(unfinished.path(), &[("draft.txt", "draft\n")], "unfinished work");
    let (ours, gits) = (place.worktree_from("ours", start), place.worktree_from("gits", start));
    for root in [ours.path(), gits.path()] {
        commit_with_git(root, &[("src/lib.rs", "ONE\ntwo\nthree\nfour\nfive\n")], "task: one\n\nNode: hImpl");
        git_in(root, &["commit", "--quiet", "--allow-empty", "--message", "task: a word"]);
        write(&root.join("task.txt"), "task\n");
        git_in(root, &["add", "--all"]);
        let by = ["commit", "--quiet", "--author", "Bob <bob@example.org>", "--date", "1600000000 +0200"];
        git_in(root, &[&by[..], &["--message", "task: two"]].concat());
        write(&root.join("untracked.txt"), "not in the way\n");
    }
    let onto = commit_with_git(place.worktree("main-moved").path(), &[("other.txt", "other\n")], "main went on");
    let moved = ours.rebase(start, onto, &author()).unwrap();
    git_in(gits.path(), &["rebase", "--quiet", "--onto", &onto.to_string(), &start.to_string()]);
    assert_eq!(moved.len(), 3);
    assert_eq!(moved[2].to_string(), git_in(gits.path(), &["rev-parse", "HEAD"]), "git's very commits");
    assert_eq!(ours.head().unwrap(), moved[2]);
    assert!(!ours.path().join("draft.txt").exists() && ours.path().join("other.txt").exists());
    assert_eq!(place.repository.commit(moved[2]).unwrap().author.name, "Bob");
    assert_eq!(unfinished.head().unwrap(), start);
    for root in [ours.path(), gits.path()] {
        std::fs::remove_file(root.join("untracked.txt")).unwrap();
    }
    place.assert_git_agrees();

    // Doing it again changes nothing: the commits are in their place, and keep their ids.
    assert_eq!(ours.rebase(onto, onto, &author()).unwrap(), moved);
    assert_eq!(ours.head().unwrap(), moved[2]);
}

#[test]
fn what_is_there_already_is_dropped() {
    let place = Place::new();
    let start = place.main();
    let worktree = place.worktree("task");
    commit_with_git(worktree.path(), &[("a.txt", "a\n")], "a");
    commit_with_git(worktree.path(), &[("b.txt", "b\n")], "b");
    let onto = commit_with_git(place.worktree("other").path(), &[("a.txt", "a\n")], "the same");
    let moved = worktree.rebase(start, onto, &author()).unwrap();
    assert_eq!(moved.len(), 1);
    assert_eq!(place.repository.commit(moved[0]).unwrap().subject(), "b");
    assert_eq!(place.repository.commit(moved[0]).unwrap().parents, [onto]);

    // All commits are dropped: the branch is at the commit that it was rebased onto.
    let all = commit_with_git(place.worktree("all").path(), &[("a.txt", "a\n"), ("b.txt", "b\n")], "both");
    assert_eq!(worktree.rebase(onto, all, &author()).unwrap(), []);
    assert_eq!(worktree.head().unwrap(), all);
    place.assert_git_agrees();
}

/// HY-61, CON-151: a failed rebase needs no abort, because nothing has changed.
#[test]
fn a_rebase_that_conflicts_or_is_refused_never_began() {
    let place = Place::new();
    let start = place.main();
    let worktree = place.worktree("task");
    commit_with_git(worktree.path(), &[("fits.txt", "fits\n")], "fits");
    let head = commit_with_git(worktree.path(), &[("README.md", "ours\n")], "conflicts");
    let onto = commit_with_git(place.worktree("other").path(), &[("README.md", "theirs\n")], "theirs");
    let objects = place.git(&["count-objects", "-v"]);
    let before = place.snapshot();
    let error = worktree.rebase(start, onto, &author()).unwrap_err();
    let RebaseError::Conflict { commit, conflicts } = error else { panic!("{error}") };
    assert_eq!((commit, conflicts.len()), (head, 1));
    // The commit that it is rebased onto counts as ours, as in git.
    assert_eq!(conflicts[0].ours.as_ref().unwrap().text(), Some("theirs\n"));
    let error = worktree.rebase(onto, start, &author()).unwrap_err();
    assert_eq!(error, RebaseError::NotBehind { start: onto, head });
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.git(&["count-objects", "-v"]), objects, "not even an object is written");

    write(&worktree.path().join("README.md"), "uncommitted\n");
    let before = place.snapshot();
    let fitting = commit_with_git(place.worktree("third").path(), &[("third.txt", "third\n")], "third");
    let error = worktree.rebase(start, fitting, &author()).unwrap_err();
    assert!(matches!(error, RebaseError::Switch(SwitchError::Dirty { .. })), "{error}");
    place
        .repository
        .remove_worktree(
            &place.repository.open_worktree(place.path().join("run/third")).unwrap(),
            interlocking_worktree::Force::No,
        )
        .unwrap()
        .delete()
        .unwrap();
    place.repository.delete_branch(&crate::judge::branch("third"), fitting).unwrap();
    assert_eq!(place.snapshot(), before);
    git_in(worktree.path(), &["checkout", "--quiet", "README.md"]);

    git_in(worktree.path(), &["merge", "--quiet", "--no-ff", "--message", "merged", &fitting.to_string()]);
    let merged = worktree.head().unwrap();
    let error = worktree.rebase(start, onto, &author()).unwrap_err();
    assert_eq!(error, RebaseError::MergeCommit { commit: merged });
    assert!(worktree.is_clean().unwrap());
    place.assert_git_agrees();
}

/// V3-101: the commit that it is rebased onto wins, hunk by hunk, as in git; the rest of each commit is kept.
#[test]
fn the_side_that_it_is_rebased_onto_wins() {
    let place = Place::new();
    let start = place.main();
    let (ours, gits) = (place.worktree("ours"), place.worktree("gits"));
    for root in [ours.path(), gits.path()] {
        let both = [("src/lib.rs", "mine\ntwo\nthree\nfour\nFIVE\n"), ("mine.txt", "mine\n")];
        commit_with_git(root, &both, "both hunks");
        commit_with_git(root, &[("README.md", "mine\n")], "all of it is theirs already");
    }
    let sibling = [("src/lib.rs", "sibling's\ntwo\nthree\nfour\nfive\n"), ("README.md", "sibling's\n")];
    let onto = commit_with_git(place.worktree("sibling").path(), &sibling, "sibling");
    let rebased = ours.rebase_preferring_onto(start, onto, &author()).unwrap();
    git_in(gits.path(), &["rebase", "--quiet", "-X", "ours", "--onto", &onto.to_string(), &start.to_string()]);
    let tree = |revision: &str| place.git(&["rev-parse", &format!("{revision}^{{tree}}")]);
    assert_eq!(tree("ours"), tree("gits"));
    assert_eq!(
        std::fs::read_to_string(ours.path().join("src/lib.rs")).unwrap(),
        "sibling's\ntwo\nthree\nfour\nFIVE\n",
        "the sibling's hunk survives, and what does not touch it"
    );
    // The second commit has no changes left.
    assert_eq!(rebased.moved.len(), 1);
    let gave_way: Vec<_> = rebased.conflicts.iter().map(|conflict| conflict.conflicts[0].path.to_string()).collect();
    assert_eq!(gave_way, ["src/lib.rs", "README.md"]);
    assert!(ours.is_clean().unwrap());
    place.assert_git_agrees();
}

/// If there are no lines to choose from, it is still a conflict, and nothing has happened.
#[test]
fn what_one_side_has_deleted_nobody_wins() {
    let place = Place::new();
    let start = place.main();
    let worktree = place.worktree("task");
    let head = commit_with_git(worktree.path(), &[("README.md", "mine\n")], "mine");
    let sibling = place.worktree("sibling");
    git_in(sibling.path(), &["rm", "--quiet", "README.md"]);
    git_in(sibling.path(), &["commit", "--quiet", "--message", "deleted"]);
    let error = worktree.rebase_preferring_onto(start, sibling.head().unwrap(), &author()).unwrap_err();
    let RebaseError::Conflict { commit, conflicts } = error else { panic!("{error}") };
    assert_eq!((commit, conflicts.len()), (head, 1));
    assert_eq!(worktree.head().unwrap(), head);
    assert!(worktree.is_clean().unwrap());
}

/// Commit by commit: a conflict is resolved and the rebase continues, or it is aborted (V3-105).
#[test]
fn a_rebase_stops_at_each_conflict_and_goes_on() {
    let place = Place::new();
    let start = place.main();
    let worktree = place.worktree("task");
    commit_with_git(worktree.path(), &[("fits.txt", "fits\n")], "fits");
    let second = commit_with_git(worktree.path(), &[("README.md", "mine\n")], "conflicts");
    commit_with_git(worktree.path(), &[("src/lib.rs", "mine\n")], "conflicts, too");
    let head = commit_with_git(worktree.path(), &[("last.txt", "last\n")], "last");
    let sibling = [("README.md", "sibling's\n"), ("src/lib.rs", "sibling's\n")];
    let onto = commit_with_git(place.worktree("sibling").path(), &sibling, "sibling");

    let given_up = worktree.rebase_until_conflict(start..head, onto, &author()).unwrap();
    assert_eq!(given_up.moved.len(), 1);
    worktree.reset_to(head).unwrap();
    assert!(worktree.is_clean().unwrap());
    assert_eq!(std::fs::read_to_string(worktree.path().join("README.md")).unwrap(), "mine\n");

    let (mut since, mut onto, mut stops) = (start, onto, Vec::new());
    let moved = loop {
        let rebased = worktree.rebase_until_conflict(since..head, onto, &author()).unwrap();
        let [stop] = &rebased.conflicts[..] else { break rebased.moved };
        let path = worktree.path().join(stop.conflicts[0].path.to_path());
        let marked = std::fs::read_to_string(&path).unwrap();
        assert!(marked.contains("<<<<<<<") && marked.contains("sibling's\n") && marked.contains("mine\n"), "{marked}");
        let again = worktree.rebase_until_conflict(since..head, onto, &author()).unwrap_err();
        match worktree.head().unwrap() {
            at if at == onto => assert!(matches!(again, RebaseError::Switch(SwitchError::Dirty { .. })), "{again}"),
            // The first commit has moved.
            at => assert_eq!(again, RebaseError::DropsCommits { head: at, end: head, onto }),
        }
        write(&path, "both\n");
        let message = place.repository.commit(stop.commit).unwrap().message;
        onto = worktree.commit_all(&author(), &message).unwrap().unwrap();
        since = stop.commit;
        stops.push(stop.commit);
    };
    assert_eq!((stops.len(), stops[0], moved.len()), (2, second, 1));
    let log = git_in(worktree.path(), &["log", "--format=%s"]);
    assert_eq!(log.lines().take(5).collect::<Vec<_>>(), ["last", "conflicts, too", "conflicts", "fits", "sibling"]);
    assert_eq!(std::fs::read_to_string(worktree.path().join("src/lib.rs")).unwrap(), "both\n");
    place.assert_git_agrees();
}

/// An agent has committed after the commits that are to move.
#[test]
fn a_rebase_that_would_lose_later_commits_is_refused() {
    let place = Place::new();
    let start = place.main();
    let worktree = place.worktree("task");
    let end = commit_with_git(worktree.path(), &[("mine.txt", "mine\n")], "mine");
    let onto = commit_with_git(place.worktree("other").path(), &[("other.txt", "other\n")], "other");
    let head = commit_with_git(worktree.path(), &[("later.txt", "later\n")], "later");
    let before = place.snapshot();
    let error = worktree.rebase_until_conflict(start..end, onto, &author()).unwrap_err();
    assert_eq!(error, RebaseError::DropsCommits { head, end, onto });
    assert_eq!(place.snapshot(), before);

    let rebased = worktree.rebase_until_conflict(start..head, onto, &author()).unwrap();
    assert_eq!((rebased.moved.len(), worktree.head().unwrap()), (2, rebased.moved[1]));
    assert!(worktree.path().join("later.txt").exists() && worktree.path().join("other.txt").exists());
    place.assert_git_agrees();
}
