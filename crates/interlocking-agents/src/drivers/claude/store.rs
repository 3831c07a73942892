//! The directory in which the program keeps its sessions.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::settings::ClaudeSettings;
use crate::agent::error::AgentErrorKind;
use crate::drivers::homes::Homes;
use crate::drivers::untrusted_files::{self, Search};
use crate::sessions::session::SessionId;
use crate::sessions::state_directory::state_directory;

/// The directory for all data of the program, including its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Store {
    homes: Homes,
    directory: PathBuf,
}

/// There is no home directory either.
const NOWHERE: &str = "there is no place to keep sessions: set `home`, or the variable HOME";

/// The program's own file, and its name in earlier versions. If a file with that name exists, the program reads it
/// instead.
const OWN: [&str; 2] = [".claude.json", ".config.json"];

/// The maximum length of the program's own file, in bytes. It is usually a few thousand.
const LONGEST_OWN: u64 = 16 << 20;

impl Store {
    /// The directory for a turn of a role, which may continue or fork a session. It is in the configured directory or
    /// in the default one: see [`ClaudeSettings`].
    pub(super) fn new(
        settings: &ClaudeSettings,
        role: Option<&str>,
        session: Option<&SessionId>,
    ) -> Result<Self, AgentErrorKind> {
        let base = match &settings.home {
            Some(directory) => std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned()),
            None => {
                let nowhere = || AgentErrorKind::configuration(NOWHERE);
                state_directory().ok_or_else(nowhere)?.join("interlocking").join("claude")
            }
        };
        let homes = Homes::new(base, settings.needs_home(), settings.home.is_none());
        let has = |home: &Path, session: &SessionId| has(home, session, &mut Search::new());
        Ok(Self { directory: homes.of_session(role, session, has), homes })
    }

    /// The directory that contains the directories of all roles.
    pub(super) fn base(&self) -> &Path {
        self.homes.base()
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Creates the directory for this user alone, if it does not exist.
    pub(super) fn make(&self) -> Result<(), AgentErrorKind> {
        self.homes.make(&self.directory).map_err(|error| {
            let directory = self.directory.display();
            AgentErrorKind::configuration(format!("the directory for sessions {directory} cannot be made: {error}"))
        })
    }

    /// Refuses variables in the program's own files. The program sets them for itself, whichever settings files apply,
    /// so they could send the key elsewhere. An agent that may write to the directory can have put them there.
    pub(super) fn refuse_variables(&self) -> Result<(), AgentErrorKind> {
        OWN.into_iter().try_for_each(|name| {
            let file = self.directory.join(name);
            let refused = |reason| AgentErrorKind::configuration(format!("{} is refused: {reason}", file.display()));
            refuse_variables_in(&file).map_err(refused)
        })
    }

    /// Whether the file of a session exists. This is only a hint: another version of the program may keep it elsewhere.
    /// False if that exceeds the limit of the search.
    pub(super) fn has(&self, session: &SessionId, search: &mut Search) -> bool {
        has(&self.directory, session, search)
    }
}

fn refuse_variables_in(file: &Path) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Own {
        env: Option<IgnoredAny>,
    }
    match untrusted_files::read(file, LONGEST_OWN) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("{error}; make it a file that can be read")),
        Ok(text) => match serde_json::from_slice(&text) {
            Ok(Own { env: None }) => Ok(()),
            Ok(Own { env: Some(_) }) => {
                Err("its `env` would override how Claude Code is set up; remove `env` from it".to_owned())
            }
            Err(error) => Err(format!("{error}; correct it")),
        },
    }
}

