//! Why a sandbox could not be prepared.

use std::path::PathBuf;

use crate::protection::Protection;

/// A sandbox could not be prepared: nothing may be started in it.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// This system cannot enforce what was asked for.
    #[error(
        "this system cannot keep a program from {}: {explanation}; go on without, by `Sandbox::accept_without`, or use another system",
        listed(missing)
    )]
    CannotEnforce {
        /// What it cannot.
        missing: Vec<Protection>,
        /// What was found instead.
        explanation: String,
    },
    /// A path that was granted cannot be opened, or one below it cannot be read.
    #[error("{} cannot be granted: {cause}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
    /// Files in the place have names outside it, so whoever reads or writes the one reads or writes the other.
    #[error("{} of the files have other names outside the sandbox, {} for one: copy them, or accept it by `Sandbox::accept_foreign_links`", links.len(), links.first().map(|link| link.display().to_string()).unwrap_or_default())]
    ForeignLinks {
        /// One path of each, ordered.
        links: Vec<PathBuf>,
    },
    /// Settings of a tool would be granted with secrets in them.
    #[error(
        "a confined program would read what looks like secrets, {}: move them to where the tool keeps its credentials (`cargo login`, a credential helper of git), or grant the file all the same by `Sandbox::read` instead of the preset",
        secrets.iter().map(|(path, name)| format!("{name} in {}", path.display())).collect::<Vec<_>>().join(", ")
    )]
    Secrets {
        /// The file and the name of each, never a value.
        secrets: Vec<(PathBuf, String)>,
    },
    /// The rules were refused.
    #[error("the rules of the sandbox were refused: {cause}")]
    Refused {
        /// What the kernel said.
        cause: String,
    },
}

fn listed(protections: &[Protection]) -> String {
    protections.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
