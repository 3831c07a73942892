//! Where an agent's program keeps what it was told and what it did: a home for each role, so that no role's program can be given
//! another's sessions to read.

use std::io;
use std::path::{Path, PathBuf};

use crate::sessions::session::SessionId;
use crate::sessions::state_directory::{make_own, make_private};

/// Below an agent's home: those of its roles.
const ROLES: &str = "roles";

/// The homes of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Homes {
    base: PathBuf,
    /// Whether all roles have the same one, as there is something in it that each of them needs: a login, or settings.
    are_shared: bool,
    /// Nobody chose the base, so nobody else uses it.
    is_own: bool,
}

impl Homes {
    pub(crate) fn new(base: PathBuf, are_shared: bool, is_own: bool) -> Self {
        Self { base, are_shared, is_own }
    }

    /// The home of all roles together, in which those of each one are.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// The home of a role; of turns without one it is the [base](Self::base).
    pub(crate) fn of(&self, role: Option<&str>) -> PathBuf {
        match role {
            Some(role) if !self.are_shared => self.base.join(ROLES).join(directory_name(role)),
            _ => self.base.clone(),
        }
    }

    /// The home of a turn: that in which the session is that it goes on with or forks, which `has` looks for, whichever role began
    /// it; and the role's own otherwise. So what is told in a session stays in one home.
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

    /// Makes a home for this user alone, if it is not there.
    pub(crate) fn make(&self, home: &Path) -> io::Result<()> {
        // What somebody chose stays as it is, whoever may look at it: what is in it is closed.
        if self.is_own {
            make_own(&self.base)?
        } else {
            make_private(&self.base)?
        };
        if home != self.base {
            make_own(&self.base.join(ROLES))?;
            make_own(home)?;
        }
        Ok(())
    }
}

/// A role as the name of a directory, another one for each role, on systems too that know no difference between large and small
/// letters.
fn directory_name(role: &str) -> String {
    if role.is_empty() {
        // No encoding of anything.
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
