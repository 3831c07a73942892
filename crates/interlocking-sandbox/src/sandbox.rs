//! The description of a sandbox, and its preparation.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use crate::{
    cargo_files::{CargoFiles, cargo_home, rustup_home},
    confinement::Confinement,
    enforcement::Enforcement,
    exceptions::Exceptions,
    grant::{Access, Grant},
    links::links_leading_out,
    network::Network,
    prepare_error::PrepareError,
    presets,
    protection::{Protection, Support},
    secrets::Settings,
};

/// Describes what a program and all its descendants may access. Nothing is enforced before [`Sandbox::prepare`].
#[derive(Debug, Clone)]
pub struct Sandbox {
    place: PathBuf,
    temporary: Option<PathBuf>,
    grants: Vec<Grant>,
    settings: Vec<Settings>,
    exceptions: Exceptions,
    foreign_links: bool,
    waived: BTreeSet<Protection>,
}

impl Sandbox {
    /// A sandbox for one directory, the place: the program can read and write it, and read and run the programs and libraries of
    /// the system. Nothing else is accessible. Use the other methods to grant a directory for temporary files, tools and other
    /// paths.
    pub fn for_place(place: impl Into<PathBuf>) -> Self {
        Self::with_access(place.into(), Access::Write)
    }

    /// A sandbox as by [`Sandbox::for_place`], but the program cannot write to the place.
    pub fn for_reading(place: impl Into<PathBuf>) -> Self {
        Self::with_access(place.into(), Access::Read)
    }

    fn with_access(place: PathBuf, access: Access) -> Self {
        let mut grants = vec![Grant::required(&place, access)];
        grants.extend(presets::system());
        Self {
            place,
            temporary: None,
            grants,
            settings: Vec::new(),
            exceptions: Exceptions::default(),
            foreign_links: false,
            waived: BTreeSet::new(),
        }
    }

