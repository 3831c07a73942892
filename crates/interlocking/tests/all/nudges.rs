//! Agents that are silent, or do not decide: they are reminded, and finally the node is routed or fails.

use crate::support::{Log, Recording, failed, finished, timed};
use askama::Template;
use interlocking::agents::{AgentError, AgentErrorKind, Nudges};
use interlocking::prelude::*;
use interlocking::runtime::roles::{Player, Roles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Decision {
    Merge,
    Retry { diagnosis: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum End {
    Merged { attempt: u32, nudges: u32 },
    Stuck { attempt: u32, why: String },
}

#[derive(Template)]
#[template(source = "Attempt {{ attempt }} of 5.", ext = "txt")]
struct WorkPrompt {
    attempt: u32,
}

#[derive(Graph)]
#[graph(output = End)]
struct Protocol {
    #[node(entry, input = (), prompt = WorkPrompt, output = Decision, agent = "worker", goto(work, exit), attempts = 5)]
    work: LLMNode<Work>,
}

/// A node whose timeout is shorter than an agent's idle limit.
#[derive(Graph)]
#[graph(output = Decision)]
struct Hasty {
    #[node(entry, input = (), prompt = WorkPrompt, output = Decision, agent = "worker", goto(exit), timeout = "30s")]
    work: LLMNode<Hurry>,
}

held!(Protocol, Hasty);

/// Whether an agent that never decides makes its node `Stuck`, or makes it fail.
struct Work {
    routes: bool,
}

impl LLMHandler<protocol::work> for Work {
    async fn before<'a>(&'a self, (): &'a (), cx: &mut Cx<'_, protocol::work>) -> Ask<WorkPrompt> {
        Ok((WorkPrompt { attempt: cx.attempt() }, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, (): (), reply: Reply<Decision>, cx: &mut Cx<'_, protocol::work>) -> Route<protocol::work> {
        let attempt = cx.attempt();
        match reply.output {
            Decision::Merge => goto!(cx, protocol::exit, End::Merged { attempt, nudges: reply.nudges }),
            Decision::Retry { .. } => goto!(cx, self, ()),
        }
    }
    async fn unanswered(&self, (): (), error: AgentError, cx: &mut Cx<'_, protocol::work>) -> Route<protocol::work> {
        if !self.routes {
            return Err(error.into());
        }
        goto!(cx, protocol::exit, End::Stuck { attempt: cx.attempt(), why: error.to_string() })
    }
}

struct Hurry;
impl LLMHandler<hasty::work> for Hurry {
    async fn before<'a>(&'a self, (): &'a (), cx: &mut Cx<'_, hasty::work>) -> Ask<WorkPrompt> {
        Ok((WorkPrompt { attempt: cx.attempt() }, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, (): (), reply: Reply<Decision>, cx: &mut Cx<'_, hasty::work>) -> Route<hasty::work> {
        goto!(cx, hasty::exit, reply.output)
    }
}

fn protocol(routes: bool) -> Protocol {
    Protocol { work: LLMNode(Work { routes }) }
}

const REMINDER: &str = "REMINDER: Emit a decision to complete this phase";

/// V3-135, CON-18: 60 s without an event, in the same session, in exactly these words.
#[tokio::test(start_paused = true)]
async fn an_agent_without_output_for_60_s_is_nudged() {
    let script = "[[turn]]\ndelay = '2h'\n[[turn]]\nsession = 'continue'\ndelay = '59s'\noutput_json = '\"Merge\"'\n";
    let (agent, log) = (Recording::new(script), Log::new());
    let run = timed(protocol(false)).with_agent("worker", agent.clone()).with_events(log.sink());
    let report = run.start(()).await.unwrap();
    assert_eq!(report.took.as_millis(), 119_000);
    let prompts: Vec<_> = agent.turns().into_iter().map(|turn| turn.prompt).collect();
    assert_eq!(prompts, ["Attempt 1 of 5.", REMINDER]);
    assert_eq!(log.line("agent work 1.1 \"nudge\""), "60000 agent work 1.1 \"nudge\"");
    assert_eq!(finished(report), End::Merged { attempt: 1, nudges: 1 });
}

/// V3-136: a nudge is no attempt, and after the last fruitless nudge the node ends; its handler turns that into
/// `Stuck`.
#[tokio::test(start_paused = true)]
async fn after_three_fruitless_nudges_the_node_ends() {
    let script = "[[turn]]\ncontains = ['Attempt 1']\noutput = { Retry = { diagnosis = 'x' } }\n\
                  [[turn]]\ntimes = 'any'\ndelay = '2h'\n";
    let agent = Recording::new(script);
    let report = timed(protocol(true)).with_agent("worker", agent.clone()).start(()).await.unwrap();
    assert_eq!(report.took.as_millis(), 4 * 60_000, "the turn and three nudges");
    assert_eq!(agent.turns().iter().filter(|turn| turn.prompt == REMINDER).count(), 3);
    let why = "the agent showed no activity for 1m after 3 reminders".to_owned();
    assert_eq!(finished(report), End::Stuck { attempt: 2, why });

    let report = timed(protocol(false)).with_agent("worker", Recording::new(script)).start(()).await.unwrap();
    let failure = failed(report);
    assert_eq!((failure.kind.clone(), failure.attempt), (FailureKind::Agent, 2));
    assert!(failure.to_string().ends_with("the agent showed no activity for 1m after 3 reminders"), "{failure}");
}

/// V3-137: a decision that is missing or cannot be read is asked for again; a decision that is invalid is corrected.
#[tokio::test(start_paused = true)]
async fn a_missing_decision_is_nudged() {
    let script = "[[turn]]\ntext = 'All tests pass!'\n\
                  [[turn]]\ncontains = ['REMINDER']\noutput_json = '\"Marge\"'\n\
                  [[turn]]\ncontains = ['does not fit the JSON schema']\noutput_json = '\"Merge\"'\n";
    let agent = Recording::new(script);
    let report = timed(protocol(false)).with_agent("worker", agent.clone()).start(()).await.unwrap();
    assert_eq!(agent.turns()[1].prompt, REMINDER);
    assert_eq!(finished(report), End::Merged { attempt: 1, nudges: 1 });

    let silent = Recording::new("[[turn]]\ntimes = 'any'\ntext = 'All tests pass!'\n");
    let report = timed(protocol(true)).with_agent("worker", silent).start(()).await.unwrap();
    let why = "the agent gave no decision after 3 reminders".to_owned();
    assert_eq!(finished(report), End::Stuck { attempt: 1, why });
}

/// CON-18: configurable for a run and for a role.
#[tokio::test(start_paused = true)]
async fn nudges_are_set_for_a_run_and_for_a_role() {
    let script = "[[turn]]\ntimes = 'any'\ndelay = '2h'\noutput_json = '\"Merge\"'\n";
    let short = Nudges::DEFAULT.with_idle(Some(Duration::from_secs(10))).with_limit(1);
    let took = |nudges: Nudges, role: Option<Nudges>| async move {
        let mut roles = Roles::new();
        roles.bind("worker", Player { nudges: role, ..Player::new(Recording::new(script)) });
        let run = timed(protocol(true)).with_roles(roles).with_nudges(nudges);
        run.start(()).await.unwrap().took.as_duration().as_secs()
    };
    assert_eq!(took(Nudges::DEFAULT, None).await, 240);
    assert_eq!(took(short, None).await, 20);
    assert_eq!(took(Nudges::DEFAULT, Some(short)).await, 20);
    assert_eq!(took(short, Some(Nudges::DEFAULT)).await, 240);
    assert_eq!(took(Nudges::NONE, None).await, 7_200, "waited for");
}

/// A node's own timeout takes precedence if it is shorter, however many reminders are left.
#[tokio::test(start_paused = true)]
async fn a_node_that_times_out_sooner_has_no_reminder() {
    let agent = Recording::new("[[turn]]\ntimes = 'any'\ndelay = '2h'\n");
    let report = timed(Hasty { work: LLMNode(Hurry) }).with_agent("worker", agent.clone()).start(()).await.unwrap();
    assert_eq!(failed(report).kind, FailureKind::Timeout { limit_ms: 30_000 });
    assert_eq!(agent.turns().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn errors_that_no_reminder_helps_go_straight_to_the_handler() {
    let agent = Recording::new("[[turn]]\nfail = 'refused'\ntext = 'no such model'\n");
    let report = timed(protocol(true)).with_agent("worker", agent.clone()).start(()).await.unwrap();
    assert_eq!(agent.turns().len(), 1);
    let error = AgentErrorKind::Refused { reason: "no such model".to_owned() };
    assert_eq!(finished(report), End::Stuck { attempt: 1, why: error.to_string() });
}
