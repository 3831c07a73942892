//! Hundreds of random histories: this crate's results are those of the git program, tree for tree, or conflicts in the
//! same paths.
//!
//! `INTERLOCKING_HISTORIES` is the number of histories, `INTERLOCKING_HISTORIES_FROM` the number of the first. By
//! default there are 50 in a run by hand and 300 in a thorough run. Every other one is also played in worktrees, which
//! takes some twenty git processes. A failure names the values of both variables that repeat it alone.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::{Child, ChildStdout, Stdio},
};

use interlocking_worktree::{CherryPickError, CommitId, Conflict, FileChangeKind, MergeError, RebaseError, Worktree};

use crate::{
    fast_import::{Imported, import},
    judge::{Place, author, branch, feed, feed_with, git_command, git_in, run, text},
    on_disk::{files_of, litter, write_files},
    random_history::{History, history},
    sample,
};

/// A repository with some histories, and two worktrees: one for this crate and one for git.
struct Histories {
    place: Place,
    numbers: Vec<u64>,
    histories: Vec<History>,
    imported: Vec<Imported>,
    ours: Worktree,
    gits: PathBuf,
    trees: RefCell<Trees>,
    failures: RefCell<Vec<String>>,
}

/// A process that returns the tree of a commit: starting one process per tree would take longer than everything else.
struct Trees {
    process: Child,
    answers: BufReader<ChildStdout>,
}

/// The result of a merge: a tree, or conflicts in these paths.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Tree(String),
    Conflicts(BTreeSet<String>),
}

#[test]
fn histories_as_they_are() {
    compare("false", 0);
}

#[test]
fn histories_with_windows_line_ends_in_the_working_tree() {
    compare("true", 1);
}

#[test]
fn histories_with_unix_line_ends_in_the_repository() {
    compare("input", 2);
}

/// Compares every third history, with this `core.autocrlf`.
fn compare(autocrlf: &str, shard: u64) {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |value| value.parse().unwrap());
    let (count, from) =
        (number("INTERLOCKING_HISTORIES", 300 / sample::one_in::<u64>(6)), number("INTERLOCKING_HISTORIES_FROM", 0));
    let one_in = if std::env::var_os("INTERLOCKING_HISTORIES").is_some() { 1 } else { 2 };
    let numbers: Vec<u64> = (from..from + count).filter(|number| number % 3 == shard).collect();
    for numbers in numbers.chunks(50) {
        let histories = Histories::new(autocrlf, numbers);
        histories.compare_diffs();
        histories.compare_computed();
        for position in (0..numbers.len()).step_by(one_in) {
            histories.check(position, || histories.compare_in_worktrees(position));
        }
        let failures = histories.failures.take();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
        histories.place.assert_git_agrees();
    }
}

impl Histories {
    fn new(autocrlf: &str, numbers: &[u64]) -> Self {
        let place = Place::new();
        place.git(&["config", "core.autocrlf", autocrlf]);
        // This is not git's default, with which it asks about each file in a renamed directory: gix moves them.
        place.git(&["config", "merge.directoryRenames", "true"]);
        place.git(&["config", "gc.auto", "0"]);
        place.git(&["config", "advice.submoduleMergeConflict", "false"]);
        let histories: Vec<_> = numbers.iter().map(|number| history(*number)).collect();
        let imported = import(&place.project(), &histories);
        let ask = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
        let mut process =
            git_command(&place.project(), &ask).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let trees = RefCell::new(Trees { process, answers });
        let ours = place.worktree("ours");
        let gits = place.worktree("gits").path().to_owned();
        Self { place, numbers: numbers.to_vec(), histories, imported, ours, gits, trees, failures: RefCell::default() }
    }

