//! The directory in which sessions are kept, and the home of a single call.
//!
//! The program reads its settings from its home, in which it also keeps its sessions. So that calls with different
//! settings can share sessions, each call has its own home, in which the directories for sessions are links to the
//! common ones.

use std::cmp::Reverse;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use interlocking_sandbox::Sandbox;
use serde_json::{Map, Value, json};

use super::record::messages_in;
use super::settings::GeminiSettings;
use crate::agent::error::AgentErrorKind;
use crate::drivers::call_directory::CallDirectory;
use crate::drivers::untrusted_files::{self, Search};
use crate::sessions::session::SessionId;
use crate::sessions::state_directory::make_unlinked;

/// The directory in which sessions are kept.
#[derive(Debug, Clone)]
pub(super) struct Home {
    path: PathBuf,
    /// The directory that contains the homes of all roles.
    base: PathBuf,
}

/// The home of one call. It is deleted when this is dropped.
#[derive(Debug)]
pub(super) struct CallHome {
    directory: CallDirectory,
}

/// The directories of the program's home that calls share: the sessions, and the data that ties them to a workspace.
const SHARED: [&str; 2] = ["tmp", "history"];

/// The working directory of turns without a workspace. It is one directory for all of them, because the program continues
/// a session only in the directory in which it began.
const NOWHERE: &str = "nowhere";

/// How many files are opened to find the file of a session, among those whose names contain the same beginning of the
/// id.
const MOST_CANDIDATES: usize = 100;

impl Home {
    /// Opens the home and creates missing directories.
    pub(super) fn open(
        settings: &GeminiSettings,
        role: Option<&str>,
        session: Option<&SessionId>,
    ) -> Result<Self, AgentErrorKind> {
        let homes = settings.homes()?;
        let path = homes.of_session(role, session, has);
        let unusable = |error: io::Error| {
            AgentErrorKind::configuration(format!(
                "Gemini's home {} cannot be used: {error}; set `home`",
                path.display()
            ))
        };
        homes.make(&path).map_err(unusable)?;
        // The path must be absolute, because the program runs in another directory.
        let (base, path) = (homes.base().canonicalize().map_err(unusable)?, path.canonicalize().map_err(unusable)?);
        for name in SHARED.into_iter().chain([NOWHERE]) {
            make_unlinked(&path.join(name)).map_err(unusable)?;
        }
        Ok(Self { path, base })
    }

    /// Adds to a sandbox what calls share.
    pub(super) fn grant(&self, sandbox: Sandbox) -> Sandbox {
        SHARED.into_iter().chain([NOWHERE]).fold(sandbox, |sandbox, name| sandbox.write(self.path.join(name)))
    }

    /// The working directory of turns without a workspace.
    pub(super) fn nowhere(&self) -> PathBuf {
        self.path.join(NOWHERE)
    }

    /// [`nowhere`](Self::nowhere), and the directories above it to which a program may have written: in each of them the
    /// program looks for settings.
    pub(super) fn around_nowhere(&self) -> impl Iterator<Item = PathBuf> {
        let nowhere = self.nowhere();
        let all: Vec<_> = nowhere.ancestors().map(Path::to_owned).collect();
        all.into_iter().take_while(|directory| directory.starts_with(&self.base))
    }

    /// Creates the home of one call.
    pub(super) fn for_call(
        &self,
        settings: &GeminiSettings,
        system: Option<&str>,
        reads_only: bool,
    ) -> Result<CallHome, AgentErrorKind> {
        let directory = CallDirectory::make(&self.base, |new| {
            new.directory("tmp")?;
            let own = new.directory(".gemini")?;
            for name in SHARED {
                own.link(name, &self.path.join(name))?;
            }
            let settings_file = own.write("settings.json", &program_settings(settings, reads_only).to_string())?;
            let memory = system.map(|system| own.write(memory_name(settings), system)).transpose()?;
            Ok([settings_file].into_iter().chain(memory).collect())
        });
        let unusable = |error| {
            AgentErrorKind::configuration(format!("no home can be made beside {}: {error}", self.base.display()))
        };
        directory.map(|directory| CallHome { directory }).map_err(unusable)
    }

    /// The file of a session, whatever workspace it began in. Reads files of any length.
    pub(super) fn session_file(&self, session: &SessionId) -> Option<PathBuf> {
        session_file(&self.path, session)
    }
}

/// Whether a home contains a session.
pub(super) fn has(home: &Path, session: &SessionId) -> bool {
    !session_files(home, session).is_empty()
}

/// The file of a session in a home.
///
/// Whenever the program continues a session in a later minute, or copies one, it begins another file for it, in which it writes
/// no message. The session is in the file with the messages, which is also the one that the program itself continues.
fn session_file(home: &Path, session: &SessionId) -> Option<PathBuf> {
    let mut files = session_files(home, session);
    match files.len() {
        0 | 1 => files.pop(),
        _ => files.into_iter().max_by_key(|file| messages_in(file)),
    }
}

