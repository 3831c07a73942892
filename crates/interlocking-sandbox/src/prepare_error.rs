//! Why a sandbox could not be prepared.

use std::path::PathBuf;

use crate::protection::Protection;

/// Why a sandbox could not be prepared. Nothing can be started in it.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// This system cannot enforce a requested protection.
    #[error(
        "this system cannot keep a program from {}: {explanation}; go on without, by `Sandbox::accept_without`, or use another system",
        listed(missing)
    )]
    CannotEnforce {
        /// The protections that it cannot enforce.
        missing: Vec<Protection>,
        /// What the system has instead: [`Support::explanation`](crate::Support::explanation).
        explanation: String,
    },
    /// A granted path cannot be opened, or a path below it cannot be read.
    #[error("{} cannot be granted: {cause}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why it cannot.
        cause: String,
    },
    /// Files in writable paths have hard links outside them, so the program could read and write files outside.
    #[error("{} of the files have other names outside the sandbox, {} for one: copy them, or accept it by `Sandbox::accept_foreign_links`", links.len(), links.first().map(|link| link.display().to_string()).unwrap_or_default())]
    ForeignLinks {
        /// One path for each file, sorted.
        links: Vec<PathBuf>,
    },
    /// A preset would grant a settings file that contains secrets.
    #[error(
        "a confined program would read what looks like secrets, {}: move them to where the tool keeps its credentials (`cargo login`, a credential helper of git), or grant the file all the same by `Sandbox::read` instead of the preset",
        secrets.iter().map(|(path, name)| format!("{name} in {}", path.display())).collect::<Vec<_>>().join(", ")
    )]
    Secrets {
        /// The file and the name of each secret, never its value.
        secrets: Vec<(PathBuf, String)>,
    },
    /// The rules could not be built, or the kernel refused them.
    #[error("the rules of the sandbox were refused: {cause}")]
    Refused {
        /// The cause.
        cause: String,
    },
}

fn listed(protections: &[Protection]) -> String {
    protections.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