    /// Reports the history if a check fails, and continues with the next.
    fn check(&self, position: usize, check: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(check)) {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            let Imported { base, ours, theirs } = &self.imported[position];
            let changes = |side: &CommitId| {
                let (base, side) = (base.to_string(), side.to_string());
                self.place.git(&["diff-tree", "-r", "--find-renames", "--raw", "--abbrev", &base, &side])
            };
            self.failures.borrow_mut().push(format!(
                "history {number} (INTERLOCKING_HISTORIES=1 INTERLOCKING_HISTORIES_FROM={number}): {}\nours:\n{}\ntheirs:\n{}",
                message.unwrap_or_default(),
                changes(ours),
                changes(theirs),
                number = self.numbers[position],
            ));
        }
    }

    /// Compares the changed paths with `git diff-tree`, and patches with `git apply`.
    fn compare_diffs(&self) {
        let pairs: Vec<_> = (self.imported.iter())
            .flat_map(|commits| [(commits.base, commits.ours), (commits.ours, commits.theirs)])
            .collect();
        let input: String = pairs.iter().map(|(from, to)| format!("{to} {from}\n")).collect();
        let arguments = ["diff-tree", "--stdin", "-r", "-z", "--find-renames", "--name-status"];
        let output = feed(&self.place.project(), &arguments, input.as_bytes());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut gits: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let mut commit = String::new();
        while let Some(field) = fields.next().filter(|field| !field.is_empty()) {
            if field.len() == 40 {
                commit = text(field);
                continue;
            }
            // A change of type counts as a modification here.
            let kind = if field == b"T" { "M".to_owned() } else { text(&field[..1]) };
            let mut change = vec![kind, readable(fields.next().unwrap())];
            if field[0] == b'R' {
                change.push(readable(fields.next().unwrap()));
            }
            gits.entry(commit.clone()).or_default().insert(change);
        }
        for (position, (from, to)) in pairs.into_iter().enumerate() {
            self.check(position / 2, || {
                let changes = self.place.repository.diff(from, to).unwrap();
                let found: BTreeSet<_> = changes.iter().map(name_status).collect();
                assert_eq!(found, gits.remove(&to.to_string()).unwrap_or_default(), "{from} {to}");
                // Only every other one, because it takes three processes.
                if position % 2 == 1 && !changes.is_empty() {
                    self.apply_patch(from, to);
                }
            });
        }
    }

    fn apply_patch(&self, from: CommitId, to: CommitId) {
        let root = self.place.project();
        let patch = self.place.repository.unified_diff(from, to).unwrap();
        let index = root.join(".git/index.patched");
        let git = |arguments: &[&str], input: &[u8]| {
            let output = feed_with(&root, arguments, input, &[("GIT_INDEX_FILE", &index)]);
            assert!(output.status.success(), "{}\n{patch}", text(&output.stderr));
            text(&output.stdout).trim_end().to_owned()
        };
        git(&["read-tree", &from.to_string()], b"");
        git(&["apply", "--cached", "--whitespace=nowarn", "-"], patch.as_bytes());
        assert_eq!(git(&["write-tree"], b""), self.tree(to), "{patch}");
    }

    /// Compares merges, squashes and picks without a working tree with `git merge-tree`.
    fn compare_computed(&self) {
        let mut input = String::new();
        for Imported { ours, theirs, .. } in &self.imported {
            input += &format!("{ours} {theirs}\n{theirs}~1 -- {ours} {theirs}\n");
        }
        let arguments = ["merge-tree", "--write-tree", "--stdin", "-z", "--no-messages"];
        let output = feed(&self.place.project(), &arguments, input.as_bytes());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let mut next = || {
            let is_clean = fields.next().unwrap() == b"1";
            let tree = text(fields.next().unwrap());
            let conflicting = fields.by_ref().take_while(|field| !field.is_empty());
            let paths = conflicting.map(|field| readable(field.splitn(2, |byte| *byte == b'\t').nth(1).unwrap()));
            let paths = places(paths);
            if is_clean { Verdict::Tree(tree) } else { Verdict::Conflicts(paths) }
        };
        let repository = &self.place.repository;
        for (position, Imported { ours, theirs, .. }) in self.imported.iter().enumerate() {
            let (merged, picked) = (next(), next());
            self.check(position, || {
                let before = self.objects();
                for made in [
                    repository.merge_onto(*ours, *theirs, &author(), "merge"),
                    repository.squash_onto(*ours, *theirs, &author(), "squash"),
                ] {
                    let found = match made {
                        Ok(commit) => Verdict::Tree(self.tree(commit.unwrap_or(*ours))),
                        Err(MergeError::Conflict { conflicts, .. }) => conflicting(&conflicts),
                        Err(other) => panic!("{other}"),
                    };
                    assert_eq!(found, merged, "merge of {ours} and {theirs}");
                }
                let last = repository.commit(*theirs).unwrap().parents[0];
                let found = match repository.cherry_pick_onto(*ours, last..*theirs, &author()) {
                    Ok(commits) => Verdict::Tree(self.tree(commits.last().copied().unwrap_or(*ours))),
                    Err(CherryPickError::Conflict { conflicts, .. }) => conflicting(&conflicts),
                    Err(other) => panic!("{other}"),
                };
                assert_eq!(found, picked, "pick of {theirs} onto {ours}");
                if matches!((&merged, &picked), (Verdict::Conflicts(_), Verdict::Conflicts(_))) {
                    assert_eq!(self.objects(), before, "a conflict writes nothing");
                }
            });
        }
    }

    /// Runs operations that move a worktree, and the same with the git program in another worktree.
    fn compare_in_worktrees(&self, position: usize) {
        let Imported { base, ours: our_tip, theirs } = self.imported[position];
        let (ours, gits, place) = (&self.ours, self.gits.as_path(), &self.place);

        // Switch, edit and commit. No uncommitted file stays, ignored or not.
        for root in [ours.path(), gits] {
            litter(root, self.numbers[position]);
        }
        self.start_at(base);
        git_in(gits, &["clean", "--quiet", "-x", "-d", "--force", "--force"]);
        self.assert_same_files();
        let history = &self.histories[position];
        let files = &history.theirs[0];
        for root in [ours.path(), gits] {
            write_files(root, &history.base, files);
        }
        let commit = ours.commit_all(&author(), "edit").unwrap();
        git_in(gits, &["add", "--all"]);
        let tree = git_in(gits, &["write-tree"]);
        assert_eq!(self.tree(commit.unwrap_or(base)), tree, "commit on {base}");
        self.assert_clean();

        // Pick a range. Each commit has the same id as git's.
        self.start_at(our_tip);
        let picked = ours.cherry_pick(base..theirs, &author());
        let range = format!("{base}..{theirs}");
        let git = run(gits, &["cherry-pick", "--allow-empty", "--empty=drop", &range]);
        match picked {
            Ok(_) => self.assert_same_head(&git),
            Err(CherryPickError::Conflict { commit, conflicts }) => {
                self.assert_same_conflict(&conflicts);
                assert_eq!(commit.to_string(), git_in(gits, &["rev-parse", "CHERRY_PICK_HEAD"]));
                self.assert_untouched(our_tip);
            }
            Err(other) => panic!("{other}"),
        }

        // Rebase their commits onto ours.
        self.start_at(theirs);
        let rebased = ours.rebase(base, our_tip, &author());
        let git = run(gits, &["rebase", "--quiet", "--onto", &our_tip.to_string(), &base.to_string()]);
        match rebased {
            Ok(_) => self.assert_same_head(&git),
            Err(RebaseError::Conflict { commit, conflicts }) => {
                self.assert_same_conflict(&conflicts);
                assert_eq!(commit.to_string(), git_in(gits, &["rev-parse", "REBASE_HEAD"]));
                self.assert_untouched(theirs);
            }
            Err(other) => panic!("{other}"),
        }

        // Merge with a merge commit.
        self.start_at(our_tip);
        let merged = ours.merge(theirs, &author(), "merge");
        let git = run(gits, &["merge", "--quiet", "--no-ff", "--message", "merge", &theirs.to_string()]);
        match merged {
            Ok(_) => self.assert_same_head(&git),
            Err(MergeError::Conflict { conflicts, .. }) => {
                self.assert_same_conflict(&conflicts);
                self.assert_untouched(our_tip);
            }
            Err(other) => panic!("{other}"),
        }

        // Fast-forward the branch, whose worktree is updated.
        self.start_at(base);
        place.repository.fast_forward(&branch("ours"), theirs, base).unwrap();
        git_in(gits, &["merge", "--quiet", "--ff-only", &theirs.to_string()]);
        self.assert_clean();
        self.assert_same_files();
        // Git trusts the trees that are noted in the index.
        assert_eq!(git_in(ours.path(), &["write-tree"]), self.tree(theirs));
    }

    fn start_at(&self, commit: CommitId) {
        self.ours.reset_to(commit).unwrap();
        // The files of a stopped pick or rebase, which `git reset` does not remove.
        let state = self.place.project().join(".git/worktrees/gits");
        for directory in ["sequencer", "rebase-merge"] {
            let _ = std::fs::remove_dir_all(state.join(directory));
        }
        std::fs::write(state.join("HEAD"), "ref: refs/heads/gits\n").unwrap();
        git_in(&self.gits, &["reset", "--quiet", "--hard", &commit.to_string()]);
    }

    fn assert_same_head(&self, git: &std::process::Output) {
        assert!(git.status.success(), "git: {}{}", text(&git.stdout), text(&git.stderr));
        let head = self.ours.head().unwrap();
        let gits = self.place.repository.branch_head(&branch("gits")).unwrap().unwrap();
        assert_eq!(self.tree(head), self.tree(gits));
        assert_eq!(head, gits, "the same tree, but another commit");
        self.assert_clean();
        self.assert_same_files();
    }

    fn assert_same_conflict(&self, conflicts: &[Conflict]) {
        let output = run(&self.gits, &["diff", "--name-only", "--diff-filter=U", "-z"]);
        let paths = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(readable);
        assert_eq!(conflicting(conflicts), Verdict::Conflicts(places(paths)));
    }

    /// After a conflict the worktree is unchanged.
    fn assert_untouched(&self, at: CommitId) {
        assert_eq!(self.ours.head().unwrap(), at);
        self.assert_clean();
    }

    /// Git finds no changes.
    fn assert_clean(&self) {
        assert_eq!(git_in(self.ours.path(), &["status", "--porcelain", "--untracked-files=all"]), "");
    }

    fn assert_same_files(&self) {
        let (ours, gits) = (files_of(self.ours.path()), files_of(&self.gits));
        let differ = |path: &&PathBuf| ours.get(*path) != gits.get(*path);
        let other: BTreeMap<_, _> = ours
            .keys()
            .chain(gits.keys())
            .filter(differ)
            .map(|path| (path, (ours.get(path), gits.get(path))))
            .collect();
        assert!(other.is_empty(), "ours and git's differ: {other:?}");
    }

    fn tree(&self, commit: impl std::fmt::Display) -> String {
        let trees = &mut *self.trees.borrow_mut();
        writeln!(trees.process.stdin.as_mut().unwrap(), "{commit}^{{tree}}").unwrap();
        let mut answer = String::new();
        trees.answers.read_line(&mut answer).unwrap();
        answer.strip_suffix(" tree\n").unwrap().to_owned()
    }

    fn objects(&self) -> usize {
        let directories = std::fs::read_dir(self.place.project().join(".git/objects")).unwrap();
        directories.map(|directory| std::fs::read_dir(directory.unwrap().path()).unwrap().count()).sum()
    }
}

impl Drop for Trees {
    fn drop(&mut self) {
        // The process ends when its input is closed.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn name_status(change: &interlocking_worktree::FileChange) -> Vec<String> {
    let path = readable(change.path.as_bytes());
    match &change.kind {
        FileChangeKind::Added => vec!["A".to_owned(), path],
        FileChangeKind::Modified => vec!["M".to_owned(), path],
        FileChangeKind::Deleted => vec!["D".to_owned(), path],
        FileChangeKind::Renamed { from } => vec!["R".to_owned(), readable(from.as_bytes()), path],
    }
}

fn conflicting(conflicts: &[Conflict]) -> Verdict {
    let paths = conflicts.iter().map(|conflict| readable(conflict.path.as_bytes()));
    Verdict::Conflicts(places(paths))
}

/// If entries of different kinds clash at a path, git moves one or both aside, with names that are made up from the
/// names of the sides. The path at which they clash is compared.
fn places(conflicts: impl Iterator<Item = String>) -> BTreeSet<String> {
    conflicts.map(|path| path.split('~').next().unwrap_or_default().to_owned()).collect()
}

/// A readable form in which different bytes stay different.
fn readable(path: &[u8]) -> String {
    path.escape_ascii().to_string()
}