/// All files of a session in a home.
fn session_files(home: &Path, session: &SessionId) -> Vec<PathBuf> {
    // The file name contains only the beginning of the id.
    let Some(short) = session.as_str().get(..8) else { return Vec::new() };
    let mut search = Search::new();
    let fits = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        [".json", ".jsonl"].iter().any(|end| name.ends_with(&format!("-{short}{end}")))
    };
    let mut candidates = Vec::new();
    for workspace in search.directories(&home.join("tmp")) {
        let chats = workspace.join("chats");
        let files = search.entries(&chats).map(|file| file.path()).filter(fits);
        candidates.extend(files.map(|path| (path.symlink_metadata().map_or(0, |file| file.len()), path)));
    }
    // The longest first: those without messages are short, and a session that is continued often has many of them.
    candidates.sort_by_key(|(length, _)| Reverse(*length));
    candidates.truncate(MOST_CANDIDATES);
    let mut candidates: Vec<_> = candidates.into_iter().map(|(_, path)| path).collect();
    candidates.retain(|path| is_of(path, session));
    candidates
}

impl CallHome {
    /// The directory that the program uses as the user's home.
    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A directory for temporary files.
    pub(super) fn temporary(&self) -> PathBuf {
        self.directory.path().join("tmp")
    }
}

/// Whether the first line of a file names this session.
fn is_of(path: &Path, session: &SessionId) -> bool {
    const LONGEST: u64 = 64 * 1024;
    let Ok(file) = untrusted_files::open(path) else { return false };
    let mut first = String::new();
    let read = BufReader::new(file.take(LONGEST)).read_line(&mut first);
    let named = read.ok().and_then(|_| serde_json::from_str::<Value>(&first).ok());
    named.is_some_and(|first| first["sessionId"] == session.as_str())
}

/// The name of the file in the home whose contents the program sends to the model in every call.
fn memory_name(settings: &GeminiSettings) -> &str {
    let context = settings.config.get("context").and_then(|context| context.get("fileName"));
    let name = context.and_then(|name| name.as_str().or_else(|| name.get(0)?.as_str()));
    name.unwrap_or("GEMINI.md")
}

/// The program's `settings.json`. A call that only reads has its permissions alone: no further tools are allowed, and
/// there are no MCP servers. The program adds those of a workspace whose settings apply.
fn program_settings(settings: &GeminiSettings, reads_only: bool) -> Value {
    let driver = json!({
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            // Otherwise the program would delete sessions that other processes are about to write.
            "sessionRetention": { "enabled": false },
            "maxAttempts": settings.retries + 1,
            "retryFetchErrors": settings.retries > 0,
        },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "security": {
            "auth": { "selectedType": "gemini-api-key" },
            "environmentVariableRedaction": {
                "enabled": true,
                "blocked": [super::command::KEY, &settings.api_key_variable],
            },
        },
        "advanced": { "ignoreLocalEnv": true },
        "model": { "maxSessionTurns": settings.max_steps.map_or(-1, i64::from) },
        "tools": { "allowed": settings.allowed_tools, "exclude": settings.excluded_tools },
        "mcpServers": settings.mcp_servers,
    });
    let mut all = Value::Object(settings.config.clone());
    merge(&mut all, driver);
    if reads_only {
        all["tools"]["allowed"] = json!([]);
        all["mcpServers"] = json!({});
    }
    all
}

