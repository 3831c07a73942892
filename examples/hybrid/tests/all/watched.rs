//! An agent that records the state at each call, and holds calls back until something has happened.

use crate::stage::git;
use crate::trace::Trace;
use async_trait::async_trait;
use interlocking::agents::{
    Agent, AgentError, Reply, Script, ScriptedAgent, SessionId, SessionOp, Sessions, Turn, TurnContext,
};
use interlocking::runtime::Event;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Scripted agents whose calls are recorded.
pub(crate) struct Watched {
    scripted: ScriptedAgent,
    repository: PathBuf,
    events: Arc<Mutex<Vec<Event>>>,
    calls: Mutex<Vec<Call>>,
    holds: Mutex<Vec<(&'static str, usize, Until)>>,
    acts: Mutex<Vec<(&'static str, Act)>>,
}

type Act = Box<dyn FnOnce() + Send>;

/// The state that an agent found when it was called.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) role: String,
    pub(crate) session: SessionOp,
    /// The session in which it answered; `None` while it has not answered.
    pub(crate) answered_in: Option<SessionId>,
    pub(crate) prompt: String,
    /// The system prompt.
    pub(crate) system: Option<String>,
    pub(crate) workspace: PathBuf,
    /// The commit of its workspace.
    pub(crate) head: String,
    /// Every file of its workspace, by path.
    pub(crate) files: BTreeMap<String, String>,
    /// The repository's linked worktrees, by the last two parts of the path, each with its branch.
    pub(crate) worktrees: BTreeMap<String, Option<String>>,
    /// The commit of the user's branch.
    pub(crate) main: String,
}

/// What a call waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// An agent of this role has been called so many times.
    Called(&'static str, usize),
    /// A node has finished its visit of this number.
    Finished(&'static str, u32),
    /// The flag is set.
    Told(&'static AtomicBool),
    /// Nothing: the call is never answered, and has to be cancelled.
    Never,
}

impl Watched {
    pub(crate) fn new(script: Script, repository: PathBuf, events: Arc<Mutex<Vec<Event>>>) -> Self {
        // Git in agents' commands reads only the repository's configuration.
        let mut scripted = ScriptedAgent::new(script);
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "An agent"),
            ("GIT_AUTHOR_EMAIL", "agent@interlocking.invalid"),
            ("GIT_COMMITTER_NAME", "An agent"),
            ("GIT_COMMITTER_EMAIL", "agent@interlocking.invalid"),
        ] {
            scripted = scripted.with_env(name, value);
        }
        Self { scripted, repository, events, calls: Mutex::default(), holds: Mutex::default(), acts: Mutex::default() }
    }

    /// Holds back an agent's call with this number, counted from 1.
    pub(crate) fn hold(&self, role: &'static str, number: usize, until: Until) {
        self.holds.lock().unwrap().push((role, number, until));
    }

    /// Calls `act` when an agent is called for the first time.
    pub(crate) fn when_called(&self, role: &'static str, act: impl FnOnce() + Send + 'static) {
        self.acts.lock().unwrap().push((role, Box::new(act)));
    }

    /// Every call so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// The lines of the turns that were not played.
    pub(crate) fn unused(&self) -> Vec<usize> {
        self.scripted.unused().iter().map(|turn| turn.line).collect()
    }

    fn has_happened(&self, until: Until) -> bool {
        match until {
            Until::Called(role, times) => self.times_called(role) >= times,
            Until::Finished(node, visit) => Trace::new(&self.events.lock().unwrap()).finished(node, visit).is_some(),
            Until::Told(told) => told.load(Ordering::SeqCst),
            Until::Never => false,
        }
    }

    fn times_called(&self, role: &str) -> usize {
        self.calls.lock().unwrap().iter().filter(|call| call.role == role).count()
    }

    /// Waits for everything for which this call is held back, at most for two minutes, which is far longer than anything
    /// takes: a longer wait is for an event that never comes, or the call should have been cancelled.
    async fn wait(&self, role: &str, number: usize) {
        let holds = self.holds.lock().unwrap().clone();
        for (_, _, until) in holds.into_iter().filter(|hold| hold.0 == role && hold.1 == number) {
            for _ in 0..6000 {
                if self.has_happened(until) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            assert!(self.has_happened(until), "`{role}` waits for {until:?} in vain");
        }
    }
}

#[async_trait]
impl Agent for Watched {
    fn name(&self) -> &str {
        self.scripted.name()
    }

    fn sessions(&self) -> &Sessions {
        self.scripted.sessions()
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let (role, workspace) = (turn.role.clone().unwrap(), turn.workspace.clone().unwrap());
        let call = Call {
            session: turn.session.clone(),
            answered_in: None,
            prompt: turn.prompt.clone(),
            system: turn.system.clone(),
            head: git(&workspace, &["rev-parse", "HEAD"]),
            files: files_of(&workspace),
            worktrees: worktrees_of(&self.repository),
            main: git(&self.repository, &["rev-parse", "main"]),
            role: role.clone(),
            workspace,
        };
        let place = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(call);
            calls.len() - 1
        };
        let number = self.times_called(&role);
        let act = {
            let mut acts = self.acts.lock().unwrap();
            let found = acts.iter().position(|(of, _)| *of == role);
            found.map(|position| acts.remove(position).1)
        };
        if let Some(act) = act {
            act();
        }
        self.wait(&role, number).await;
        let reply = self.scripted.run(context, turn).await?;
        self.calls.lock().unwrap()[place].answered_in = Some(reply.session.clone());
        Ok(reply)
    }
}

/// Every file below a directory, except git's own.
pub(crate) fn files_of(directory: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() == ".git" {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
                files.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    files
}

/// The repository's linked worktrees: the last two parts of the path, and the branch.
pub(crate) fn worktrees_of(repository: &Path) -> BTreeMap<String, Option<String>> {
    let list = git(repository, &["worktree", "list", "--porcelain"]);
    let linked = list.split("\n\n").skip(1).map(|entry| {
        let line = |key: &str| entry.lines().find_map(|line| line.strip_prefix(key));
        let path = line("worktree ").unwrap();
        let branch = line("branch refs/heads/").map(str::to_owned);
        let name: Vec<_> = Path::new(path).iter().rev().take(2).map(|part| part.to_str().unwrap()).collect();
        (format!("{}/{}", name[1], name[0]), branch)
    });
    linked.collect()
}
