//! The home of a single call.
//!
//! Codex reads instructions, skills and variables from its home, and an agent can write there. So that no call controls
//! a later one, each call has its own home, in which the directories that calls share are links to those in the home of
//! the role.
//!
//! Codex reads all sessions of a home that is new, which takes it milliseconds for each. So a session is in a directory
//! of its own below `sessions`, together with its forks, which refer to it. Its name begins with the time. In a home
//! that is itself Codex's ([`reads_home`](CodexSettings::reads_home)), sessions are where Codex puts them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use interlocking_sandbox::Sandbox;
use uuid::Uuid;

use super::rollout::Rollout;
use super::settings::CodexSettings;
use crate::drivers::call_directory::CallDirectory;
use crate::drivers::homes::Homes;
use crate::drivers::untrusted_files::Search;
use crate::sessions::state_directory::make_unlinked;

/// The directory of sessions in a home.
pub(super) const SESSIONS: &str = "sessions";

/// The directory in which Codex locks the sessions that it writes.
const LOCKS: &str = "thread-writer-locks";

/// The login and its lock, which all roles share.
const LOGIN: [&str; 2] = ["auth.json", "auth.lock"];

/// Other entries of a call's directory: the schema, and an empty directory.
const SCHEMA: &str = "schema.json";
const NOWHERE: &str = "nowhere";

/// The home of one call. What is only the call's is deleted when this is dropped.
#[derive(Debug)]
pub(super) struct CallHome {
    directory: CallDirectory,
    /// `CODEX_HOME`: the directory of the call, or a home that the settings say is read.
    path: PathBuf,
    /// The directory in which Codex keeps the session of the call, by years.
    sessions: PathBuf,
    /// Whether the directory was made for this call.
    is_new: bool,
}

impl CallHome {
    /// Makes the home of a call in `store`, which is the home of a role or of a session. `known` is the file of a
    /// session that the call continues or forks.
    pub(super) fn make(
        settings: &CodexSettings,
        homes: &Homes,
        store: &Path,
        known: Option<&Rollout>,
        schema: Option<&str>,
        has_key: bool,
    ) -> io::Result<Self> {
        homes.make(store)?;
        let (base, store) = (homes.base().canonicalize()?, store.canonicalize()?);
        let is_own = is_own(settings);
        let sessions = match known {
            Some(rollout) if is_own => rollout.directory().to_owned(),
            None if is_own => store.join(SESSIONS).join(new_name()),
            _ => store.join(SESSIONS),
        };
        if is_own {
            make_shared(&store)?;
            make_unlinked(&sessions)?;
        }
        let directory = CallDirectory::make(&base, |new| {
            new.directory(NOWHERE)?;
            if is_own {
                new.link(SESSIONS, &sessions)?;
                new.link(LOCKS, &store.join(LOCKS))?;
                for name in LOGIN.into_iter().filter(|_| !has_key) {
                    new.link(name, &base.join(name))?;
                }
            }
            schema.map(|schema| new.write(SCHEMA, schema)).into_iter().collect()
        })?;
        let path = if is_own { directory.path().to_owned() } else { store };
        Ok(Self { directory, path, sessions, is_new: is_own && known.is_none() })
    }

    /// The directory in which Codex keeps the session of the call, by years. If the call has its own home, it contains
    /// only this session and those that are forks of the same session.
    pub(super) fn sessions(&self) -> &Path {
        &self.sessions
    }

    /// The directory that the program uses as its home.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the schema.
    pub(super) fn schema(&self) -> PathBuf {
        self.directory.path().join(SCHEMA)
    }

    /// The working directory of a turn without a workspace.
    pub(super) fn nowhere(&self) -> PathBuf {
        self.directory.path().join(NOWHERE)
    }

    /// A turn's sandbox, with access to what is only this call's.
    pub(super) fn granted(&self, sandbox: &Sandbox) -> Arc<Sandbox> {
        Arc::new(sandbox.clone().write(self.directory.path()))
    }
}

impl Drop for CallHome {
    fn drop(&mut self) {
        // It contains no file if no session has begun.
        if self.is_new {
            remove_empty(&self.sessions, 3);
        }
    }
}

/// The name of a new directory of sessions. It begins with the time, because a search begins with the last names.
fn new_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:012x}-{}", now.as_millis(), Uuid::new_v4().simple())
}

/// Removes a directory without files, down to this depth.
fn remove_empty(directory: &Path, depth: u32) {
    if depth > 0 {
        let below = Search::new().directories(directory);
        below.iter().for_each(|directory| remove_empty(directory, depth - 1));
    }
    // What is in use is not empty.
    let _ = std::fs::remove_dir(directory);
}

/// Whether each call has its own home. It consists of links, which other systems do not have.
fn is_own(settings: &CodexSettings) -> bool {
    cfg!(unix) && !settings.reads_home
}

/// Makes the directories that the calls in a home share.
fn make_shared(store: &Path) -> io::Result<()> {
    [SESSIONS, LOCKS].into_iter().try_for_each(|name| make_unlinked(&store.join(name)))
}

/// Adds to a sandbox what the calls in a home share; it is made if it is missing. With a login that is everything in the
/// home, because Codex replaces the login's file.
pub(super) fn grant(
    settings: &CodexSettings,
    homes: &Homes,
    store: PathBuf,
    has_key: bool,
    sandbox: Sandbox,
) -> io::Result<Sandbox> {
    homes.make(&store)?;
    if !is_own(settings) || !has_key {
        return Ok(sandbox.write(store));
    }
    make_shared(&store)?;
    Ok([SESSIONS, LOCKS].into_iter().fold(sandbox, |sandbox, name| sandbox.write(store.join(name))))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn call(home: &Path) -> CallHome {
        let settings = CodexSettings { home: Some(home.to_owned()), ..CodexSettings::default() };
        let homes = settings.homes(true).unwrap();
        CallHome::make(&settings, &homes, &homes.of(Some("tests")), None, None, true).unwrap()
    }

    /// A search begins with the last names.
    #[test]
    fn directories_of_sessions_are_in_the_order_of_time() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        let calls: Vec<CallHome> = std::iter::repeat_with(|| {
            std::thread::sleep(Duration::from_millis(2));
            call(&home)
        })
        .take(5)
        .collect();
        assert!(calls.iter().is_sorted_by_key(|call| &call.sessions));
    }

    #[test]
    fn a_call_leaves_no_directory_without_a_session() {
        let directory = tempfile::tempdir().unwrap();
        let call = |day: &str| {
            let call = call(&directory.path().join("home"));
            std::fs::create_dir_all(call.path().join(SESSIONS).join(day)).unwrap();
            call
        };
        let (killed, ended) = (call("2026/11/22"), call("2026/11/22"));
        let rollout = ended.sessions.join("2026/11/22/rollout.jsonl");
        std::fs::write(&rollout, "").unwrap();
        let gone = killed.sessions.clone();
        drop((killed, ended));
        assert!(!gone.exists() && rollout.exists());
    }
}
