//! Whole calls through a conversation: an example of an agent that drives a program.

use std::cell::Cell;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use interlocking_agents::program::{
    CallLimits, Environment, Invocation, Line, LineOutcome, LineProtocol, Secret, StopTimeouts, run_protocol,
};
use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, Conversation, Interrupt, NoEvents, Reply, SessionId, SessionOp,
    Sessions, Slug, Turn, TurnContext, Usage,
};
use tokio::sync::watch;

use crate::common::{ends, number, runs, shell};
use stopped_time::StoppedTime;

#[path = "../stopped_time/mod.rs"]
mod stopped_time;

/// The agent's program writes `session NAME`, `tool`, `tool ended`, `noise`, `wrong`, and finally `answer TEXT`. The
/// line `stop` asks it to stop.
struct Talker {
    invocation: Invocation,
    limits: CallLimits,
    timeouts: StopTimeouts,
    sessions: Sessions,
    /// How many lines the agent has received.
    heard: watch::Sender<usize>,
    /// The standard error and the number of survivors of each call.
    ends: Mutex<Vec<(String, usize)>>,
}

struct Talk<'a> {
    context: &'a TurnContext<'a>,
    heard: &'a watch::Sender<usize>,
    works: bool,
    session: Option<SessionId>,
    answer: Option<String>,
}

impl LineProtocol for Talk<'_> {
    fn on_line(&mut self, line: Line<'_>) -> LineOutcome {
        self.heard.send_modify(|heard| *heard += 1);
        let Line::Whole(line) = line else { return LineOutcome::Progress };
        let line = String::from_utf8_lossy(line).into_owned();
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("noise", _) => return LineOutcome::NoProgress,
            ("session", name) => {
                let session = SessionId::new(name).unwrap();
                self.context.started(&session).unwrap();
                self.session = Some(session);
            }
            ("tool", ended) => self.works = ended.is_empty(),
            ("ask", question) => return LineOutcome::Answer(format!("you asked {question}\n").into_bytes()),
            ("wrong", _) => return LineOutcome::Stop,
            ("answer", text) => {
                self.answer = Some(text.to_owned());
                return LineOutcome::Done;
            }
            _ => self.context.emit(AgentEvent::Text { text: line }),
        }
        LineOutcome::Progress
    }

    fn interruption(&mut self) -> Option<Vec<u8>> {
        Some(b"stop\n".to_vec())
    }

    fn is_working(&self) -> bool {
        self.works
    }
}

fn talker(script: &str) -> Talker {
    let invocation = Invocation { stays_open: true, ..shell(script) };
    let (limits, timeouts) = (CallLimits::NONE, StopTimeouts::DEFAULT);
    Talker {
        invocation,
        limits,
        timeouts,
        sessions: Sessions::new(),
        heard: watch::Sender::new(0),
        ends: Mutex::default(),
    }
}

#[async_trait]
impl Agent for Talker {
    fn name(&self) -> &str {
        "talker"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let mut talk = Talk { context, heard: &self.heard, works: false, session: None, answer: None };
        let invocation = Invocation { directory: turn.workspace.clone(), ..self.invocation.clone() };
        let call = run_protocol(invocation, &mut talk, context, &self.limits, &self.timeouts).await?;
        self.ends.lock().unwrap().push((call.ended.stderr.clone(), call.ended.survivors));
        let session = talk.session.unwrap_or_else(|| SessionId::new("none").unwrap());
        let usage = Usage { calls: 1, ..Usage::default() };
        match (call.stop_reason, talk.answer) {
            (None, Some(text)) => Ok(Reply { text: Some(text), ..Reply::new(session, usage) }),
            (Some(kind), _) => Err(AgentError::new(kind).in_session(session, usage)),
            (None, None) => {
                let (exit, reason) = (call.ended.exit, call.ended.stderr);
                Err(AgentError::new(AgentErrorKind::Crashed { exit, reason }))
            }
        }
    }
}

fn turn() -> Turn {
    Turn::fresh(Slug::new("talk").unwrap(), "talk")
}

async fn failure(agent: &Talker) -> AgentErrorKind {
    *Conversation::new(agent).run(turn(), &NoEvents).await.unwrap_err().kind
}

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_program_answers_and_is_answered() {
    let agent = talker("echo session s-1; echo ask why; read reply; echo \"answer $reply\"; read end; echo bye >&2");
    let completion = Conversation::new(&agent).run(turn(), &NoEvents).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("you asked why"));
    assert_eq!(*agent.ends.lock().unwrap(), [("bye".to_owned(), 0)]);
}