fn has(home: &Path, session: &SessionId, search: &mut Search) -> bool {
    let (projects, file) = (home.join("projects"), format!("{session}.jsonl"));
    search.entries(&projects).any(|project| {
        project.file_type().is_ok_and(|kind| kind.is_dir())
            && project.path().join(&file).symlink_metadata().is_ok_and(|found| found.is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::claude::settings::Credential;

    const SESSION: &str = "0b1ce9f0-76cf-4d8a-9a6e-0d3a5f4a8e11";

    fn store(home: &Path, role: Option<&str>, change: impl FnOnce(&mut ClaudeSettings)) -> Store {
        let mut settings = ClaudeSettings { home: Some(home.to_owned()), ..ClaudeSettings::default() };
        change(&mut settings);
        Store::new(&settings, role, None).unwrap()
    }

    #[test]
    fn the_programs_own_file_sets_no_variables() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path(), None, |_| {});
        store.refuse_variables().unwrap();
        for name in [".claude.json", ".config.json"] {
            for (text, reason) in [
                (r#"{"env":{"ANTHROPIC_BASE_URL":"http://x"}}"#, Some("remove `env` from it")),
                (r#"{"env":null,"env":{}}"#, Some("duplicate field")),
                ("\u{feff}{}", Some("expected value")),
                (r#"{"machineID":"x","env":null}"#, None),
            ] {
                std::fs::write(directory.path().join(name), text).unwrap();
                let refused = store.refuse_variables().err().map(|error| error.to_string());
                assert_eq!(refused.is_some(), reason.is_some(), "{name}: {text}: {refused:?}");
                assert!(refused.unwrap_or_default().contains(reason.unwrap_or_default()), "{name}: {text}");
            }
        }
    }

    #[test]
    fn a_session_is_found_whatever_its_place_and_its_role_were() {
        let directory = tempfile::tempdir().unwrap();
        let own = store(directory.path(), Some("tests"), |_| {});
        let session = SessionId::new(SESSION).unwrap();
        let has = |store: &Store| store.has(&session, &mut Search::new());
        assert!(!has(&own));
        let project = own.directory().join("projects/-some-place");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join(format!("{session}.jsonl")), "").unwrap();
        assert!(has(&own));
        assert!(!has(&store(directory.path(), Some("impl"), |_| {})));
        let settings = ClaudeSettings { home: Some(directory.path().to_owned()), ..ClaudeSettings::default() };
        assert_eq!(Store::new(&settings, Some("impl"), Some(&session)).unwrap().directory(), own.directory());
    }

    /// The agent can write there, and the program decides how often the driver looks.
    #[cfg(unix)]
    #[test]
    fn a_search_for_a_session_follows_no_link_and_ends() {
        let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = store(directory.path(), None, |_| {});
        let projects = directory.path().join("projects");
        std::fs::create_dir_all(projects.join("a")).unwrap();
        std::fs::create_dir_all(projects.join("b")).unwrap();
        let session = SessionId::new(SESSION).unwrap();
        let file = format!("{session}.jsonl");
        std::fs::write(elsewhere.path().join(&file), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), projects.join("link")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path().join(&file), projects.join("a").join(&file)).unwrap();
        let mut search = Search::of_at_most(6);
        assert!(!store.has(&session, &mut search) && !store.has(&session, &mut search));
        std::fs::write(projects.join("b").join(&file), "").unwrap();
        assert!(!store.has(&session, &mut search), "all looks together");
        assert!(store.has(&session, &mut Search::new()));
    }

    #[test]
    fn a_login_or_the_users_settings_are_shared_by_all_roles() {
        let home = Path::new("/home");
        let login = |settings: &mut ClaudeSettings| settings.credential = Some(Credential::Login);
        assert_eq!(store(home, Some("tests"), login).directory(), home);
        let reads = |settings: &mut ClaudeSettings| settings.setting_sources = vec!["user".to_owned()];
        assert_eq!(store(home, Some("tests"), reads).directory(), home);
        assert_eq!(store(home, Some("tests"), |_| {}).directory(), home.join("roles/tests"));
    }

    #[test]
    fn a_place_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = store(&file.path().join("state"), None, |_| {}).make().unwrap_err();
        assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
    }
}
