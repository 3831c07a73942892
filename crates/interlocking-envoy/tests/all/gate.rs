//! The variants gate in a repository, judged by git.

use crate::support::write;
use interlocking_envoy::gate::{Answer, Decision, GateError, RuleError, VariantsGate};
use interlocking_envoy::{Prompt, PromptKind};
use interlocking_worktree::{BranchName, Configuration, Repository, Signature};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

struct Place {
    directory: TempDir,
    repository: Repository,
}

impl Place {
    /// A repository on branch `tides`, with a worktree for each variant, each with a commit of its own.
    fn with_variants(variants: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let repository =
            Repository::init_with(directory.path().join("project"), Configuration::RepositoryOnly).unwrap();
        let place = Self { directory, repository };
        write(&place.project().join("README.md"), "# Tides\n");
        let main = place.repository.main_worktree().unwrap().unwrap();
        let base = main.commit_all(&author(), "Begin").unwrap().unwrap();
        place.git(&["branch", "tides"]);
        place.git(&["checkout", "--quiet", "tides"]);
        for variant in variants {
            let branch = BranchName::new(&prompt(variant).worktree_branches()[1]).unwrap();
            let worktree = place.repository.create_worktree(place.worktree(variant), branch, base).unwrap();
            write(&worktree.path().join(format!("{variant}.rs")), "pub fn f() {}\n");
            worktree.commit_all(&author(), "Implement").unwrap().unwrap();
        }
        place
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn worktree(&self, variant: &str) -> PathBuf {
        self.directory.path().join(variant)
    }

    fn gate(&self) -> VariantsGate {
        VariantsGate::discover(self.project()).unwrap()
    }

    fn git(&self, words: &[&str]) -> String {
        git(&self.project(), words)
    }

    fn branches(&self) -> Vec<String> {
        self.git(&["branch", "--format=%(refname:short)"]).lines().map(str::to_owned).collect()
    }

    fn record(&self, variant: &str, decision: Decision) -> Result<interlocking_envoy::gate::GateReturn, GateError> {
        let answer = Answer { decision, reason: "as said".to_owned(), thoughts: String::new() };
        self.gate().record(&prompt(variant), &answer)
    }
}

fn author() -> Signature {
    Signature::new("Agent", "agent@example.org").unwrap()
}

fn prompt(variant: &str) -> Prompt {
    let variant = Some(variant.parse().unwrap());
    Prompt { feature_branch: "tides".to_owned(), number: 3, variant, kind: PromptKind::Implementation }
}

fn git(directory: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(variable, "/dev/null");
    }
    let output = command.args(words).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// ENV-74, ENV-98: main is merged, exactly one; an alternative is kept and marked; a discarded variant is
/// archived.
#[test]
fn three_ways_for_three_variants() {
    let place = Place::with_variants(&["A", "B", "C"]);
    let discarded = place.git(&["rev-parse", "tides-prompts/implementation-3-B"]);

    let alternative = place.record("A", Decision::Alternative).unwrap();
    assert!(!alternative.result.unwrap().merged);
    let discard = place.record("B", Decision::Discard).unwrap();
    assert!(!discard.result.unwrap().merged);
    let main = place.record("C", Decision::Main).unwrap();
    assert_eq!(main.result, None, "it goes on");
    assert_eq!(main.unmerged_alternatives, ["tides-prompts/implementation-3-A"]);

    // The next action of the protocol for a main variant.
    let feature = place.repository.main_worktree().unwrap().unwrap();
    let head = place.repository.branch_head(&BranchName::new("tides-prompts/implementation-3-C").unwrap()).unwrap();
    feature.merge(head.unwrap(), &author(), "Merge prompt 3").unwrap();

    let files = place.git(&["ls-tree", "--name-only", "tides"]);
    assert_eq!(files, "C.rs\nREADME.md", "the main one alone is merged");
    assert!(place.worktree("A").join("A.rs").exists(), "an alternative's worktree is kept");
    assert!(!place.worktree("B").exists(), "a discarded one's is removed");
    assert_eq!(
        place.branches(),
        [
            "archive/tides-prompts/implementation-3-B",
            "main",
            "tides",
            "tides-prompts/implementation-3-A",
            "tides-prompts/implementation-3-C"
        ]
    );
    assert_eq!(place.git(&["rev-parse", "archive/tides-prompts/implementation-3-B"]), discarded);
    assert_eq!(place.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 3);
    assert_eq!(place.git(&["status", "--porcelain"]), "", "what is recorded is in no worktree");

    // Marked for other processes.
    let decisions = place.gate().decisions().unwrap();
    let mark = decisions.of("tides", 3, "A".parse().unwrap()).unwrap();
    assert_eq!((mark.variant_solution, &*mark.reason), (Decision::Alternative, "as said"));
    let reported = place.gate().completion("tides", 3).unwrap().unmerged_alternatives;
    assert_eq!(reported.iter().map(|kept| &*kept.branch).collect::<Vec<_>>(), ["tides-prompts/implementation-3-A"]);
}

/// ENV-74, ENV-75: refused before git is changed.
#[test]
fn a_second_main_changes_nothing() {
    let place = Place::with_variants(&["A", "B"]);
    place.record("A", Decision::Main).unwrap();
    let error = place.record("B", Decision::Main).unwrap_err();
    assert!(matches!(error, GateError::Rule(RuleError::SecondMain { .. })), "{error}");
    assert!(place.worktree("B").exists());
    assert_eq!(place.branches().len(), 4);
    let error = place.record("C", Decision::Main).unwrap_err();
    assert_eq!(
        error.to_string(),
        "prompt 3_C of tides has no branch: neither tides/implementation-3-C nor tides-prompts/implementation-3-C is there; \
         start the prompt first"
    );
}

/// ENV-75: a feature may be named by either form of its name.
#[test]
fn a_main_is_one_whatever_the_feature_is_called() {
    let place = Place::with_variants(&["A", "B"]);
    place.record("A", Decision::Main).unwrap();
    let answer = Answer { decision: Decision::Main, reason: String::new(), thoughts: String::new() };
    let by_branches = Prompt { feature_branch: "tides-prompts".to_owned(), ..prompt("B") };
    let error = place.gate().record(&by_branches, &answer).unwrap_err();
    assert!(matches!(error, GateError::Rule(RuleError::SecondMain { .. })), "{error}");
    assert_eq!(place.gate().completion("tides-prompts", 3).unwrap(), place.gate().completion("tides", 3).unwrap());
    // Its branch is deleted once it is merged.
    place.git(&["worktree", "remove", &place.worktree("A").display().to_string()]);
    place.git(&["branch", "-D", "tides-prompts/implementation-3-A"]);
    assert!(place.gate().record(&by_branches, &answer).is_err());
}

/// A worktree that has left the branch, or rebases it, is not left behind without it.
#[test]
fn a_discard_of_a_branch_that_its_worktree_has_left_is_refused() {
    let place = Place::with_variants(&["A"]);
    let worktree = place.worktree("A");
    git(&worktree, &["checkout", "--quiet", "--detach"]);
    let refused = || {
        let error = place.record("A", Decision::Discard).unwrap_err();
        assert!(matches!(error, GateError::Detached { .. }), "{error}");
        assert_eq!(place.branches().len(), 3);
    };
    refused();
    git(&worktree, &["checkout", "--quiet", "tides-prompts/implementation-3-A"]);
    write(&place.project().join("A.rs"), "theirs\n");
    let main = place.repository.main_worktree().unwrap().unwrap();
    main.commit_all(&author(), "Theirs").unwrap().unwrap();
    let mut rebase = Command::new("git");
    rebase.args(["-c", "user.name=P", "-c", "user.email=p@example.org", "rebase", "tides"]).current_dir(&worktree);
    assert!(!rebase.output().unwrap().status.success());
    refused();
    git(&worktree, &["rebase", "--abort"]);
    place.record("A", Decision::Discard).unwrap();
    assert!(!worktree.exists());
}

/// No uncommitted work is lost, and an interrupted decision is resumed.
#[test]
fn a_discard_loses_nothing_and_can_be_repeated() {
    let place = Place::with_variants(&["A"]);
    write(&place.worktree("A").join("notes.txt"), "not committed");
    let error = place.record("A", Decision::Discard).unwrap_err();
    assert!(matches!(error, GateError::Remove(_)), "{error}");
    assert!(place.worktree("A").join("notes.txt").exists());
    assert_eq!(place.gate().decisions().unwrap(), Default::default());

    std::fs::remove_file(place.worktree("A").join("notes.txt")).unwrap();
    // The state that a process leaves when it ends in the middle.
    place.git(&["worktree", "remove", &place.worktree("A").display().to_string()]);
    place.record("A", Decision::Discard).unwrap();
    place.record("A", Decision::Discard).unwrap();
    assert_eq!(place.branches(), ["archive/tides-prompts/implementation-3-A", "main", "tides"]);
}

/// ENV-74: an earlier attempt at the prompt was discarded, too. Refused before anything is removed.
#[test]
fn a_discard_whose_archived_name_is_taken_changes_nothing() {
    let place = Place::with_variants(&["A"]);
    place.record("A", Decision::Discard).unwrap();
    let (branch, archived) = ("tides-prompts/implementation-3-A", "archive/tides-prompts/implementation-3-A");
    place.git(&["worktree", "add", "--quiet", "-b", branch, &place.worktree("A").display().to_string(), "tides"]);
    let refused = || {
        let error = place.record("A", Decision::Discard).unwrap_err();
        assert!(matches!(error, GateError::Rule(RuleError::ArchiveTaken { .. })), "{error}");
        assert!(place.worktree("A").join("README.md").exists());
        error.to_string()
    };
    let said = format!("prompt 3_A of tides cannot be discarded: its branch is archived as {archived}, and there is ");
    assert_eq!(refused(), format!("{said}{archived}: rename that first"));
    place.git(&["branch", "-m", archived, "old"]);
    place.git(&["branch", "-m", "old", "archive"]);
    assert_eq!(refused(), format!("{said}archive: rename that first"));
    place.git(&["branch", "-m", "archive", "old"]);
    place.record("A", Decision::Discard).unwrap();
    assert!(!place.worktree("A").exists());
    assert_eq!(place.branches(), [archived, "main", "old", "tides"]);
}

/// A wrongly discarded branch can be restored as the message says, and decided again.
#[test]
fn a_discarded_prompt_that_is_brought_back_can_be_decided_again() {
    let place = Place::with_variants(&["A"]);
    place.record("A", Decision::Discard).unwrap();
    let error = place.record("A", Decision::Main).unwrap_err();
    assert_eq!(
        error.to_string(),
        "prompt 3_A of tides was discarded: its branch is archived as archive/tides-prompts/implementation-3-A, rename it back first"
    );
    place.git(&["branch", "-m", "archive/tides-prompts/implementation-3-A", "tides-prompts/implementation-3-A"]);
    place.record("A", Decision::Main).unwrap();
    let decisions = place.gate().decisions().unwrap();
    assert_eq!(decisions.of("tides", 3, "A".parse().unwrap()).unwrap().variant_solution, Decision::Main);
}

/// ENV-74: an earlier attempt was archived under the name that prompts had before the feature had a branch. The
/// decision is on the branch that is there.
#[test]
fn a_decision_is_on_the_branch_that_is_there() {
    let place = Place::with_variants(&["A", "B"]);
    for variant in ["A", "B"] {
        place.git(&["branch", &format!("archive/tides/implementation-3-{variant}"), "main"]);
    }
    place.record("A", Decision::Discard).unwrap();
    place.record("B", Decision::Main).unwrap();
    assert!(!place.worktree("A").exists() && place.worktree("B").exists());
    let archived = ["tides-prompts/implementation-3-A", "tides/implementation-3-A", "tides/implementation-3-B"];
    let archived = archived.map(|name| format!("archive/{name}"));
    let others = ["main", "tides", "tides-prompts/implementation-3-B"].map(str::to_owned);
    assert_eq!(place.branches(), [&archived[..], &others].concat());
}

/// ENV-74, ENV-75: an archived branch cannot be merged, also where no decision about it is stored.
#[test]
fn a_prompt_whose_branch_is_archived_can_only_be_discarded() {
    let place = Place::with_variants(&["A"]);
    // The state that a process leaves when it ends before it stores the decision.
    place.git(&["worktree", "remove", &place.worktree("A").display().to_string()]);
    place.git(&["branch", "-m", "tides-prompts/implementation-3-A", "archive/tides-prompts/implementation-3-A"]);
    for decision in [Decision::Main, Decision::Alternative] {
        let error = place.record("A", decision).unwrap_err();
        assert!(matches!(error, GateError::Rule(RuleError::IsDiscarded { .. })), "{decision}: {error}");
        assert_eq!(place.gate().decisions().unwrap(), Default::default());
    }
    let decided = || place.gate().decisions().unwrap().of("tides", 3, "A".parse().unwrap()).cloned();
    place.record("A", Decision::Discard).unwrap();
    assert_eq!(decided().unwrap().variant_solution, Decision::Discard);
    assert_eq!(place.branches(), ["archive/tides-prompts/implementation-3-A", "main", "tides"]);
}

/// If many processes choose main at the same time, exactly one succeeds.
#[test]
fn one_of_many_is_main() {
    let variants = ["A", "B", "C", "D", "E", "F"];
    let place = Place::with_variants(&variants);
    let mains = std::thread::scope(|scope| {
        let settling: Vec<_> =
            variants.iter().map(|variant| scope.spawn(|| place.record(variant, Decision::Main))).collect();
        settling.into_iter().map(|thread| thread.join().unwrap()).filter(Result::is_ok).count()
    });
    assert_eq!(mains, 1);
}

/// An agent in an ordinary worktree can write in the repository's git directory.
#[cfg(unix)]
#[test]
fn a_lock_or_a_store_that_is_no_file_is_refused_at_once() {
    for (name, kind) in [
        ("envoy-variants.lock", "pipe"),
        ("envoy-variants.lock", "link"),
        ("envoy-variants.json", "pipe"),
        ("envoy-variants.json", "link"),
    ] {
        let place = Place::with_variants(&["A"]);
        let directory = place.project().join(".git/interlocking");
        std::fs::create_dir_all(&directory).unwrap();
        let (file, other) = (directory.join(name), place.project().join("other"));
        if kind == "pipe" {
            assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        } else {
            std::os::unix::fs::symlink(&other, &file).unwrap();
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let gate = place.gate();
        std::thread::spawn(move || {
            let answer = Answer { decision: Decision::Main, reason: "as said".to_owned(), thoughts: String::new() };
            sender.send(gate.record(&prompt("A"), &answer)).unwrap();
        });
        let recorded = receiver.recv_timeout(std::time::Duration::from_secs(60)).expect("it waits for nothing");
        let refused = format!("{:?}", recorded.unwrap_err());
        assert!(refused.contains("it is no regular file"), "{name}, {kind}: {refused}");
        assert!(!other.exists(), "{name}, {kind}: nothing is written elsewhere");
    }
}
