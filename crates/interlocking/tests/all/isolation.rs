//! Isolation that a table demands: refused if it cannot be enforced, otherwise enforced by the kernel.

use crate::support::{Log, Recording, failed, finished, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{Agent, Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::isolation::IsolationOffer;
use interlocking::runtime::workspaces::{Directories, Moment};
use interlocking::runtime::{EventKind, MemoryJournal, StartError, WorkspaceError, Workspaces};
use interlocking::sandbox::{Protection, Sandbox, Support};
use interlocking::table::Isolation;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

#[derive(Template)]
#[template(source = "Work.", ext = "txt")]
struct WorkPrompt;

/// Two nodes that must not see each other's work, and a node that looks at both.
#[derive(Graph)]
#[graph(output = String)]
pub(crate) struct Apart {
    #[node(entry, input = String, fork(tests, code))]
    split: ForkNode<Split>,
    #[node(input = String, prompt = WorkPrompt, output = String, workspace = "tests", isolation = "sandbox",
        blind_to(code), goto(meet))]
    tests: LLMNode<Work>,
    #[node(input = String, prompt = WorkPrompt, output = String, workspace = "code", isolation = "sandbox",
        blind_to(tests), goto(meet))]
    code: LLMNode<Work>,
    #[node(join(tests: String, code: String), goto(exit))]
    meet: JoinNode<Meet>,
}

held!(Apart, Alone);

forks!(Split for apart::split, |task: String, cx| fork!(cx, (task.clone(), task)));
joins!(Meet for apart::meet, |both: (String, String), cx| goto!(cx, apart::exit, format!("{}, {}", both.0, both.1)));

/// Its agents begin fresh sessions, or continue this one.
struct Work(Option<SessionId>);
macro_rules! works {
    ($($node:ident),*) => {$(
        impl LLMHandler<apart::$node> for Work {
            async fn before<'a>(&'a self, _: &'a String, _: &mut Cx<'_, apart::$node>) -> Ask<WorkPrompt> {
                let operation = match &self.0 {
                    Some(session) => SessionOp::ContinueFrom(session.clone()),
                    None => SessionOp::StartFresh(Slug::new(stringify!($node))?),
                };
                Ok((WorkPrompt, operation))
            }
            async fn after(
                &self,
                _: String,
                reply: Reply<String>,
                cx: &mut Cx<'_, apart::$node>,
            ) -> Route<apart::$node> {
                goto!(cx, apart::meet, reply.output)
            }
        }
    )*};
}
works!(tests, code);

fn apart() -> Run<Apart> {
    apart_in(None)
}

pub(crate) fn apart_in(session: Option<SessionId>) -> Run<Apart> {
    let (tests, code) = (LLMNode(Work(session.clone())), LLMNode(Work(session)));
    timed(Apart { split: ForkNode(Split), tests, code, meet: JoinNode(Meet) })
}

/// Both places, each with a secret.
fn places() -> (tempfile::TempDir, [PathBuf; 2]) {
    let room = tempfile::tempdir().unwrap();
    let places = ["tests", "code"].map(|name| {
        let place = room.path().join(name);
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("secret.txt"), format!("the secret of {name}\n")).unwrap();
        place
    });
    (room, places)
}

/// An agent that acts maliciously in each place: it looks for its sibling's secret in every way that a shell has, and
/// leaves a file of its own there.
fn burglar(room: &Path) -> Arc<ScriptedAgent> {
    let mut script = String::new();
    for (own, other) in [("tests", "code"), ("code", "tests")] {
        let other = room.join(other);
        let shell = format!(
            "{{ cat '{0}/secret.txt'; cat ../{1}/secret.txt; ln -s '{0}' link; cat link/secret.txt; \
               cat /proc/[0-9]*/cwd/../{1}/secret.txt; ln '{0}/secret.txt' hard; cat hard; cp -r '{0}' copy; \
               (cd '{0}' && cat secret.txt && ls); sh -c 'sh -c \"cat {0}/secret.txt\"'; }} > loot.txt 2>/dev/null; \
             echo I was here > '{0}/mark.txt'; \
             (setsid sh -c 'sleep 0.2; cat {0}/secret.txt > late.txt; echo done > done.txt' &) ; \
             for _ in $(seq 600); do test -e done.txt && break; sleep 0.05; done",
            other.display(),
            other.file_name().unwrap().to_string_lossy(),
        );
        script.push_str(&format!(
            "[[turn]]\nagent = '{own}'\noutput_json = '\"{own}\"'\n[[turn.write]]\npath = 'own.txt'\ncontent = 'mine'\n\
             [[turn.run]]\ncommand = ['sh', '-c', '''{shell}''']\nexit = 'any'\n"
        ));
    }
    Arc::new(ScriptedAgent::new(Script::parse("burglar", &script).unwrap()))
}

fn loot(place: &Path) -> String {
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap_or_default();
    let copied = std::fs::read_to_string(place.join("copy/secret.txt")).unwrap_or_default();
    read("loot.txt") + &read("late.txt") + &copied
}