    /// The directory that this sandbox is for.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Grants reading and listing a path.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.grants.push(Grant::required(path, Access::Read));
        self
    }

    /// Grants reading, listing and running a path.
    #[must_use]
    pub fn execute(mut self, path: impl Into<PathBuf>) -> Self {
        self.grants.push(Grant::required(path, Access::Execute));
        self
    }

    /// Grants reading, running and writing a path.
    #[must_use]
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.grants.push(Grant::required(path, Access::Write));
        self
    }

    /// Grants a directory for temporary files and names it in [`Sandbox::environment`]. No other program should use the
    /// directory. It should be outside the place, as files there would count as changes.
    #[must_use]
    pub fn temporary_directory(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.grants.push(Grant::required(&path, Access::Write));
        self.temporary = Some(path);
        self
    }

    /// Grants running a program, given by its path or searched in `PATH`. Also grants its directory, if that is one of programs
    /// (`bin`, `sbin`, `libexec`) or lies in a package of Node.js. If the program does not exist, nothing is granted. Grant
    /// anything else that it needs, such as its settings, separately.
    #[must_use]
    pub fn tool_chain_of(mut self, program: impl AsRef<OsStr>) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        self.grants.extend(presets::tool_chain_of(program.as_ref(), &path));
        self
    }

    /// Grants running the installed cargo and rustc, and reading dependencies that were fetched before. New
    /// dependencies cannot be fetched, and credentials cannot be read. Builds go below the place, or to
    /// `CARGO_TARGET_DIR` if that is granted. The files above the place that cargo reads for its settings, its
    /// workspace and its toolchain can be read, with those that the settings include: any file that ends in `.toml`, with
    /// links resolved, except `credentials.toml`. If cargo's settings contain a secret, [`Sandbox::prepare`] fails and
    /// names it.
    #[must_use]
    pub fn cargo(mut self) -> Self {
        if let (Some(cargo), Some(rustup)) = (cargo_home(), rustup_home()) {
            self.grants.extend(presets::cargo(&cargo, &rustup));
        }
        let place = resolved(&self.place);
        let (grants, settings) = presets::cargo_files(CargoFiles::of(place.parent().unwrap_or(&place)));
        self.grants.extend(grants);
        self.settings.extend(settings);
        self
    }

    /// Grants reading the user's git configuration, with the files that it includes and its ignore rules and
    /// attributes: if there is one that git cannot read, git refuses to work. If the configuration contains a secret,
    /// [`Sandbox::prepare`] fails and names it. A file with a secret that is included only under a condition
    /// (`includeIf`) is not granted instead, and git refuses to work where the condition holds. To use another file
    /// instead, do not call this: grant that file by [`Sandbox::read`], and name it in the program's variable
    /// `GIT_CONFIG_GLOBAL`.
    #[must_use]
    pub fn git(mut self) -> Self {
        if let Some(home) = std::env::home_dir() {
            let (grants, settings) = presets::git(&home);
            self.grants.extend(grants);
            self.settings.extend(settings);
        }
        self
    }

    /// Sets the network access. The default is [`Network::Allowed`].
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.exceptions.network = network;
        self
    }

    /// Permits unix sockets, unless the network is denied. A service that listens on a unix socket, such as a session bus or a
    /// container engine, can do for a confined program what the program itself may not: use this only where there is no such
    /// service.
    #[must_use]
    pub fn unix_sockets(mut self) -> Self {
        self.exceptions.unix_sockets = true;
        self
    }

    /// Permits watching files by inotify, for programs that rebuild when files change. The kernel lets a program watch any path
    /// that its user may read, so the program learns the names of files that are made outside its place, for example in another
    /// agent's place. Without this, most programs poll their files instead.
    #[must_use]
    pub fn inotify(mut self) -> Self {
        self.exceptions.inotify = true;
        self
    }

    /// Accepts that files in writable paths have hard links outside them.
    #[must_use]
    pub fn accept_foreign_links(mut self) -> Self {
        self.foreign_links = true;
        self
    }

    /// Accepts that the system cannot enforce this protection. A system that can enforce it still does.
    #[must_use]
    pub fn accept_without(mut self, protection: Protection) -> Self {
        self.waived.insert(protection);
        self
    }

    /// All requested protections.
    #[must_use]
    pub fn requested(&self) -> BTreeSet<Protection> {
        let is_requested =
            |protection: &Protection| *protection != Protection::Tcp || self.exceptions.network == Network::Denied;
        Protection::ALL.into_iter().filter(is_requested).collect()
    }

    /// The protections that are requested, not accepted to be missing, and not enforceable by a system: for a check before a run
    /// starts. If this is empty, [`Sandbox::prepare`] does not fail with [`PrepareError::CannotEnforce`].
    #[must_use]
    pub fn missing_on(&self, support: &Support) -> Vec<Protection> {
        let missing = |protection: &Protection| !support.enforces(*protection) && !self.waived.contains(protection);
        self.requested().into_iter().filter(missing).collect()
    }

    /// All grants, in the order in which they were made.
    #[must_use]
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Whether a grant covers this path, which need not exist yet. Use it to check that another agent's place is not accessible.
    #[must_use]
    pub fn reaches(&self, path: &Path) -> bool {
        let path = resolved(path);
        self.grants.iter().any(|grant| grant.covers(&path))
    }

    /// Environment variables for programs in the sandbox: the directory for temporary files (`TMPDIR`, `TMP`, `TEMP`).
    #[must_use]
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let temporary = self.temporary.iter();
        temporary
            .flat_map(|path| ["TMPDIR", "TMP", "TEMP"].map(|name| (name.into(), path.clone().into_os_string())))
            .collect()
    }

    /// Opens the granted paths, so that they cannot be exchanged later, and builds the rules.
    ///
    /// # Errors
    ///
    /// See [`PrepareError`].
    pub fn prepare(&self) -> Result<Confinement, PrepareError> {
        self.prepare_on(Support::of_this_system())
    }

    fn prepare_on(&self, support: &Support) -> Result<Confinement, PrepareError> {
        let missing = self.missing_on(support);
        if !missing.is_empty() {
            return Err(PrepareError::CannotEnforce { missing, explanation: support.explanation().to_owned() });
        }
        let enforced: BTreeSet<_> =
            self.requested().into_iter().filter(|protection| support.enforces(*protection)).collect();
        if enforced.contains(&Protection::Files) {
            self.check_for_secrets()?;
        }
        let enforcement = Enforcement::new(&self.grants, &enforced, self.exceptions)?;
        if !self.foreign_links {
            let writable: Vec<PathBuf> = self
                .grants
                .iter()
                .filter(|grant| grant.access == Access::Write)
                .map(|grant| grant.path.clone())
                .collect();
            let links = links_leading_out(&writable)?;
            if !links.is_empty() {
                return Err(PrepareError::ForeignLinks { links });
            }
        }
        Ok(Confinement::new(enforcement, enforced))
    }

    fn check_for_secrets(&self) -> Result<(), PrepareError> {
        let mut secrets = Vec::new();
        for settings in &self.settings {
            let path = &settings.path;
            let names = settings.secrets().map_err(|cause| PrepareError::Path { path: path.clone(), cause })?;
            secrets.extend(names.into_iter().map(|name| (path.clone(), name)));
        }
        if secrets.is_empty() { Ok(()) } else { Err(PrepareError::Secrets { secrets }) }
    }
}

