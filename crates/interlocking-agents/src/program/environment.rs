//! The environment variables that a program gets. Only named variables are passed on.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::redactor::Redactor;
use super::secret::Secret;
use crate::real_calls::is_loopback;

/// The complete environment of a program. The program sees no other variables of this process.
///
/// `Debug` shows the names only.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    secrets: Vec<Secret>,
}

/// A placeholder in the value of a variable in an agent's settings. It is replaced by a hash of the turn's workspace path, so
/// that a directory that the value names differs between workspaces.
pub const WORKSPACE_HASH: &str = "{workspace-hash}";

/// The variables that [`Environment::minimal`] takes from this process if they are set. It also takes every `LC_…` variable.
const INHERITED: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    // On Windows, no program starts without these.
    "SystemRoot",
    "PATHEXT",
];

impl Environment {
    /// No variables.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The variables that a program needs to find other programs, the user's home and the network, if this process has them:
    /// `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LANGUAGE`, `LC_*`, `TZ`, `TMPDIR`, `SSL_CERT_FILE`, `SSL_CERT_DIR`,
    /// `NODE_EXTRA_CA_CERTS`, and the proxy variables in upper and lower case (on Windows also `SystemRoot` and `PATHEXT`). Also
    /// sets `TERM=dumb`, as there is no terminal.
    ///
    /// The password in the address of a proxy is treated as a secret.
    pub fn minimal() -> Self {
        let minimal =
            INHERITED.iter().fold(Self::empty().set("TERM", "dumb"), |environment, name| environment.inherit(name));
        let locales = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(|name| name.starts_with("LC_")));
        locales.fold(minimal, |environment, (name, value)| environment.set(name, value))
    }

    /// The environment of an agent's program that works in `workspace`: the [minimal](Self::minimal) one, the variables of this
    /// process named in `inherit`, and `variables`, with [`WORKSPACE_HASH`] in their values replaced by a hash of the workspace
    /// path. An inherited `PATH` has absolute directories only: the agent could write to a relative one, and the interpreter of
    /// its program would be looked up there.
    pub(crate) fn of_agent(inherit: &[String], variables: &BTreeMap<String, String>, workspace: Option<&Path>) -> Self {
        let inherited = inherit.iter().fold(Self::minimal(), Self::inherit);
        let path = inherited.get("PATH").map(absolute_directories);
        let inherited = path.into_iter().fold(inherited, |environment, path| environment.set("PATH", path));
        inherited.set_in(workspace, variables)
    }

    /// Adds these variables, with [`WORKSPACE_HASH`] in their values replaced by a hash of the path `workspace`.
    pub(crate) fn set_in<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        self,
        workspace: Option<&Path>,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let mut hasher = DefaultHasher::new();
        workspace.hash(&mut hasher);
        let hash = format!("{:016x}", hasher.finish());
        let expanded = |value: &OsStr| match value.to_str() {
            Some(text) => text.replace(WORKSPACE_HASH, &hash).into(),
            None => value.to_owned(),
        };
        let variables = variables.into_iter();
        variables.fold(self, |environment, (name, value)| environment.set(name.as_ref(), expanded(value.as_ref())))
    }

    /// All variables of this process: only for programs that are trusted with all of them.
    pub fn inherited() -> Self {
        std::env::vars_os().fold(Self::empty(), |environment, (name, _)| environment.inherit(name))
    }

    /// Adds a variable of this process, if it is set.
    #[must_use]
    pub fn inherit(self, name: impl AsRef<OsStr>) -> Self {
        let name = name.as_ref();
        match std::env::var_os(name) {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Adds or replaces this variable. The password in the address of a proxy is treated as a secret.
    #[must_use]
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let (name, value) = (name.into(), value.into());
        if is_proxy(&name)
            && let Some(password) = value.to_str().and_then(password)
        {
            // Programs print the one or the other.
            let decoded = percent_decode_str(password).decode_utf8_lossy();
            self.secrets.extend([Secret::new(password), Secret::new(decoded)]);
        }
        self.variables.insert(name, value);
        self
    }

    /// Adds a variable whose value is a secret: it is redacted from everything that the program prints.
    #[must_use]
    pub fn secret(self, name: impl Into<OsString>, secret: Secret) -> Self {
        self.set(name, secret.expose()).redact(secret)
    }

    /// Removes this variable.
    #[must_use]
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Self {
        self.variables.remove(name.as_ref());
        self
    }

    /// Exempts the servers on this machine from the proxies that the variables name, if `url` is the address of one.
    #[must_use]
    pub(crate) fn without_proxy_for(self, url: &str) -> Self {
        const NAMES: [&str; 2] = ["NO_PROXY", "no_proxy"];
        const LOCAL: &str = "127.0.0.1,localhost,::1";
        if !is_loopback(url) {
            return self;
        }
        let [upper, lower] = NAMES.map(|name| self.get(name).filter(|exempt| !exempt.is_empty()));
        // A program that reads both variables ignores one of them.
        let values = [upper.or(lower), lower.or(upper)].map(|exempt| match exempt {
            None => OsString::from(LOCAL),
            // It means every server, but only alone.
            Some(all) if all == "*" => all.to_owned(),
            Some(exempt) => OsString::from_iter([exempt, OsStr::new(","), OsStr::new(LOCAL)]),
        });
        NAMES.into_iter().zip(values).fold(self, |environment, (name, value)| environment.set(name, value))
    }

    /// Adds a secret that the program gets in another way, such as from a file: it is redacted from everything that the program
    /// prints.
    #[must_use]
    pub fn redact(mut self, secret: Secret) -> Self {
        self.secrets.push(secret);
        self
    }

    /// The variables, ordered by name.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// The path of a program: the given path itself, or for a bare name the first executable file of that name in `PATH`. That
    /// file's path is absolute. Relative directories in `PATH` are those of this process, and not of the program's working
    /// directory, to which others may write.
    ///
    /// Starting a program by its path is several times faster, as this process need not be forked for it.
    pub fn find(&self, program: impl AsRef<Path>) -> Option<PathBuf> {
        let program = program.as_ref();
        if program.parent().is_none_or(|parent| !parent.as_os_str().is_empty()) {
            return Some(program.to_owned());
        }
        if cfg!(not(unix)) {
            // The operating system searches for the name and adds an extension.
            return Some(program.to_owned());
        }
        let directories = self.get("PATH").map(std::env::split_paths).into_iter().flatten();
        let found = directories.map(|directory| directory.join(program)).find(|file| can_be_run(file))?;
        std::path::absolute(found).ok()
    }

    /// A redactor for the secrets of this environment.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(&self.secrets)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(unix)]
fn can_be_run(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn can_be_run(_file: &Path) -> bool {
    false
}

/// The directories of a `PATH`, with the relative ones as this process finds them.
fn absolute_directories(path: &OsStr) -> OsString {
    let Ok(here) = std::env::current_dir() else { return path.to_owned() };
    let directories = std::env::split_paths(path).map(|directory| here.join(directory));
    std::env::join_paths(directories).unwrap_or_else(|_| path.to_owned())
}

fn is_proxy(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.to_ascii_lowercase().ends_with("_proxy"))
}

/// The password in `http://user:password@host`; the scheme may be missing.
fn password(address: &str) -> Option<&str> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (user, _) = rest.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    Some(password).filter(|password| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_there_that_was_not_named() {
        let environment = Environment::empty().set("A", "1").inherit("CARGO_MANIFEST_DIR").inherit("no such variable");
        let names: Vec<_> = environment.variables().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names, ["A", "CARGO_MANIFEST_DIR"]);
        assert_eq!(Environment::minimal().get("CARGO_MANIFEST_DIR"), None);
        assert_eq!(Environment::minimal().get("TERM"), Some(OsStr::new("dumb")));
    }

    #[test]
    fn a_directory_of_its_own_can_be_given_to_each_workspace() {
        let variables = [("BUILDS".to_owned(), "/builds/{workspace-hash}/x".to_owned())].into();
        let of = |workspace: Option<&str>| {
            let environment = Environment::of_agent(&[], &variables, workspace.map(Path::new));
            environment.get("BUILDS").unwrap().to_str().unwrap().to_owned()
        };
        let (tests, code) = (of(Some("/run/tests")), of(Some("/run/code")));
        assert_ne!(tests, code);
        assert_eq!(tests, of(Some("/run/tests")));
        let hash = tests.strip_prefix("/builds/").unwrap().strip_suffix("/x").unwrap();
        assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
        assert_ne!(of(None), tests);
    }

    #[test]
    fn programs_are_found_where_path_says() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("sh"), "not a program").unwrap();
        let path = std::env::join_paths([place.path(), Path::new("/bin")]).unwrap();
        let environment = Environment::empty().set("PATH", path);
        assert_eq!(environment.find("sh"), Some(PathBuf::from("/bin/sh")));
        assert_eq!(environment.find("no-such-program-here"), None);
        assert_eq!(environment.find("./sh"), Some(PathBuf::from("./sh")));
        assert_eq!(Environment::empty().find("sh"), None);
    }

    #[test]
    fn a_path_is_the_same_wherever_a_program_works() {
        let here = std::env::current_dir().unwrap();
        let path = std::env::join_paths(["/usr/bin", "bin", ""]).unwrap();
        let directories = [PathBuf::from("/usr/bin"), here.join("bin"), here];
        assert_eq!(std::env::split_paths(&absolute_directories(&path)).collect::<Vec<_>>(), directories);
    }

    #[test]
    fn values_are_not_shown() {
        let environment = Environment::empty().set("A", "canary-1").secret("KEY", Secret::new("canary-2"));
        assert_eq!(format!("{environment:?}"), r#"{"A", "KEY"}"#);
    }

    #[test]
    fn a_server_on_this_machine_is_exempt_from_proxies() {
        let exempt = |known: &[(&str, &str)], url: &str| {
            let known = known.iter().fold(Environment::empty(), |all, (name, value)| all.set(name, value));
            let environment = known.without_proxy_for(url);
            ["NO_PROXY", "no_proxy"].map(|name| environment.get(name).map(|value| value.to_str().unwrap().to_owned()))
        };
        let (own, url) = (|text: &str| Some(text.to_owned()), "http://127.0.0.1:9/v1");
        let local = "127.0.0.1,localhost,::1";
        assert_eq!(exempt(&[], url), [own(local), own(local)]);
        let (upper, lower) = (format!("a,{local}"), format!("b,{local}"));
        assert_eq!(exempt(&[("NO_PROXY", "a"), ("no_proxy", "b")], url), [own(&upper), own(&lower)]);
        assert_eq!(exempt(&[("NO_PROXY", "a"), ("no_proxy", "")], url), [own(&upper), own(&upper)]);
        assert_eq!(exempt(&[("no_proxy", "*")], url), [own("*"), own("*")]);
        assert_eq!(exempt(&[("no_proxy", "a")], "https://api.example.com"), [None, own("a")]);
    }

    #[test]
    fn a_proxys_password_is_found() {
        assert_eq!(password("http://me:canary@proxy:8080"), Some("canary"));
        assert_eq!(password("me:canary@proxy:8080"), Some("canary"));
        assert_eq!(password("http://proxy:8080"), None);
        assert!(is_proxy(OsStr::new("HTTPS_PROXY")) && !is_proxy(OsStr::new("PATH")));
    }

    #[test]
    fn a_proxys_password_is_redacted_as_it_is_spelled_and_as_it_is_meant() {
        let settings = [("https_proxy".to_owned(), "http://me:can%40ry%2F1@proxy:8080".to_owned())].into();
        let redactor = Environment::of_agent(&[], &settings, None).redactor();
        for password in ["can%40ry%2F1", "can%40ry%2f1", "can@ry%2F1", "can@ry/1"] {
            assert_eq!(redactor.text(&format!("<{password}>")), "<[redacted]>", "{password}");
        }
    }
}