/// Merges one value over another, object by object.
fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key).or_insert_with(|| Value::Object(Map::new())), value);
            }
        }
        // An empty value removes nothing.
        (under @ (Value::Array(_) | Value::Object(_)), over) if over == json!([]) || over == json!({}) => {
            if *under == json!({}) {
                *under = over;
            }
        }
        (under, over) => *under = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_the_driver_needs_counts_and_the_rest_stays() {
        let config = json!({
            "general": { "maxAttempts": 10, "vimMode": true },
            "tools": { "exclude": ["glob"], "core": ["read_file"] },
            "ui": { "theme": "none" },
        });
        let settings = GeminiSettings {
            config: config.as_object().unwrap().clone(),
            max_steps: Some(3),
            allowed_tools: vec!["write_file".to_owned()],
            ..GeminiSettings::default()
        };
        let made = program_settings(&settings, false);
        assert_eq!(made["general"]["maxAttempts"], 3);
        assert_eq!(made["general"]["vimMode"], true);
        assert_eq!(made["general"]["sessionRetention"]["enabled"], false);
        assert_eq!(made["tools"], json!({ "exclude": ["glob"], "core": ["read_file"], "allowed": ["write_file"] }));
        assert_eq!(made["model"]["maxSessionTurns"], 3);
        assert_eq!(made["ui"]["theme"], "none");
        assert_eq!(made["mcpServers"], json!({}));
    }

    #[test]
    fn no_tool_is_allowed_in_addition_to_reading() {
        let config = json!({ "tools": { "allowed": ["run_shell_command"] } });
        let config = config.as_object().unwrap().clone();
        for allowed_tools in [vec![], vec!["run_shell_command(cargo)".to_owned()]] {
            let settings = GeminiSettings { config: config.clone(), allowed_tools, ..GeminiSettings::default() };
            assert_eq!(program_settings(&settings, true)["tools"]["allowed"], json!([]));
            assert_ne!(program_settings(&settings, false)["tools"]["allowed"], json!([]));
        }
    }

    #[test]
    fn a_turn_that_only_reads_has_no_mcp_servers() {
        let server = json!({ "own": { "command": "server", "trust": true } });
        let mcp_servers = server.as_object().unwrap().clone();
        let config = json!({ "mcpServers": server }).as_object().unwrap().clone();
        for settings in [
            GeminiSettings { mcp_servers, ..GeminiSettings::default() },
            GeminiSettings { config, ..GeminiSettings::default() },
        ] {
            assert_eq!(program_settings(&settings, false)["mcpServers"], server);
            assert_eq!(program_settings(&settings, true)["mcpServers"], json!({}));
        }
    }

    #[test]
    fn the_file_with_the_messages_is_the_sessions() {
        const NONE: &str =
            "{\"sessionId\":\"01a203a3-ab4b\"}\n{\"$set\":{\"messages\":[{\"id\":\"x\",\"type\":\"user\"}]}}\n";
        let directory = tempfile::tempdir().unwrap();
        let chats = directory.path().join("tmp/work/chats");
        fs::create_dir_all(&chats).unwrap();
        let session = SessionId::new("01a203a3-ab4b").unwrap();
        for number in 0..MOST_CANDIDATES + 9 {
            let file = chats.join(format!("session-{number}-01a203a3.jsonl"));
            fs::write(&file, format!("{NONE}{{\"id\":\"u\",\"type\":\"user\"}}\n")).unwrap();
            assert_eq!(session_file(directory.path(), &session), Some(file.clone()));
            fs::write(&file, NONE).unwrap();
            assert!(session_file(directory.path(), &session).is_some() && has(directory.path(), &session));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_home_is_its_users_alone_and_that_of_a_call_goes_with_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/home");
        let settings = GeminiSettings { home: Some(path.clone()), ..GeminiSettings::default() };
        let home = Home::open(&settings, None, None).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        let call = home.for_call(&settings, Some("Be brief."), false).unwrap();
        assert_eq!(fs::read_to_string(call.path().join(".gemini/GEMINI.md")).unwrap(), "Be brief.");
        fs::create_dir_all(call.path().join(".gemini/tmp/work/chats")).unwrap();
        let file = path.canonicalize().unwrap().join("tmp/work/chats/session-2026-01-01T00-00-01a203a3.jsonl");
        fs::write(&file, "{\"sessionId\":\"01a203a3-ab4b-74b1-9e3e-e1d88a5e1064\"}\n{}").unwrap();
        let id = |text: &str| SessionId::new(text).unwrap();
        assert_eq!(home.session_file(&id("01a203a3-ab4b-74b1-9e3e-e1d88a5e1064")).as_ref(), Some(&file));
        assert_eq!(home.session_file(&id("01a203a3-ab4b-74b1-9e3e-e1d88a5e1065")), None);
        assert_eq!(home.session_file(&id("5")), None);
        std::os::unix::fs::symlink("work", home.path.join("tmp/z-link")).unwrap();
        for decoy in 0..MOST_CANDIDATES {
            let longer = format!("{{}}{}", " ".repeat(99));
            fs::write(home.path.join(format!("tmp/work/chats/session-{decoy}-01a203a4.jsonl")), longer).unwrap();
        }
        assert_eq!(home.session_file(&id("01a203a3-ab4b-74b1-9e3e-e1d88a5e1064")), Some(file), "no link leads to it");
        fs::create_dir_all(home.path.join("tmp/early/chats")).unwrap();
        let late = home.path.join("tmp/early/chats/session-0-01a203a4.jsonl");
        fs::write(late, "{\"sessionId\":\"01a203a4-ab4b-74b1-9e3e-e1d88a5e1064\"}").unwrap();
        assert_eq!(home.session_file(&id("01a203a4-ab4b-74b1-9e3e-e1d88a5e1064")), None, "so many are not opened");
        let gone = call.path().to_owned();
        drop(call);
        assert!(!gone.exists() && path.join("tmp/work/chats").exists());
    }

    /// A program that may write to a home can put a link there.
    #[cfg(unix)]
    #[test]
    fn nothing_is_made_where_a_link_in_the_home_leads() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let settings = GeminiSettings { home: Some(directory.path().to_owned()), ..GeminiSettings::default() };
        Home::open(&settings, Some("tests"), None).unwrap();
        for name in ["roles/tests/tmp", "roles/tests/nowhere", "roles/tests", "roles"] {
            let place = directory.path().join(name);
            fs::remove_dir_all(&place).unwrap();
            symlink(elsewhere.path(), &place).unwrap();
            let refused = Home::open(&settings, Some("tests"), None).unwrap_err().to_string();
            assert!(refused.contains(&format!("{name} is a link")), "{refused}");
            fs::remove_file(&place).unwrap();
            Home::open(&settings, Some("tests"), None).unwrap();
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        assert_eq!(fs::metadata(elsewhere.path()).unwrap().permissions().mode() & 0o777, 0o755);
    }
}