/// The absolute path, with symbolic links resolved in the part that exists.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for existing in path.ancestors() {
        if let (Ok(canonical), Ok(rest)) = (std::fs::canonicalize(existing), path.strip_prefix(existing)) {
            return canonical.join(rest);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox() -> (tempfile::TempDir, Sandbox) {
        let directory = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::for_place(directory.path());
        (directory, sandbox)
    }

    #[test]
    fn what_cannot_be_enforced_is_said_with_what_it_is() {
        let (_directory, sandbox) = sandbox();
        let old = Support::of([Protection::Files, Protection::Truncation, Protection::Tcp], "an old kernel");
        let expected = [
            Protection::Devices,
            Protection::AbstractSockets,
            Protection::Signals,
            Protection::SystemCalls,
            Protection::Privileges,
        ];
        assert_eq!(sandbox.missing_on(&old), expected);
        match sandbox.prepare_on(&old) {
            Err(error @ PrepareError::CannotEnforce { .. }) => {
                let text = error.to_string();
                assert!(text.contains("signals to programs outside") && text.contains("an old kernel"), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_accepted_to_be_missing_does_not_stop_it() {
        let (_directory, sandbox) = sandbox();
        let none = Support::of([], "no kernel at all");
        let accepting = Protection::ALL.into_iter().fold(sandbox, Sandbox::accept_without);
        assert!(accepting.missing_on(&none).is_empty());
        let confinement = accepting.prepare_on(&none).unwrap();
        assert!(confinement.enforced().is_empty());
        assert_eq!(confinement.enter(|| 7).unwrap(), 7);
    }

    #[test]
    fn tcp_is_wanted_only_where_the_network_is_cut() {
        let (_directory, sandbox) = sandbox();
        let without = Support::of(Protection::ALL.into_iter().filter(|one| *one != Protection::Tcp), "");
        assert!(sandbox.missing_on(&without).is_empty());
        assert_eq!(sandbox.network(Network::Denied).missing_on(&without), [Protection::Tcp]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_that_is_not_there_is_no_grant() {
        let (directory, sandbox) = sandbox();
        let absent = directory.path().join("absent");
        for granted in [sandbox.clone().read(&absent), sandbox.write(&absent), Sandbox::for_place(&absent)] {
            match granted.prepare() {
                Err(PrepareError::Path { path, .. }) => assert_eq!(path, absent),
                other => panic!("{other:?}"),
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn settings_with_a_secret_are_not_granted_by_a_preset() {
        let (directory, mut sandbox) = sandbox();
        let settings = directory.path().join("config.toml");
        std::fs::write(&settings, "[registries.work]\ntoken = 'never shown'\n").unwrap();
        let home = Some(directory.path());
        let (grants, screened) = presets::cargo_files(CargoFiles::with_homes(Path::new("/"), home, home));
        assert!(grants.iter().any(|grant| grant.path == settings));
        assert!(!grants.iter().any(|grant| grant.path == directory.path().join("credentials.toml")));
        sandbox.settings.extend(screened);
        let error = sandbox.prepare().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "a confined program would read what looks like secrets, registries.work.token in {}: move them to where \
                 the tool keeps its credentials (`cargo login`, a credential helper of git), or grant the file all the same \
                 by `Sandbox::read` instead of the preset",
                settings.display()
            )
        );
        std::fs::write(&settings, "[build]\njobs = 1\n").unwrap();
        sandbox.prepare().unwrap();
    }

    #[test]
    fn a_path_that_does_not_exist_yet_is_reached_through_its_parent() {
        let (directory, sandbox) = sandbox();
        assert!(sandbox.reaches(&directory.path().join("later/deep")));
        assert!(!sandbox.reaches(&directory.path().with_file_name("another")));
    }

    #[test]
    fn a_panic_inside_goes_on_outside() {
        let (_directory, sandbox) = sandbox();
        let accepting = Protection::ALL.into_iter().fold(sandbox, Sandbox::accept_without);
        let confinement = accepting.prepare().unwrap();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| confinement.enter(|| panic!("inside"))));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"inside"));
    }
}
