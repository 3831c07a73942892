//! Compares worktrees with the git program: `cargo bench -p interlocking-worktree --bench worktrees`.
//!
//! Both do the same work on repositories with the same files, in turns, on `/dev/shm` if it exists. The git program's time
//! includes its start, which a caller has to pay for. Setup and cleanup are not measured.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should say so")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads and writes what it has made itself")]

#[path = "../../interlocking-bench/src/rounds.rs"]
#[expect(dead_code, unreachable_pub, reason = "another package's module, of which a part is used")]
mod rounds;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use interlocking_worktree::{BranchName, CommitId, Configuration, Force, Pool, Repository, Signature, Worktree};
use rounds::{Comparison, compare_by};

fn main() {
    // `-- 2000 merge` measures only that case.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let only = arguments.iter().find_map(|argument| argument.parse().ok());
    let wanted = |name: &str| {
        let mut names = arguments.iter().filter(|argument| argument.parse::<usize>().is_err()).peekable();
        names.peek().is_none() || names.any(|argument| argument == name)
    };
    let measured: [(&str, Measure); 6] = [
        ("create", Bench::create),
        ("recycle", Bench::recycle),
        ("remove", Bench::remove),
        ("commit", Bench::commit),
        ("pick", Bench::pick),
        ("merge", Bench::merge),
    ];
    for (files, rounds) in [(100, 31), (2_000, 15), (20_000, 7)] {
        if only.is_none_or(|only: usize| only == files) && measured.iter().any(|(name, _)| wanted(name)) {
            let bench = Bench::new(files);
            for (_, measure) in measured.iter().filter(|(name, _)| wanted(name)) {
                measure(&bench, rounds);
            }
        }
    }
    if only.is_none() && wanted("many") {
        Bench::new(100).many();
    }
}

type Measure = fn(&Bench, usize);

/// A repository with `files` files, and the worktrees that are made of it.
struct Bench {
    directory: tempfile::TempDir,
    repository: Repository,
    files: usize,
    base: CommitId,
    count: std::cell::Cell<usize>,
}

impl Bench {
    fn new(files: usize) -> Self {
        let directory = match tempfile::tempdir_in("/dev/shm") {
            Ok(directory) => directory,
            Err(_) => tempfile::tempdir().unwrap(),
        };
        println!("\n{files} files, in {}", directory.path().parent().unwrap().display());
        let root = directory.path().join("project");
        let repository = Repository::init_with(&root, Configuration::RepositoryOnly).unwrap();
        for file in 0..files {
            let at = root.join(path_of(file));
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, contents_of(file, 0)).unwrap();
        }
        // No background processes.
        git(&root, &["config", "gc.auto", "0"]);
        git(&root, &["config", "maintenance.auto", "false"]);
        git(&root, &["add", "--all"]);
        git(&root, &["commit", "--quiet", "--message", "Begin"]);
        // As in a cloned repository: git and gix read the same pack.
        git(&root, &["gc", "--quiet"]);
        let base = repository.resolve("main").unwrap();
        Self { directory, repository, files, base, count: std::cell::Cell::new(0) }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.directory.path().join("run").join(name)
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn name(&self, prefix: &str) -> String {
        self.count.set(self.count.get() + 1);
        format!("{prefix}-{}", self.count.get())
    }

    fn ours(&self) -> Worktree {
        let name = self.name("ours");
        self.repository.create_worktree(self.place(&name), BranchName::new(&name).unwrap(), self.base).unwrap()
    }

    fn gits(&self) -> PathBuf {
        let name = self.name("git");
        let place = self.place(&name);
        git(
            &self.project(),
            &["worktree", "add", "--quiet", "-b", &name, place.to_str().unwrap(), &self.base.to_string()],
        );
        place
    }

    fn clear(&self, worktree: &Worktree) {
        self.repository.remove_worktree(worktree, Force::DiscardChanges).unwrap().delete().unwrap();
        self.delete_branch(worktree);
    }

    fn delete_branch(&self, worktree: &Worktree) {
        let branch = worktree.branch().unwrap();
        self.repository.delete_branch(branch, self.repository.branch_head(branch).unwrap().unwrap()).unwrap();
    }

    fn clear_gits(&self, place: &Path) {
        let name = place.file_name().unwrap().to_str().unwrap();
        git(&self.project(), &["worktree", "remove", "--force", place.to_str().unwrap()]);
        git(&self.project(), &["branch", "--quiet", "-D", name]);
    }