/// Neither agent can read the other's work, whatever it tries; without confinement the same commands can.
#[tokio::test(flavor = "multi_thread")]
async fn a_malicious_agent_cannot_reach_the_place_that_it_is_blind_to() {
    let (room, places) = places();
    let sandboxed = |directories: Directories, (name, place): (&str, &PathBuf)| {
        directories.with_sandbox(name, Sandbox::for_place(place))
    };
    let directories = ["tests", "code"].into_iter().zip(&places).fold(Directories::new(), sandboxed);
    let run = apart().with_agent_for_others(burglar(room.path())).with_workspaces(Arc::new(directories));
    let run = run.start("go".to_owned()).await;
    if Sandbox::for_place(room.path()).missing_on(Support::of_this_system()).is_empty() {
        assert_eq!(finished(run.unwrap()), "tests, code");
        for place in &places {
            assert_eq!(loot(place), "", "{}", place.display());
            assert!(!place.join("mark.txt").exists());
            assert_eq!(std::fs::read_to_string(place.join("own.txt")).unwrap(), "mine");
            assert!(place.join("done.txt").exists(), "what outlives its parent was confined, not killed");
        }
    } else {
        assert!(matches!(run, Err(StartError::Isolation { .. })));
    }

    // This shows that the burglar works: without a sandbox it gets in.
    let (room, places) = self::places();
    let directories = Directories::new().with("tests", &places[0]).with("code", &places[1]);
    let run = apart().with_agent_for_others(burglar(room.path())).with_workspaces(Arc::new(directories));
    finished(run.with_weaker_isolation().start("go".to_owned()).await.unwrap());
    for (place, other) in [(&places[0], "code"), (&places[1], "tests")] {
        let secret = format!("the secret of {other}");
        assert!(loot(place).matches(&secret).count() >= 7, "{}", loot(place));
        assert!(place.join("mark.txt").exists());
    }
}

/// Places on a machine with this support for isolation.
struct Machine(Support);

#[async_trait]
impl Workspaces for Machine {
    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(std::env::temp_dir())
    }

    fn isolation(&self, name: &str) -> IsolationOffer {
        match name {
            "tests" => {
                IsolationOffer::sandboxed_on(&Sandbox::for_place(std::env::temp_dir()), Isolation::Clone, &self.0)
            }
            _ => IsolationOffer::of(Isolation::Worktree),
        }
    }

    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
}

pub(crate) const BOTH: &str = "
    [[turn]]
    times = 2
    output_json = '\"done\"'
";