#[tokio::test]
async fn a_program_that_stays_after_its_answer_is_stopped() {
    let timeouts = StopTimeouts { interrupt: SHORT, terminate: SHORT };
    let agent =
        Talker { timeouts, ..talker("trap '' TERM; echo session s-1; echo answer 42; while :; do sleep 1; done") };
    let begun = Instant::now();
    let completion = Conversation::new(&agent).run(turn(), &NoEvents).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("42"));
    assert!(begun.elapsed() >= 2 * SHORT, "it has its time to end by itself, and then to heed SIGTERM");
}

/// The program may be in a session that another turn uses.
#[tokio::test]
async fn a_program_that_must_not_go_on_is_stopped_at_once() {
    let timeouts = StopTimeouts { interrupt: Duration::from_secs(60), terminate: Duration::from_secs(60) };
    let agent = Talker { timeouts, ..talker("echo wrong; exec sleep 600") };
    let begun = Instant::now();
    assert_eq!(failure(&agent).await, AgentErrorKind::Crashed { exit: None, reason: String::new() });
    assert!(begun.elapsed() < timeouts.interrupt);
}

#[tokio::test]
async fn a_program_that_ends_without_an_answer_says_how() {
    let kind = failure(&talker("echo session s-1; echo 'no such model' >&2; exit 3")).await;
    assert_eq!(kind, AgentErrorKind::Crashed { exit: Some(3), reason: "no such model".to_owned() });
}

#[tokio::test]
async fn an_interrupted_program_says_what_it_has_to_say() {
    let agent = talker("echo session s-1; echo started; read line; echo \"$line\" >&2; echo answer half");
    let interrupt = Interrupt::new();
    let conversation = Conversation::new(&agent).with_interrupt(interrupt.clone());
    let events = |event| {
        if matches!(event, AgentEvent::Text { .. }) {
            interrupt.request();
        }
    };
    let error = conversation.run(turn(), &events).await.unwrap_err();
    assert_eq!((*error.kind, error.session), (AgentErrorKind::Cancelled, Some(SessionId::new("s-1").unwrap())));
    assert_eq!(*agent.ends.lock().unwrap(), [("stop".to_owned(), 0)]);
}

/// An event during a call.
enum Step {
    /// This many more lines are received.
    Lines(usize),
    /// Time passes, and the call continues.
    Passes(Duration),
    /// The program is told to continue.
    Go,
    /// Time passes, the limit is reached, and the program is stopped.
    Over(Duration),
}

#[tokio::test]
async fn whoever_does_not_begin_or_falls_silent_or_takes_too_long_is_stopped() {
    use Step::{Go, Lines, Over, Passes};
    const LIMIT: Duration = Duration::from_secs(300);
    const LITTLE: Duration = Duration::from_millis(10);
    let none = CallLimits::NONE;
    let (first, idle) = (CallLimits { first_event: Some(LIMIT), ..none }, CallLimits { idle: Some(LIMIT), ..none });
    let cases = [
        (
            "echo noise; sleep 600",
            first,
            vec![Lines(1), Passes(LIMIT - LITTLE), Over(LITTLE)],
            "NoFirstEvent { limit: 300s }",
        ),
        (
            "echo a; go; echo noise; sleep 600",
            idle,
            vec![Lines(1), Passes(LITTLE), Go, Lines(1), Passes(LIMIT - 2 * LITTLE), Over(LITTLE)],
            "Idle { limit: 300s, nudges: 0 }",
        ),
        (
            "echo noise; sleep 600",
            idle,
            vec![Lines(1), Passes(LIMIT - LITTLE), Over(LITTLE)],
            "Idle { limit: 300s, nudges: 0 }",
        ),
        (
            "while :; do echo a; sleep 0.01; done",
            CallLimits { total: Some(2 * LIMIT), first_event: Some(LIMIT), idle: Some(LIMIT) },
            vec![Lines(1), Passes(LIMIT - LITTLE), Lines(2), Passes(LIMIT - LITTLE), Lines(2), Over(2 * LITTLE)],
            "TimedOut { limit: 600s }",
        ),
        (
            "echo tool; go; echo tool ended; sleep 600",
            idle,
            // The time of the tool does not count as idle.
            vec![Lines(1), Passes(10 * LIMIT), Go, Lines(1), Passes(LIMIT - LITTLE), Over(LITTLE)],
            "Idle { limit: 300s, nudges: 0 }",
        ),
    ];
    for (script, limits, steps, expected) in cases {
        let place = tempfile::tempdir().unwrap();
        let script = script.replace("go;", "while ! test -e go; do sleep 0.01; done;");
        let timeouts = StopTimeouts { interrupt: Duration::ZERO, ..StopTimeouts::DEFAULT };
        let agent = Talker { limits, timeouts, ..talker(&script) };
        let time = StoppedTime::new();
        let taken = Cell::new(0);
        let stepping = async {
            let mut heard = 0;
            for step in &steps {
                match step {
                    Lines(more) => {
                        heard += more;
                        let least = heard;
                        time.until(|| *agent.heard.borrow() >= least).await;
                        heard = *agent.heard.borrow();
                    }
                    Passes(duration) => time.pass(*duration).await,
                    Go => fs::write(place.path().join("go"), "").unwrap(),
                    Over(duration) => {
                        taken.set(taken.get() + 1);
                        time.pass(*duration).await;
                        for _ in 0..10_000 {
                            time.pass(Duration::from_millis(1)).await;
                            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(1))).await.unwrap();
                        }
                        panic!("{script}: it was not stopped");
                    }
                }
                taken.set(taken.get() + 1);
            }
        };
        let conversation = Conversation::new(&agent);
        let turn = Turn { workspace: Some(place.path().to_owned()), ..turn() };
        let error = tokio::select! {
            biased;
            outcome = conversation.run(turn, &NoEvents) => outcome.unwrap_err(),
            () = stepping => unreachable!("the last step does not end"),
        };
        assert_eq!(format!("{:?}", error.kind), expected, "{script}");
        assert_eq!(taken.get(), steps.len(), "{script}: it was stopped before its time");
        drop(time);
        tokio::time::resume();
    }
}