    fn report(&self, what: &str, comparison: &Comparison, goal: f64) {
        // The factor by which it is faster than git.
        println!("{}", comparison.line(&format!("{what}, {} files", self.files), 1, Some(1.0 / goal)));
    }

    fn create(&self, rounds: usize) {
        let comparison = compare_by(
            rounds,
            || {
                let (worktree, time) = timed(|| self.ours());
                self.clear(&worktree);
                time
            },
            || {
                let (place, time) = timed(|| self.gits());
                self.clear_gits(&place);
                time
            },
        );
        self.report("create", &comparison, 1.8);
    }

    /// Measures creation from a retired worktree: with two commits in turn, and with a new commit each time, none of which
    /// was read before.
    fn recycle(&self, rounds: usize) {
        // One commit to begin with, and one warm-up.
        let commits = self.side_commits(rounds + 2, self.some());
        self.recycle_at("create from a retired one", rounds, &commits[..2]);
        self.recycle_at("the same, at new commits", rounds, &commits[1..]);
    }

    /// Measures the creation of a worktree from a retired one whose user had changed some files, added one and built
    /// something. The new worktree is at another commit, which differs in as many files: ten, or one in twenty if that is
    /// less. The commits are used in turn.
    fn recycle_at(&self, what: &str, rounds: usize, commits: &[CommitId]) {
        // Opened anew, so that nothing is cached from earlier measurements.
        let repository = Repository::open_with(self.project(), Configuration::RepositoryOnly).unwrap();
        let pool = Pool::open(&repository, self.directory.path().join("pool"), 1).unwrap();
        let make = |round: usize| {
            let name = self.name("pooled");
            let commit = commits[round % commits.len()];
            pool.create_worktree(self.place(&name), BranchName::new(&name).unwrap(), commit).unwrap()
        };
        let retire = |worktree: &Worktree| {
            for file in 0..self.some() {
                let file = file * self.files / self.some() + 3;
                std::fs::write(worktree.path().join(path_of(file)), "changed\n").unwrap();
            }
            std::fs::write(worktree.path().join("new.rs"), "new\n").unwrap();
            std::fs::create_dir_all(worktree.path().join("target/debug")).unwrap();
            std::fs::write(worktree.path().join("target/debug/program"), [0; 4096]).unwrap();
            assert!(pool.retire(worktree, Force::DiscardChanges).unwrap().clean().unwrap());
            self.delete_branch(worktree);
        };
        retire(&make(0));
        let mut round = 0;
        let comparison = compare_by(
            rounds,
            || {
                round += 1;
                let (worktree, time) = timed(|| make(round));
                assert_eq!(pool.ready().unwrap(), 0);
                assert!(worktree.is_clean().unwrap());
                retire(&worktree);
                time
            },
            || {
                let (place, time) = timed(|| self.gits());
                self.clear_gits(&place);
                time
            },
        );
        self.report(what, &comparison, 10.0);
    }

    fn remove(&self, rounds: usize) {
        let comparison = compare_by(
            rounds,
            || {
                let worktree = self.ours();
                let (discarded, time) =
                    timed(|| self.repository.remove_worktree(&worktree, Force::DiscardChanges).unwrap());
                discarded.delete().unwrap();
                let branch = worktree.branch().unwrap();
                self.repository.delete_branch(branch, self.base).unwrap();
                time
            },
            || {
                let place = self.gits();
                let name = place.file_name().unwrap().to_str().unwrap();
                let remove = ["worktree", "remove", "--force", place.to_str().unwrap()];
                let ((), time) = timed(|| git(&self.project(), &remove));
                git(&self.project(), &["branch", "--quiet", "-D", name]);
                time
            },
        );
        self.report("remove", &comparison, 1.0);
    }

    /// Measures the detection of changes, and a commit of ten files.
    fn commit(&self, rounds: usize) {
        let (ours, gits) = (self.ours(), self.gits());
        wait();
        let author = Signature::new("Ada", "ada@example.org").unwrap();
        let change = |root: &Path| {
            let round = self.name("round");
            for file in 0..10 {
                std::fs::write(root.join(path_of(file * self.files / 10)), format!("{round} {file}\n")).unwrap();
            }
        };
        let comparison = compare_by(
            rounds,
            || {
                change(ours.path());
                let (changed, time) = timed(|| {
                    let changed = ours.status().unwrap().len();
                    ours.commit_all(&author, "Ten files").unwrap().unwrap();
                    changed
                });
                assert_eq!(changed, 10);
                time
            },
            || {
                change(&gits);
                let ((), time) = timed(|| {
                    git(&gits, &["status", "--porcelain"]);
                    git(&gits, &["add", "--all"]);
                    git(&gits, &["commit", "--quiet", "--message", "Ten files"]);
                });
                time
            },
        );
        self.report("status + commit of 10", &comparison, 2.5);
        self.clear(&ours);
        self.clear_gits(&gits);
    }