#[tokio::test(start_paused = true)]
async fn a_run_whose_isolation_cannot_be_kept_says_so_and_does_not_start() {
    let agent = || Arc::new(ScriptedAgent::new(Script::parse("both", BOTH).unwrap()));
    let journal = Arc::new(MemoryJournal::new());
    let on = |support: Support| {
        let run = apart().with_agent_for_others(agent()).with_workspaces(Arc::new(Machine(support)));
        run.with_journal(journal.clone())
    };
    let without = || Support::of([Protection::SystemCalls], "the kernel has no Landlock, or it is off");
    let refused = on(without()).start("go".to_owned()).await.unwrap_err();
    let missing: Vec<_> = Protection::ALL
        .into_iter()
        .filter(|protection| !matches!(protection, Protection::SystemCalls | Protection::Tcp))
        .map(|protection| protection.to_string())
        .collect();
    assert_eq!(
        refused.to_string(),
        format!(
            "the graph demands isolation that cannot be kept here:\n  \
               node `tests` demands a sandbox for its workspace `tests`, being blind to `code`, and there is a clone: this \
             machine cannot keep a program from {}: the kernel has no Landlock, or it is off\n  \
               node `code` demands a sandbox for its workspace `code`, being blind to `tests`, and there is a worktree: the \
             run's workspaces give no more\n\
             run it where it can be kept, or say that it may go on without: `with_weaker_isolation`, or \
             `--accept-weaker-isolation` on the command line",
            missing.join(", ")
        )
    );
    let StartError::Isolation { unkept } = refused else { panic!("another error") };
    assert_eq!((unkept[0].node.as_str(), unkept[0].given), ("tests", Isolation::Clone));
    assert_eq!((unkept[1].demanded, unkept[1].given), (Isolation::Sandbox, Isolation::Worktree));

    // Told to accept weaker isolation, the run goes on, and reports what is missing.
    let log = Log::new();
    let run = on(without()).with_weaker_isolation().with_events(log.sink());
    assert_eq!(finished(run.start("go".to_owned()).await.unwrap()), "done, done");
    let told = log.events().into_iter().filter_map(|event| match event.kind {
        EventKind::IsolationUnkept(unkept) => Some((unkept.node, unkept.given)),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told, [("tests".to_owned(), Isolation::Clone), ("code".to_owned(), Isolation::Worktree)]);

    // A resumed run has to be told again.
    assert!(matches!(on(without()).resume().await, Err(StartError::Isolation { .. })));
    assert_eq!(finished(on(without()).with_weaker_isolation().resume().await.unwrap()), "done, done");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_confines_nothing_is_not_asked_where_a_sandbox_is_demanded() {
    let (_room, places) = places();
    if !Sandbox::for_place(&places[0]).missing_on(Support::of_this_system()).is_empty() {
        return; // Refused for another reason, as another test has it.
    }
    let directories = || {
        let tests = Directories::new().with_sandbox("tests", Sandbox::for_place(&places[0]));
        Arc::new(tests.with_sandbox("code", Sandbox::for_place(&places[1])))
    };
    let agent = Recording::new(BOTH);
    assert!(!agent.confines() && agent.scripted().confines());
    let refused = apart().with_agent_for_others(agent.clone()).with_workspaces(directories());
    let StartError::Isolation { unkept } = refused.start("go".to_owned()).await.unwrap_err() else { panic!("another") };
    assert_eq!(
        unkept[1].reason,
        "the agent `recording`, which plays `code`, does not confine the programs that it starts"
    );
    // If the run accepts weaker isolation, the agent is still given the sandbox.
    let run = apart().with_agent_for_others(agent.clone()).with_workspaces(directories()).with_weaker_isolation();
    finished(run.start("go".to_owned()).await.unwrap());
    let turns = agent.turns();
    assert!(turns.iter().all(|turn| turn.sandbox.as_ref().map(|sandbox| sandbox.place()) == turn.workspace.as_deref()));
}

/// A place that claims to have a sandbox, and has none.
struct Empty;

#[async_trait]
impl Workspaces for Empty {
    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(std::env::temp_dir())
    }

    fn isolation(&self, _: &str) -> IsolationOffer {
        IsolationOffer::of(Isolation::Sandbox)
    }

    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_started_where_the_sandbox_is_missing() {
    let agent = Arc::new(ScriptedAgent::new(Script::parse("both", BOTH).unwrap()));
    let run = apart().with_agent_for_others(agent.clone()).with_workspaces(Arc::new(Empty));
    let failure = failed(run.start("go".to_owned()).await.unwrap());
    assert_eq!(failure.kind, FailureKind::Workspace);
    assert!(failure.message.ends_with("has no sandbox, which its node demands: nothing was started there"));
    assert_eq!(agent.unused()[0].used, 0);
}

/// A place that is found in disorder before or after an agent's turn; it records when it was checked.
struct Disorder {
    at: Moment,
    asked: Mutex<Vec<(String, Moment)>>,
}

#[async_trait]
impl Workspaces for Disorder {
    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(std::env::temp_dir())
    }

    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }

    async fn verify(&self, name: &str, moment: Moment) -> Result<Vec<String>, WorkspaceError> {
        self.asked.lock().unwrap().push((name.to_owned(), moment));
        let findings = ["its head was moved", "files were changed: a.txt"].map(str::to_owned);
        Ok(if moment == self.at { findings.into() } else { Vec::new() })
    }
}

#[derive(Graph)]
#[graph(output = String)]
struct Alone {
    #[node(entry, input = String, prompt = WorkPrompt, output = String, workspace = "desk", timeout = "1s", goto(exit))]
    work: LLMNode<Works>,
}

struct Works;
impl LLMHandler<alone::work> for Works {
    async fn before<'a>(&'a self, _: &'a String, _: &mut Cx<'_, alone::work>) -> Ask<WorkPrompt> {
        Ok((WorkPrompt, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, _: String, reply: Reply<String>, cx: &mut Cx<'_, alone::work>) -> Route<alone::work> {
        goto!(cx, alone::exit, reply.output)
    }
}

#[tokio::test(start_paused = true)]
async fn a_place_is_verified_before_and_after_an_agents_turn() {
    let listed = "\n  its head was moved\n  files were changed: a.txt";
    let crash = "[[turn]]\nfail = 'crash'\ntext = 'out of memory'\n";
    let done = "[[turn]]\noutput_json = '\"done\"'\n";
    let slow = "[[turn]]\ndelay = '9s'\noutput_json = '\"done\"'\n";
    let cases = [
        (Moment::After, slow, format!("after its agent's turn:{listed}"), 1),
        (Moment::Before, done, format!("before its agent starts:{listed}"), 0),
        (Moment::After, done, format!("after its agent's turn:{listed}"), 1),
        (
            Moment::After,
            crash,
            format!(
                "after its agent's turn:{listed}\nthe agent had failed, too: the agent ended without an answer (exit code 1): out of memory"
            ),
            1,
        ),
    ];
    for (at, script, message, turns) in cases {
        let agent = Recording::new(script);
        let disorder = Arc::new(Disorder { at, asked: Mutex::default() });
        let run = timed(Alone { work: LLMNode(Works) }).with_agent_for_others(agent.clone());
        let failure = failed(run.with_workspaces(disorder.clone()).start("go".to_owned()).await.unwrap());
        assert_eq!(failure.kind, FailureKind::Workspace);
        assert_eq!(failure.message, format!("workspace `desk` is not as it should be {message}"));
        assert_eq!(agent.turns().len(), turns);
        let asked = disorder.asked.lock().unwrap().clone();
        assert_eq!(asked.len(), turns + 1);
        assert!(asked.iter().all(|(name, _)| name == "desk"));
    }
}
