//! The description of a sandbox, and the sandbox prepared.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
};

use crate::{
    enforcement::Enforcement,
    grant::{Access, Grant},
    links::links_leading_out,
    presets,
    protection::{Protection, Support},
};

/// Whether a confined program has the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// As it is outside.
    #[default]
    LeftAlone,
    /// None: TCP is refused, and no socket can be made. Pipes and pairs of sockets work.
    Cut,
}

/// What a program and everything that it starts may reach. Nothing is enforced before [`Sandbox::prepare`].
#[derive(Debug, Clone)]
pub struct Sandbox {
    place: PathBuf,
    temporary: Option<PathBuf>,
    grants: Vec<Grant>,
    network: Network,
    unix_sockets: bool,
    foreign_links: bool,
    waived: BTreeSet<Protection>,
}

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
    /// A path that was granted cannot be opened.
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
    /// The rules were refused.
    #[error("the rules of the sandbox were refused: {cause}")]
    Refused {
        /// What the kernel said.
        cause: String,
    },
}

/// A thread could not be confined: nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// No thread could be started.
    #[error("no thread could be started: {0}")]
    Thread(#[from] std::io::Error),
    /// The kernel did not take the rules.
    #[error("the kernel did not confine the thread: {cause}")]
    Refused {
        /// What it said, or which part was not enforced.
        cause: String,
    },
}

impl Sandbox {
    /// For one place: it is read and written, the programs and libraries of the system are read and run, and nothing
    /// else is reached. A directory for temporary files, tools and other paths come on top.
    pub fn for_place(place: impl Into<PathBuf>) -> Self {
        let place = place.into();
        let mut grants = vec![Grant::must(&place, Access::Write)];
        grants.extend(presets::system());
        Self {
            place,
            temporary: None,
            grants,
            network: Network::default(),
            unix_sockets: false,
            foreign_links: false,
            waived: BTreeSet::new(),
        }
    }