    /// Measures cherry-picks: ten commits of ten files each on a branch of their own, one for each round.
    fn pick(&self, rounds: usize) {
        let commits = self.side_commits(rounds + 1, 10);
        let author = Signature::new("Ada", "ada@example.org").unwrap();
        let (ours, gits) = (self.ours(), self.gits());
        wait();
        let (mut first, mut second) = (commits.windows(2), commits.windows(2));
        let comparison = compare_by(
            rounds,
            || {
                let pair = first.next().unwrap();
                timed(|| ours.cherry_pick(pair[0]..pair[1], &author).unwrap()).1
            },
            || {
                let pair = second.next().unwrap();
                timed(|| git(&gits, &["cherry-pick", &pair[1].to_string()])).1
            },
        );
        self.report("cherry-pick", &comparison, 1.6);
        self.clear(&ours);
        self.clear_gits(&gits);
    }

    fn merge(&self, rounds: usize) {
        let commits = self.side_commits(rounds + 1, 10);
        let author = Signature::new("Ada", "ada@example.org").unwrap();
        let (ours, gits) = (self.ours(), self.gits());
        wait();
        let (mut first, mut second) = (commits[1..].iter(), commits[1..].iter());
        let comparison = compare_by(
            rounds,
            || {
                let commit = *first.next().unwrap();
                timed(|| ours.merge(commit, &author, "Merge").unwrap().unwrap()).1
            },
            || {
                let commit = second.next().unwrap().to_string();
                timed(|| git(&gits, &["merge", "--quiet", "--no-ff", "--message", "Merge", &commit])).1
            },
        );
        self.report("merge", &comparison, 1.6);
        self.clear(&ours);
        self.clear_gits(&gits);
    }

    fn some(&self) -> usize {
        (self.files / 20).min(10)
    }

    /// Makes a chain of `count` commits, each of which changes `changed` files; the base comes first.
    fn side_commits(&self, count: usize, changed: usize) -> Vec<CommitId> {
        let author = Signature::new("Ada", "ada@example.org").unwrap();
        let side = self.ours();
        let mut commits = vec![self.base];
        for round in 1..=count {
            for file in 0..changed {
                let file = (file * self.files / changed + round) % self.files;
                std::fs::write(side.path().join(path_of(file)), contents_of(file, round)).unwrap();
            }
            commits.push(side.commit_all(&author, &format!("Change {round}")).unwrap().unwrap());
        }
        self.repository.remove_worktree(&side, Force::DiscardChanges).unwrap().delete().unwrap();
        commits
    }

    /// Measures the 200th worktree in comparison with the first.
    fn many(&self) {
        let mut times = Vec::new();
        for _ in 0..205 {
            times.push(timed(|| self.ours()).1);
        }
        let median = |times: &[Duration]| {
            let mut times = times.to_vec();
            times.sort();
            times[times.len() / 2]
        };
        let (first, last) = (median(&times[1..11]), median(&times[195..]));
        println!(
            "the 200th worktree beside the first    {last:>10.1?} / {first:>10.1?}   ratio {:.2}  goal 2",
            last.as_secs_f64() / first.as_secs_f64()
        );
    }
}

fn path_of(file: usize) -> String {
    format!("part{:02}/module{:02}/file{file:05}.rs", file / 400, file / 20 % 20)
}

/// About two kilobytes of unique words: source files of a snapshot are seldom alike.
fn contents_of(file: usize, round: usize) -> String {
    let mut state = (file as u64) << 20 | 1;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ["let", "match", "self", "value", "index", "error", "string", "count"][(state >> 33) as usize % 8].to_owned()
            + &((state >> 40) % 1_000).to_string()
    };
    let mut text = format!("// round {round}\n");
    for line in 0..60 {
        text += &format!("{} {} = {}({}, {line});\n", word(), word(), word(), word());
    }
    text
}

/// Files that were written in the same second as the index are read again at every check, by git and by us: real use of a
/// worktree begins later.
fn wait() {
    std::thread::sleep(Duration::from_millis(1_100));
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

fn git(root: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")])
        .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.org")])
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
