//! The directories in which an agent's program keeps its sessions: a home for each role, so that the program of one
//! role cannot read the sessions of another.

use std::io;
use std::path::{Path, PathBuf};

use crate::sessions::session::SessionId;
use crate::sessions::state_directory::{make_own, make_private, make_unlinked};

/// The directory with the homes of the roles, below an agent's home.
const ROLES: &str = "roles";

/// The homes of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Homes {
    base: PathBuf,
    /// Whether all roles share one home, because each of them needs something in it: a login, or settings.
    are_shared: bool,
    /// The base is a default that the user has not chosen, so nothing else uses it.
    is_own: bool,
}

impl Homes {
    pub(crate) fn new(base: PathBuf, are_shared: bool, is_own: bool) -> Self {
        Self { base, are_shared, is_own }
    }

    /// The common home, which contains the homes of the roles.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// The home of a role; the [base](Self::base) for turns without a role.
    pub(crate) fn of(&self, role: Option<&str>) -> PathBuf {
        match role {
            Some(role) if !self.are_shared => self.base.join(ROLES).join(directory_name(role)),
            _ => self.base.clone(),
        }
    }

    /// The home of a turn. If the turn continues or forks a session, it is the home that contains the session according
    /// to `has`, whichever role started it. Otherwise it is the role's own home. So a session stays in one home.
    pub(crate) fn of_session(
        &self,
        role: Option<&str>,
        session: Option<&SessionId>,
        has: impl Fn(&Path, &SessionId) -> bool,
    ) -> PathBuf {
        let own = self.of(role);
        let Some(session) = session.filter(|session| !self.are_shared && !has(&own, session)) else { return own };
        let roles = std::fs::read_dir(self.base.join(ROLES)).into_iter().flatten().flatten();
        let mut others = roles.map(|entry| entry.path()).chain([self.base.clone()]);
        others.find(|home| has(home, session)).unwrap_or(own)
    }

    /// Creates a home for this user alone, if it does not exist.
    pub(crate) fn make(&self, home: &Path) -> io::Result<()> {
        // A directory that the user has chosen keeps its permissions; the directories in it are made private.
        if self.is_own {
            make_own(&self.base)?
        } else {
            make_private(&self.base)?
        };
        if home != self.base {
            make_unlinked(&self.base.join(ROLES))?;
            make_unlinked(home)?;
        }
        Ok(())
    }
}

/// The directory name of a role. Different roles have different names, even on file systems that ignore case.
fn directory_name(role: &str) -> String {
    if role.is_empty() {
        // No other role is encoded like this.
        return "%".to_owned();
    }
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    role.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_a_home_that_leads_nowhere_else() {
        let homes = Homes::new("/home".into(), false, true);
        let roles = ["tests", "Tests", "tests/../impl", "..", ".", "", "ä", "a b", "%", "%54ests"];
        let mut all: Vec<PathBuf> = roles.iter().map(|role| homes.of(Some(role))).collect();
        for (role, home) in roles.iter().zip(&all) {
            assert_eq!(home.parent(), Some(Path::new("/home/roles")), "{role}: {home:?}");
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), roles.len());
        assert_eq!(homes.of(None), Path::new("/home"));
        let shared = Homes::new("/home".into(), true, true);
        assert_eq!(shared.of(Some("tests")), Path::new("/home"));
    }

    #[cfg(unix)]
    #[test]
    fn homes_are_the_users_alone_whatever_they_were_before() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().join("chosen");
        let home = base.join("roles/tests");
        std::fs::create_dir_all(&home).unwrap();
        for path in [&base, &base.join("roles"), &home] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        Homes::new(base.clone(), false, false).make(&home).unwrap();
        assert_eq!((mode(&base), mode(&base.join("roles")), mode(&home)), (0o755, 0o700, 0o700));
        Homes::new(base.clone(), false, true).make(&home).unwrap();
        assert_eq!(mode(&base), 0o700);
    }

    #[test]
    fn a_turn_is_in_the_home_of_the_session_that_it_goes_on_with() {
        let directory = tempfile::tempdir().unwrap();
        let homes = Homes::new(directory.path().to_owned(), false, false);
        let session = SessionId::new("s").unwrap();
        let has = |home: &Path, session: &SessionId| home.join(session.as_str()).exists();
        let look = |role, session| homes.of_session(role, session, has);
        let (tests, other) = (homes.of(Some("tests")), homes.of(Some("impl")));
        assert_eq!(look(Some("tests"), Some(&session)), tests, "nobody has it: the program says so");
        std::fs::write(directory.path().join("s"), "").unwrap();
        assert_eq!(look(Some("tests"), Some(&session)), directory.path(), "it began without a role");
        homes.make(&other).unwrap();
        std::fs::write(other.join("s"), "").unwrap();
        assert_eq!(look(Some("tests"), Some(&session)), other);
        assert_eq!(look(Some("tests"), None), tests);
        homes.make(&tests).unwrap();
        std::fs::write(tests.join("s"), "").unwrap();
        assert_eq!(look(Some("tests"), Some(&session)), tests);
    }
}
