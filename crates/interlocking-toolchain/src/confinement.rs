//! The sandboxes of the commands.
//!
//! **Invariant:** with Rust's own harness, a process that runs a test can write only to a directory that is removed when the process
//! has ended, so no test can write where tests are built.
//!
//! Every other command can write the checkout and its artefacts, and so can the code that it runs: build scripts, procedural macros
//! and, with the other harnesses, the tests. A test command of theirs has artefacts of its own, which nothing else uses. And whatever
//! a command may have left in the checkout, no link in it is followed ([`files`](crate::files)).

use super::toolchain::Toolchain;
use interlocking_sandbox::{Network, Protection, Sandbox, Support};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// This system cannot confine builds and tests as demanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this system cannot keep the code under test from {}, while it is built and tested: {explanation}; run it where that can be kept, or say that it may go on without: `--accept-weaker-isolation`",
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
)]
pub struct Unconfined {
    /// The protections that this system cannot enforce.
    pub missing: Vec<Protection>,
    /// What this system supports.
    pub explanation: String,
}

impl Unconfined {
    /// The protections that are missing on this system; `None` if all are there.
    pub fn on_this_system() -> Option<Self> {
        let (missing, explanation) = (missing(), Support::of_this_system().explanation().to_owned());
        (!missing.is_empty()).then_some(Self { missing, explanation })
    }
}

/// Makes the sandboxes of one runner.
#[derive(Debug, Clone, Default)]
pub(super) struct Sandboxes {
    /// The missing protections that the caller has accepted to go without.
    waived: BTreeSet<Protection>,
}

impl Sandboxes {
    /// Sandboxes with every protection that there is.
    ///
    /// # Errors
    ///
    /// [`Unconfined`] if this system lacks one of them.
    pub(super) fn of_this_system() -> Result<Self, Unconfined> {
        Unconfined::on_this_system().map_or_else(|| Ok(Self::default()), Err)
    }

    /// Sandboxes with the protections that this system can enforce.
    pub(super) fn as_far_as_possible() -> Self {
        Self { waived: missing().into_iter().collect() }
    }

    /// The sandbox for a build command: it can write to the checkout, the artefacts and a temporary directory.
    pub(super) fn of_build(&self, build: &Build<'_>, toolchain: &Toolchain, program: &str) -> Sandbox {
        let sandbox = Sandbox::for_place(build.checkout)
            .temporary_directory(build.temporary)
            .write(build.target)
            .cargo()
            .git()
            .tool_chain_of(program)
            // Cargo hard-links its artefacts to each other, and no other process can have written to these three directories.
            .accept_foreign_links();
        self.finish(sandbox, toolchain)
    }

    /// The sandbox for one process of a test program: it can read the checkout except `.git` and the path `hidden`, execute the
    /// `programs` that were built, and write to a temporary directory of its own.
    ///
    /// # Errors
    ///
    /// If the checkout cannot be listed, or the hidden path leads out of it.
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
        // A grant covers everything below its path, so each entry beside the path to the hidden one is granted separately.
        for step in hidden.unwrap_or(Path::new(".git")).components() {
            let Component::Normal(step) = step else {
                let said = "the path of what no test may read leads out of it";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
            };
            for entry in fs::read_dir(&directory)? {
                let entry = entry?;
                let is_left_out = entry.file_name() == step || entry.file_name() == ".git";
                // An agent decides where a link leads.
                if !is_left_out && !entry.file_type()?.is_symlink() {
                    sandbox = sandbox.read(entry.path());
                }
            }
            directory.push(step);
            // The same holds for a link that is part of the hidden path.
            if !fs::symlink_metadata(&directory).is_ok_and(|metadata| metadata.is_dir()) {
                break;
            }
        }
        sandbox = programs.iter().fold(sandbox, Sandbox::execute);
        Ok(self.finish(sandbox, toolchain))
    }

    fn finish(&self, sandbox: Sandbox, toolchain: &Toolchain) -> Sandbox {
        let network = if toolchain.allow_network { Network::Allowed } else { Network::Denied };
        let sandbox = toolchain.readable_paths.iter().fold(sandbox.network(network), Sandbox::execute);
        self.waived.iter().copied().fold(sandbox, Sandbox::accept_without)
    }
}

/// The directories of a build.
#[derive(Debug, Clone, Copy)]
pub(super) struct Build<'a> {
    pub(super) checkout: &'a Path,
    pub(super) target: &'a Path,
    pub(super) temporary: &'a Path,
}

fn missing() -> Vec<Protection> {
    // Which protections a sandbox needs does not depend on its grants.
    Sandbox::for_place("/").network(Network::Denied).missing_on(Support::of_this_system())
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

    /// Builds can write where tests are built; tests can neither write nor read there.
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
        let (sandboxes, toolchain) = (Sandboxes::as_far_as_possible(), Toolchain::default());
        let build = Build { checkout: &checkout, target: &target, temporary: &temporary };
        let building = sandboxes.of_build(&build, &toolchain, "cargo");
        assert!(building.reaches(&target.join("new")) && building.reaches(&sources));
        let programs = [program.clone()];
        let testing = sandboxes.of_test(&checkout, Some(Path::new("src")), &programs, &temporary, &toolchain).unwrap();
        assert!(testing.reaches(&program) && testing.reaches(&tests) && testing.reaches(&temporary));
        assert!(
            !testing.reaches(&target.join("q"))
                && !testing.reaches(&sources)
                && !testing.reaches(&checkout.join("new"))
        );
    }

    /// Neither a link in a commit nor a configured path leads out of the checkout.
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
        let (sandboxes, toolchain) = (Sandboxes::as_far_as_possible(), Toolchain::default());
        let temporary = tempfile::tempdir().unwrap();
        let sandbox =
            |hidden: &str| sandboxes.of_test(&checkout, Some(Path::new(hidden)), &[], temporary.path(), &toolchain);
        let linked = sandbox("crates/x").unwrap();
        assert!(linked.reaches(&checkout.join("secret")) && !linked.reaches(&outside.join("secret")));
        for elsewhere in ["../outside", "/etc"] {
            assert_eq!(sandbox(elsewhere).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}