#[tokio::test]
async fn a_turn_that_is_dropped_ends_its_tree() {
    let place = tempfile::tempdir().unwrap();
    let agent = talker("setsid sh -c 'echo $$ > child; exec sleep 600' & echo session s-1; wait");
    let conversation = Conversation::new(&agent);
    let child = place.path().join("child");
    let child = tokio::select! {
        outcome = conversation.run(Turn { workspace: Some(place.path().to_owned()), ..turn() }, &NoEvents) => panic!("{outcome:?}"),
        child = number(&child) => child,
    };
    assert!(ends(child).await);
    let session = SessionOp::ContinueFrom(SessionId::new("s-1").unwrap());
    agent.sessions().hold(&session, Some(place.path())).unwrap();
}

#[tokio::test]
async fn who_is_interrupted_by_sigterm_leaves_nobody() {
    let place = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'echo $$ > child; exec sleep 600' & trap 'exit 0' TERM; echo session s-1; while :; do sleep 0.05; done";
    let timeouts = StopTimeouts { interrupt: SHORT, terminate: Duration::from_secs(60) };
    let (agent, interrupt) = (Talker { timeouts, ..talker(script) }, Interrupt::new());
    let conversation = Conversation::new(&agent).with_interrupt(interrupt.clone());
    let turn = Turn { workspace: Some(place.path().to_owned()), ..turn() };
    let child = place.path().join("child");
    let interrupting = async {
        let child = number(&child).await;
        // The program reports that it handles SIGTERM.
        agent.heard.subscribe().wait_for(|heard| *heard > 0).await.unwrap();
        interrupt.request();
        child
    };
    let (outcome, child) = tokio::join!(conversation.run(turn, &NoEvents), interrupting);
    assert_eq!(*outcome.unwrap_err().kind, AgentErrorKind::Cancelled);
    assert!(!runs(child));
    assert!(agent.ends.lock().unwrap()[0].1 >= 1);
}

#[tokio::test]
async fn a_key_is_in_no_event_and_in_no_error() {
    let environment = Environment::minimal().secret("KEY", Secret::new("canary-4711"));
    let script = "echo session s-1; echo \"my key is $KEY\"; echo \"refused: $KEY\" >&2; exit 1";
    let talker = talker(script);
    let agent = Talker { invocation: Invocation { environment, ..talker.invocation.clone() }, ..talker };
    let events = Mutex::new(Vec::new());
    let outcome = Conversation::new(&agent).run(turn(), &|event| events.lock().unwrap().push(event)).await;
    let everything = format!("{outcome:?} {events:?} {:?} {:?}", agent.ends, agent.invocation);
    assert!(!everything.contains("canary"), "{everything}");
    assert_eq!(everything.matches("[redacted]").count(), 3, "{everything}");
}