    /// The place.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Reads and lists a path too.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.grants.push(Grant::must(path, Access::Read));
        self
    }

    /// Reads, lists and runs a path too.
    #[must_use]
    pub fn execute(mut self, path: impl Into<PathBuf>) -> Self {
        self.grants.push(Grant::must(path, Access::Execute));
        self
    }

    /// Reads, runs and writes a path too.
    #[must_use]
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.grants.push(Grant::must(path, Access::Write));
        self
    }

    /// Temporary files go here: written, and named in [`Sandbox::environment`]. It should be nobody else's, and outside
    /// the place, where it would count as a change.
    #[must_use]
    pub fn temporary_directory(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.grants.push(Grant::must(&path, Access::Write));
        self.temporary = Some(path);
        self
    }

    /// Runs a program, given by path or looked for in `PATH`, with what lies in its directory. A program that is not
    /// there grants nothing. What it needs besides, such as its own settings, is the caller's to list.
    #[must_use]
    pub fn tool_chain_of(mut self, program: impl AsRef<OsStr>) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        self.grants.extend(presets::tool_chain_of(program.as_ref(), &path));
        self
    }

    /// Runs cargo and rustc as they are installed, and reads the dependencies that were fetched before. New ones cannot
    /// be fetched, and credentials are not read; builds go below the place, or wherever `CARGO_TARGET_DIR` is granted.
    #[must_use]
    pub fn cargo(mut self) -> Self {
        let home = |variable: &str, directory: &str| match std::env::var_os(variable) {
            Some(path) => Some(PathBuf::from(path)),
            None => std::env::home_dir().map(|home| home.join(directory)),
        };
        if let (Some(cargo), Some(rustup)) = (home("CARGO_HOME", ".cargo"), home("RUSTUP_HOME", ".rustup")) {
            self.grants.extend(presets::cargo(&cargo, &rustup));
        }
        self
    }

    /// Reads the user's configuration of git, without which git refuses to work if there is one.
    #[must_use]
    pub fn git(mut self) -> Self {
        if let Some(home) = std::env::home_dir() {
            self.grants.extend(presets::git(&home));
        }
        self
    }

    /// The network: left alone unless this says otherwise.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Unix sockets, too, while the network is left alone. A service that listens on one, such as a session bus or a
    /// container engine, does for a confined program what that may not do itself: grant this only where there is none.
    #[must_use]
    pub fn unix_sockets(mut self) -> Self {
        self.unix_sockets = true;
        self
    }

    /// Goes on although files in the place have other names outside it.
    #[must_use]
    pub fn accept_foreign_links(mut self) -> Self {
        self.foreign_links = true;
        self
    }

    /// Goes on where the system cannot enforce this. Where it can, it is enforced all the same.
    #[must_use]
    pub fn accept_without(mut self, protection: Protection) -> Self {
        self.waived.insert(protection);
        self
    }

    /// What is asked for.
    #[must_use]
    pub fn wanted(&self) -> BTreeSet<Protection> {
        let is_wanted = |protection: &Protection| *protection != Protection::Tcp || self.network == Network::Cut;
        Protection::ALL.into_iter().filter(is_wanted).collect()
    }

    /// What is asked for, not accepted to be missing, and not enforced by such a system: for a check before a run
    /// starts. Empty if [`Sandbox::prepare`] will not fail for this.
    #[must_use]
    pub fn missing_on(&self, support: &Support) -> Vec<Protection> {
        let missing = |protection: &Protection| !support.enforces(*protection) && !self.waived.contains(protection);
        self.wanted().into_iter().filter(missing).collect()
    }

    /// Everything that may be reached, in the order it was granted.
    #[must_use]
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Whether something that is granted covers this path: another agent's place must not be.
    #[must_use]
    pub fn reaches(&self, path: &Path) -> bool {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.grants.iter().any(|grant| grant.covers(&path))
    }

    /// Variables for the programs that are started in it: where temporary files go.
    #[must_use]
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let temporary = self.temporary.iter();
        temporary
            .flat_map(|path| ["TMPDIR", "TMP", "TEMP"].map(|name| (name.into(), path.clone().into_os_string())))
            .collect()
    }

    /// Opens what is granted, so that paths cannot be exchanged later, and makes the rules.
    ///
    /// # Errors
    ///
    /// See [`PrepareError`]: nothing may be started.
    pub fn prepare(&self) -> Result<Confinement, PrepareError> {
        self.prepare_on(Support::of_this_system())
    }

    fn prepare_on(&self, support: &Support) -> Result<Confinement, PrepareError> {
        let missing = self.missing_on(support);
        if !missing.is_empty() {
            return Err(PrepareError::CannotEnforce { missing, explanation: support.explanation().to_owned() });
        }
        if !self.foreign_links {
            let writable: Vec<PathBuf> = self
                .grants
                .iter()
                .filter(|grant| grant.access == Access::Write)
                .map(|grant| grant.path.clone())
                .collect();
            let links = links_leading_out(&writable)
                .map_err(|error| PrepareError::Path { path: self.place.clone(), cause: error.to_string() })?;
            if !links.is_empty() {
                return Err(PrepareError::ForeignLinks { links });
            }
        }
        let enforced: BTreeSet<_> =
            self.wanted().into_iter().filter(|protection| support.enforces(*protection)).collect();
        let enforcement = Enforcement::new(&self.grants, &enforced, self.network, self.unix_sockets)?;
        Ok(Confinement { enforcement, enforced })
    }
}

/// A sandbox whose rules the kernel has: threads and programs can be confined by it any number of times.
pub struct Confinement {
    enforcement: Enforcement,
    enforced: BTreeSet<Protection>,
}

impl Confinement {
    /// What is enforced: all that was asked for, or less where that was accepted.
    #[must_use]
    pub fn enforced(&self) -> &BTreeSet<Protection> {
        &self.enforced
    }

    /// Does `work` on a new thread that is confined, and waits for it.
    ///
    /// Programs that `work` starts are confined too, with all that they start, for as long as they live. So this
    /// confines a command: `confinement.enter(|| command.spawn())`; the child is then used as any other. An
    /// asynchronous runtime is entered inside: `let runtime = Handle::current();` before, `runtime.enter()` within.
    /// Files that are open already stay as usable as they are.
    ///
    /// A panic of `work` goes on in the caller.
    ///
    /// # Errors
    ///
    /// See [`EnterError`]; `work` was not called.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, EnterError> {
        std::thread::scope(|scope| {
            let confined = std::thread::Builder::new().name("sandbox".to_owned()).spawn_scoped(scope, || {
                self.enforcement.confine_this_thread()?;
                Ok(work())
            })?;
            match confined.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

impl fmt::Debug for Confinement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Confinement").field("enforced", &self.enforced).finish_non_exhaustive()
    }
}

fn listed(protections: &[Protection]) -> String {
    protections.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
