//! What the commands may reach.
//!
//! **Invariant:** who writes where tests are built runs no code of an agent's, and who runs an agent's code writes nowhere but to a
//! directory that goes when its process has ended.

use super::toolchain::Toolchain;
use interlocking_sandbox::{Network, Protection, Sandbox, Support};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// What this system cannot keep builds and tests from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this system cannot keep the code under test from {}, while it is built and tested: {explanation}; run it where that can be kept, or say that it may go on without: `--accept-weaker-isolation`",
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
)]
pub struct Unconfined {
    /// What it cannot.
    pub missing: Vec<Protection>,
    /// What was found instead.
    pub explanation: String,
}

impl Unconfined {
    /// What is missing on this system, if something is.
    pub fn on_this_system() -> Option<Self> {
        let (missing, explanation) = (missing(), Support::of_this_system().explanation().to_owned());
        (!missing.is_empty()).then_some(Self { missing, explanation })
    }
}

/// The sandboxes of one runner.
#[derive(Debug, Clone, Default)]
pub(super) struct Confinement {
    /// What is not there and was accepted to be missing.
    waived: BTreeSet<Protection>,
}

impl Confinement {
    /// Everything that a sandbox can enforce.
    ///
    /// # Errors
    ///
    /// [`Unconfined`] where this system cannot.
    pub(super) fn of_this_system() -> Result<Self, Unconfined> {
        Unconfined::on_this_system().map_or_else(|| Ok(Self::default()), Err)
    }

    /// As much as this system can enforce.
    pub(super) fn as_far_as_possible() -> Self {
        Self { waived: missing().into_iter().collect() }
    }

    /// For a command that builds: it writes to the checkout, the artefacts and a temporary directory.
    pub(super) fn of_build(&self, build: &Build<'_>, toolchain: &Toolchain, program: &str) -> Sandbox {
        let sandbox = Sandbox::for_place(build.checkout)
            .temporary_directory(build.temporary)
            .write(build.target)
            .cargo()
            .git()
            .tool_chain_of(program)
            // Cargo links its artefacts to each other, and nobody else has been where these three are.
            .accept_foreign_links();
        self.finish(sandbox, toolchain)
    }

    /// For one process of a test program: it reads the checkout but for git and what is `hidden` there, if anything is, runs what was built for it,
    /// and writes to a temporary directory of its own.
    ///
    /// # Errors
    ///
    /// Where the checkout cannot be listed, or the path of what is hidden leads out of it.
    pub(super) fn of_test(
        &self,
        checkout: &Path,
        hidden: Option<&Path>,
        programs: &[PathBuf],
        temporary: &Path,
        toolchain: &Toolchain,
    ) -> io::Result<Sandbox> {
        let mut sandbox = Sandbox::for_place(temporary).temporary_directory(temporary);
        let mut directory = checkout.to_owned();
        // What is granted is granted with all below it, so everything beside the way to what is hidden is granted by itself.
        for step in hidden.unwrap_or(Path::new(".git")).components() {
            let Component::Normal(step) = step else {
                let said = "the path of what no test may read leads out of it";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
            };
            for entry in fs::read_dir(&directory)? {
                let entry = entry?;
                let is_left_out = entry.file_name() == step || entry.file_name() == ".git";
                // A link leads where an agent wants it to.
                if !is_left_out && !entry.file_type()?.is_symlink() {
                    sandbox = sandbox.read(entry.path());
                }
            }
            directory.push(step);
            // So does a link on the way.
            if !fs::symlink_metadata(&directory).is_ok_and(|metadata| metadata.is_dir()) {
                break;
            }
        }
        sandbox = programs.iter().fold(sandbox, Sandbox::execute);
        Ok(self.finish(sandbox, toolchain))
    }

    fn finish(&self, sandbox: Sandbox, toolchain: &Toolchain) -> Sandbox {
        let network = if toolchain.allow_network { Network::LeftAlone } else { Network::Cut };
        let sandbox = toolchain.readable_paths.iter().fold(sandbox.network(network), Sandbox::execute);
        self.waived.iter().copied().fold(sandbox, Sandbox::accept_without)
    }
}

/// Where a build goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Build<'a> {
    pub(super) checkout: &'a Path,
    pub(super) target: &'a Path,
    pub(super) temporary: &'a Path,
}

fn missing() -> Vec<Protection> {
    // What a sandbox wants does not depend on what it grants.
    Sandbox::for_place("/").network(Network::Cut).missing_on(Support::of_this_system())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_is_said_with_what_to_do() {
        let unconfined = Unconfined { missing: vec![Protection::Signals], explanation: "an old kernel".to_owned() };
        let said = "this system cannot keep the code under test from signals to programs outside, while it is built and tested: an old \
            kernel; run it where that can be kept, or say that it may go on without: `--accept-weaker-isolation`";
        assert_eq!(unconfined.to_string(), said);
    }

    /// Who builds writes where tests are built; who tests does not, and does not even read it.
    #[test]
    fn artefacts_are_written_by_builds_alone() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = directory.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let (checkout, target, temporary) = (at("checkout"), at("target"), at("temporary"));
        let (sources, tests) = (at("checkout/src"), at("checkout/tests"));
        let program = target.join("p");
        fs::write(&program, "").unwrap();
        let (confinement, toolchain) = (Confinement::as_far_as_possible(), Toolchain::default());
        let build = Build { checkout: &checkout, target: &target, temporary: &temporary };
        let building = confinement.of_build(&build, &toolchain, "cargo");
        assert!(building.reaches(&target.join("new")) && building.reaches(&sources));
        let programs = [program.clone()];
        let testing =
            confinement.of_test(&checkout, Some(Path::new("src")), &programs, &temporary, &toolchain).unwrap();
        assert!(testing.reaches(&program) && testing.reaches(&tests) && testing.reaches(&temporary));
        assert!(
            !testing.reaches(&target.join("q"))
                && !testing.reaches(&sources)
                && !testing.reaches(&checkout.join("new"))
        );
    }

    /// Neither by a link in a commit nor by a path that was configured.
    #[cfg(unix)]
    #[test]
    fn the_way_to_what_is_hidden_leads_nowhere_else() {
        let directory = tempfile::tempdir().unwrap();
        let (checkout, outside) = (directory.path().join("checkout"), directory.path().join("outside"));
        for made in [&checkout, &outside] {
            fs::create_dir(made).unwrap();
            fs::write(made.join("secret"), "").unwrap();
        }
        std::os::unix::fs::symlink(&outside, checkout.join("crates")).unwrap();
        let (confinement, toolchain) = (Confinement::as_far_as_possible(), Toolchain::default());
        let temporary = tempfile::tempdir().unwrap();
        let sandbox =
            |hidden: &str| confinement.of_test(&checkout, Some(Path::new(hidden)), &[], temporary.path(), &toolchain);
        let linked = sandbox("crates/x").unwrap();
        assert!(linked.reaches(&checkout.join("secret")) && !linked.reaches(&outside.join("secret")));
        for elsewhere in ["../outside", "/etc"] {
            assert_eq!(sandbox(elsewhere).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}
