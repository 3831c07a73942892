//! The project of a run: a small project under git, and a worktree of it for the agent.

use interlocking::agents::program::{Environment, Invocation};
use interlocking::prelude::NodeError;
use interlocking::sandbox::{Network, Sandbox, Support};
use interlocking::worktree::{BranchName, CommitId, Configuration, Force, Repository, Signature, Worktree};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const FILES: [(&str, &str); 2] =
    [("tide.sh", include_str!("../demo/tide.sh")), ("check.sh", include_str!("../demo/check.sh"))];

/// A small project under git, and a worktree of it for the agent. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Site {
    repository: Repository,
    base: CommitId,
    /// Where the agent works.
    pub worktree: Worktree,
}

impl Site {
    /// Makes both, in an empty directory.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn create(directory: &Path) -> Result<Self, Box<dyn Error>> {
        let repository = Repository::init_with(directory.join("project"), Configuration::RepositoryOnly)?;
        let project = repository.main_worktree()?.ok_or("the new repository has no working tree")?;
        for (name, content) in FILES {
            std::fs::write(project.path().join(name), content)?;
        }
        let base = project.commit_all(&author()?, "Tides")?.ok_or("nothing was committed")?;
        // As in the protocol: beside the feature's branch, since git allows no branch below another.
        let branch = BranchName::new("main-prompts/implementation-1")?;
        let worktree = repository.create_worktree(directory.join("worktree"), branch, base)?;
        Ok(Self { repository, base, worktree })
    }

    /// Commits the contents of the worktree, as one commit after the project's: commits of fixes that did not hold are not part
    /// of it.
    pub(crate) fn commit(&self, message: &str) -> Result<CommitId, NodeError> {
        Ok(self.worktree.squash_since(self.base, &author()?, message)?.unwrap_or(self.base))
    }

    /// Runs the project's check in a fresh checkout of a commit; returns the check's output if it fails.
    pub(crate) fn check(&self, commit: CommitId, longest: Duration) -> Result<Result<(), String>, NodeError> {
        let place = tempfile::tempdir()?;
        let checkout = self.repository.create_detached_worktree(place.path().join("checkout"), commit)?;
        let checked = run_check(checkout.path(), longest);
        self.repository.remove_worktree(&checkout, Force::DiscardChanges)?.delete()?;
        checked
    }

    /// Moves the project's branch to a commit of the worktree.
    pub(crate) fn merge(&self, commit: &str) -> Result<(), NodeError> {
        Ok(self.repository.fast_forward(&BranchName::new("main")?, commit.parse()?, self.base)?)
    }
}

/// Runs the check of the project that is in a directory.
///
/// The agent could have written any of the code that runs here. So the check gets only the named variables of this process, it is
/// confined to that directory as far as the system can enforce that, and its descendants are ended with it, or when its time limit is
/// reached.
fn run_check(place: &Path, longest: Duration) -> Result<Result<(), String>, NodeError> {
    // A runtime of its own has a clock of its own: a paused clock of a test could advance while the program runs.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match tokio::time::timeout(longest, checked(place)).await {
            Ok(checked) => checked,
            // The program and its descendants are ended when the future is dropped.
            Err(_) => Ok(Err(format!("the check took longer than {longest:?}, and was ended"))),
        }
    })
}

async fn checked(place: &Path) -> Result<Result<(), String>, NodeError> {
    let invocation = Invocation {
        arguments: vec!["check.sh".into()],
        directory: Some(place.to_owned()),
        sandbox: Some(Arc::new(sandbox(place, Support::of_this_system()))),
        ..Invocation::new("sh", Environment::empty().inherit("PATH").inherit("LANG"))
    };
    let mut running = invocation.start().await?;
    let said = running.output_tail().await?;
    let ended = running.end().await?;
    Ok(if ended.exit == Some(0) { Ok(()) } else { Err(said) })
}

/// The sandbox of the check: with as many of its protections as the system can enforce.
fn sandbox(place: &Path, support: &Support) -> Sandbox {
    let sandbox = Sandbox::for_place(place).network(Network::Denied);
    sandbox.missing_on(support).into_iter().fold(sandbox, Sandbox::accept_without)
}

fn author() -> Result<Signature, interlocking::worktree::SignatureError> {
    Signature::new("Developer", "developer@example.org")
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlocking::sandbox::Protection;

    fn checked(script: &str, longest: Duration) -> (Result<(), String>, tempfile::TempDir) {
        let place = tempfile::tempdir().unwrap();
        let site = Site::create(place.path()).unwrap();
        std::fs::write(site.worktree.path().join("check.sh"), script).unwrap();
        (run_check(site.worktree.path(), longest).unwrap(), place)
    }

    #[test]
    fn a_check_has_the_protections_that_the_system_can_enforce() {
        for enforceable in [&Protection::ALL[..], &Protection::ALL[1..], &[]] {
            let support = Support::of(enforceable.iter().copied(), "a test");
            let sandbox = sandbox(Path::new("/place"), &support);
            assert_eq!(sandbox.missing_on(&support), []);
            let missing = sandbox.missing_on(&Support::of([], "a test"));
            assert_eq!(missing, enforceable, "each is still requested");
        }
    }

    /// Cargo sets variables of this process that the check does not name.
    #[test]
    fn a_check_sees_no_variable_that_was_not_named() {
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let (outcome, _place) = checked("env; exit 1", Duration::from_secs(60));
        let seen = outcome.unwrap_err();
        assert!(seen.contains("PATH=") && !seen.contains("CARGO") && !seen.contains("HOME="), "{seen}");
    }

    #[test]
    fn a_check_that_goes_on_is_ended_with_all_that_it_started() {
        let script = "trap '' TERM INT HUP\n(setsid sh -c 'echo $$ > child.txt; exec sleep 1000' &)\n\
                      exec >&- 2>&-\nsleep 1000";
        // On a busy machine the child may start late.
        let child = [250, 2_000, 16_000].map(Duration::from_millis).into_iter().find_map(|longest| {
            let (outcome, place) = checked(script, longest);
            assert_eq!(outcome, Err(format!("the check took longer than {longest:?}, and was ended")));
            let child = std::fs::read_to_string(place.path().join("worktree/child.txt")).ok()?;
            Some(child.trim().to_owned()).filter(|child| !child.is_empty())
        });
        let child = child.expect("the check starts a child");
        // A killed process may take a moment to disappear.
        let lives = || std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| !stat.contains(") Z"));
        let begun = std::time::Instant::now();
        while lives() {
            assert!(begun.elapsed() < Duration::from_secs(20), "its child lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
