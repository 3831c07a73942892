//! A user's uncommitted work is never touched: neither by moving main where it is checked out, nor by a kill during
//! that.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use interlocking_worktree::{CommitId, FastForwardError, ResetError};
use proptest::prelude::*;

use crate::{
    judge::{Place, author, branch, commit_with_git, path, run, write},
    sample,
};

const FILES: [&str; 6] = ["a.txt", "b.txt", "src/c.rs", "src/d.rs", "new/e.txt", "ignored.log"];

/// The state of a user's uncommitted work.
#[derive(Debug, Clone)]
enum Work {
    Write(usize, u8),
    Delete(usize),
    Stage(usize),
    Unstage(usize),
    Executable(usize),
    IntentToAdd(usize),
}

fn work() -> impl Strategy<Value = Work> {
    let file = 0..FILES.len();
    prop_oneof![
        4 => (file.clone(), 0..3u8).prop_map(|(file, byte)| Work::Write(file, byte)),
        1 => file.clone().prop_map(Work::Delete),
        2 => file.clone().prop_map(Work::Stage),
        1 => file.clone().prop_map(Work::Unstage),
        1 => file.clone().prop_map(Work::Executable),
        1 => file.prop_map(Work::IntentToAdd),
    ]
}

fn apply(root: &Path, work: &Work) {
    use std::os::unix::fs::PermissionsExt;
    let at = |file: &usize| root.join(FILES[*file]);
    match work {
        Work::Write(file, byte) => write(&at(file), format!("the user's {byte}\n")),
        Work::Delete(file) => drop(std::fs::remove_file(at(file))),
        Work::Stage(file) => drop(run(root, &["add", "--", FILES[*file]])),
        Work::Unstage(file) => drop(run(root, &["rm", "--quiet", "--cached", "--", FILES[*file]])),
        Work::Executable(file) if at(file).exists() => {
            std::fs::set_permissions(at(file), PermissionsExt::from_mode(0o755)).unwrap();
        }
        Work::IntentToAdd(file) => drop(run(root, &["add", "--intent-to-add", "--", FILES[*file]])),
        Work::Executable(_) => {}
    }
}

/// The index entry of a file, and the file's contents and executable bit.
type State = (String, Option<(Vec<u8>, bool)>);

/// The uncommitted changes by path: what is staged and what is on disk.
fn uncommitted(root: &Path) -> BTreeMap<String, State> {
    use std::os::unix::fs::PermissionsExt;
    let text = |arguments: &[&str]| crate::judge::text(&run(root, arguments).stdout);
    let mut paths: Vec<String> = Vec::new();
    for arguments in [
        &["diff", "--name-only", "HEAD"][..],
        &["diff", "--name-only", "--cached"],
        &["diff", "--name-only"],
        &["ls-files", "--others"],
    ] {
        paths.extend(text(arguments).lines().map(ToOwned::to_owned));
    }
    let mut found = BTreeMap::new();
    for path in paths {
        let staged = text(&["ls-files", "--stage", "--", &path]);
        let file: PathBuf = root.join(&path);
        let on_disk = std::fs::read(&file)
            .ok()
            .map(|contents| (contents, std::fs::metadata(&file).unwrap().permissions().mode() & 0o100 != 0));
        found.insert(path, (staged, on_disk));
    }
    found
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    FastForward,
    CherryPick,
    Merge,
    SquashMerge,
    PickForResolution,
    CommitPaths,
    CommitEmpty,
    Reset,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop::sample::select(vec![
        Operation::FastForward,
        Operation::CherryPick,
        Operation::Merge,
        Operation::SquashMerge,
        Operation::PickForResolution,
        Operation::CommitPaths,
        Operation::CommitEmpty,
        Operation::Reset,
    ])
}

/// Runs the operation. Returns whether it was done.
fn act(place: &Place, operation: Operation, main: CommitId, side: CommitId) -> bool {
    let user = place.user();
    match operation {
        Operation::FastForward => match place.repository.fast_forward(&branch("main"), side, main) {
            Ok(()) => true,
            Err(FastForwardError::CheckedOut { .. }) => false,
            Err(other) => panic!("{other}"),
        },
        Operation::CherryPick => user.cherry_pick(main..side, &author()).is_ok(),
        Operation::Merge => user.merge(side, &author(), "merge").is_ok(),
        Operation::SquashMerge => user.squash_merge(side, &author(), "merge").is_ok(),
        Operation::PickForResolution => user.pick_for_resolution(side).is_ok(),
        Operation::CommitPaths => user.commit_paths(&[path("nothing/here")], &author(), "none").unwrap().is_some(),
        Operation::CommitEmpty => user.commit_empty(&author(), "marker").is_ok(),
        Operation::Reset => {
            assert!(matches!(user.reset_to(side), Err(ResetError::Main { .. })));
            false
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32 / sample::one_in::<u32>(6),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn uncommitted_work_is_as_it_was(
        works in proptest::collection::vec(work(), 0..5),
        changed in proptest::collection::btree_set(0..FILES.len() - 1, 1..4),
        operation in operation(),
    ) {
        let place = Place::with_files(&[
            (".gitignore", "*.log\n"), ("a.txt", "a\n"), ("b.txt", "b\n"), ("src/c.rs", "c\n"), ("src/d.rs", "d\n"),
        ]);
        let files: Vec<_> = changed.iter().map(|file| (FILES[*file], "of the side\n")).collect();
        let side = commit_with_git(place.worktree("side").path(), &files, "side");
        let main = place.main();
        for work in &works {
            apply(&place.project(), work);
        }
        let before = uncommitted(&place.project());
        let is_done = act(&place, operation, main, side);
        let after = uncommitted(&place.project());
        for (path, state) in &before {
            prop_assert_eq!(after.get(path), Some(state), "{} by {:?}, done: {}", path, operation, is_done);
        }
        if !is_done {
            prop_assert_eq!(&after, &before);
            prop_assert_eq!(place.main(), main);
        }
        place.assert_sound();
    }
}
