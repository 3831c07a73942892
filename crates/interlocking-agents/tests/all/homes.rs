//! Each role of an agent has its own home, and a sandbox gives access to that home alone.
#![cfg(unix)]

use interlocking_agents::claude::Credential;
use interlocking_agents::program::Secret;
use interlocking_agents::{Agent, ClaudeCode, ClaudeSettings, Codex, CodexSettings, Gemini, GeminiSettings, SessionId};
use interlocking_sandbox::Sandbox;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const SESSION: &str = "0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f";

type Grants = Box<dyn Fn(Option<&str>) -> Sandbox>;

/// The three programs, each with its home in a directory, how it grants access to that, and the path of a session in a
/// home.
fn agents(directory: &Path) -> Vec<(Box<dyn Agent>, Grants, String)> {
    let (program, place) = (directory.join("program"), directory.join("place"));
    std::fs::write(&program, "").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(&place).unwrap();
    let sandbox = move || Sandbox::for_place(place.clone());
    let home = |name: &str| Some(directory.join(name));
    let settings = ClaudeSettings { program: program.clone(), home: home("claude"), ..ClaudeSettings::default() };
    let claude = ClaudeCode::new(settings).with_key(Secret::new("key"));
    let settings = CodexSettings { program: program.clone(), home: home("codex"), ..CodexSettings::default() };
    let codex = Codex::new(settings).with_key(Secret::new("key"));
    let settings = || GeminiSettings { program: program.clone(), home: home("gemini"), ..GeminiSettings::default() };
    let (gemini, same_gemini) = (Gemini::new(settings()), Gemini::new(settings()));
    let (same_claude, same_codex) = (claude.clone(), codex.clone());
    let (first, second, third) = (sandbox.clone(), sandbox.clone(), sandbox);
    vec![
        (
            Box::new(claude),
            Box::new(move |role| same_claude.grants(role, first()).unwrap()),
            format!("projects/-place/{SESSION}.jsonl"),
        ),
        (
            Box::new(codex),
            Box::new(move |role| same_codex.grants(role, second()).unwrap()),
            format!("sessions/2026/11/23/rollout-2026-11-23T00-00-00-{SESSION}.jsonl"),
        ),
        (
            Box::new(gemini),
            Box::new(move |role| same_gemini.grants(role, third()).unwrap()),
            format!("tmp/place/chats/session-2026-11-23T00-00-{}.jsonl", &SESSION[..8]),
        ),
    ]
}

#[test]
fn no_role_is_granted_the_sessions_of_another() {
    let directory = tempfile::tempdir().unwrap();
    for (agent, grants, file) in agents(directory.path()) {
        let store = |role| agent.session_store(Some(role), None).unwrap();
        let (own, other) = (store("tests"), store("impl"));
        assert!(!own.starts_with(&other) && !other.starts_with(&own), "{}", agent.name());
        let sandbox = grants(Some("tests"));
        assert!(sandbox.reaches(&own.join(&file)) && !sandbox.reaches(&other.join(&file)), "{}", agent.name());
        let registry = directory.path().join(agent.name()).join("interlocking-sessions");
        assert!(!sandbox.reaches(&registry), "{}: who is in use is not the program's to say", agent.name());
        let mode = std::fs::metadata(&own).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", agent.name());
    }
}

/// A role may continue the session of another role; the session then stays in the home of the first role.
#[test]
fn a_session_stays_in_the_home_where_it_began() {
    let directory = tempfile::tempdir().unwrap();
    let session = SessionId::new(SESSION).unwrap();
    for (agent, _, file) in agents(directory.path()) {
        let file = agent.session_store(Some("types"), None).unwrap().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("{{\"sessionId\":\"{SESSION}\"}}\n")).unwrap();
        let store = |role, session| agent.session_store(Some(role), session).unwrap();
        let canonical = |path: PathBuf| path.canonicalize().unwrap_or(path);
        assert_eq!(canonical(store("fix", Some(&session))), canonical(store("types", None)), "{}", agent.name());
        assert_ne!(store("fix", None), store("types", None), "{}", agent.name());
    }
}

/// A login is renewed in place, so all roles have to share it. A run with roles that must be blind to each other then
/// does not start.
#[test]
fn a_login_is_shared_and_so_are_the_sessions() {
    let home = Some(PathBuf::from("/homes"));
    let login = Some(Credential::Login);
    let claude = ClaudeCode::new(ClaudeSettings { home, credential: login, ..ClaudeSettings::default() });
    let store = |role| claude.session_store(Some(role), None);
    assert_eq!((store("tests"), store("impl")), (Some("/homes".into()), Some("/homes".into())));
}
