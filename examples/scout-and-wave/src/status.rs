//! `status`: the state of a run, by the protocol's names.

use clap::Args;
use interlocking::cli::{CommandContext, CommandError, CommonArguments, Exit, sanitized};
use interlocking::run_id::RunId;
use interlocking::runtime::journal::Origin;
use interlocking::runtime::journal::account::{ExecutionAccount, ExecutionState, RunAccount, RunState, account};
use scout_and_wave::graph::{Progress, Sent};
use scout_and_wave::protocol::agent::Post;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What `status` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  scout-and-wave status r1")]
pub(crate) struct Status {
    /// The run's name
    run: RunId,

    #[command(flatten)]
    common: CommonArguments,
}

/// The state of a run.
#[derive(Debug, Serialize)]
struct StatusReport {
    run: RunId,
    /// Whether a process executes it, and how it ended if it has.
    stands: RunState,
    /// The protocol's state.
    state: String,
    /// The nodes that are under way.
    at: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wave: Option<u32>,
    /// The agents of the wave; of quick mode, all.
    agents: Vec<Agent>,
    /// Its questions to people.
    waits_for: Vec<Question>,
}

#[derive(Debug, Serialize)]
struct Agent {
    name: String,
    /// The state of its run; an agent that is alone in its wave has no run of its own, and has the state of its node.
    stands: &'static str,
}

#[derive(Debug, Serialize)]
struct Question {
    node: String,
    question: Value,
}

pub(crate) async fn status(Status { run, common }: Status, cx: CommandContext) -> Result<Exit, CommandError> {
    let account = account(&common.open_journal()?, &run).await.map_err(CommandError::of_journal)?;
    let report = StatusReport::of(&account)?;
    common.print(cx.console(), &report, || report.lines(cx.program(), &common.journal_words()))?;
    Ok(Exit::Done)
}

/// A question, line by line: each field, and each entry of a list.
fn write_question(question: &Value, indent: usize, text: &mut String) {
    let said = |value: &Value| sanitized(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    match question {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::Array(entries) if entries.is_empty() => {}
                    Value::Object(_) | Value::Array(_) => {
                        _ = writeln!(text, "{:indent$}{name}:", "");
                        write_question(value, indent + 2, text);
                    }
                    _ => _ = writeln!(text, "{:indent$}{name}: {}", "", said(value)),
                }
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| _ = writeln!(text, "{:indent$}- {}", "", said(entry))),
        value => _ = writeln!(text, "{:indent$}{}", "", said(value)),
    }
}

/// The state of an agent that is alone in its wave, in the words for runs.
fn solo_state(state: ExecutionState) -> &'static str {
    let state = match state {
        ExecutionState::Done => RunState::Finished,
        ExecutionState::Failed => RunState::Failed,
        ExecutionState::Running => RunState::Running,
        ExecutionState::Waiting => RunState::Waiting,
        _ => RunState::Stopped,
    };
    state.name()
}

impl StatusReport {
    fn of(account: &RunAccount) -> Result<Self, CommandError> {
        let progress = account.memory.get("run").cloned().map(serde_json::from_value::<Progress>).transpose()?;
        let Progress { state, wave, sent } = progress.unwrap_or_default();
        let is_under_way =
            |state| matches!(state, ExecutionState::Running | ExecutionState::Waiting | ExecutionState::Interrupted);
        let at = account.executions.iter().filter(|execution| is_under_way(execution.state));
        let at = at.map(|execution| execution.by.node.clone()).collect();
        let children = account.executions.iter().flat_map(|execution| &execution.children).filter_map(|child| {
            let Some(Origin::Child { key, .. }) = &child.summary.origin else { return None };
            Some((Post::label_of(key).to_owned(), child.state.name()))
        });
        // The last run of each agent counts.
        let children: BTreeMap<_, _> = children.collect();
        // What an agent that is alone has done since its wave was launched.
        let is_launch =
            |execution: &&ExecutionAccount| execution.by.node == "pending" && execution.state == ExecutionState::Done;
        let since = account.executions.iter().rev().take_while(|execution| !is_launch(execution));
        let solo = since.filter(|execution| execution.by.node == "solo").map(|execution| execution.state).next();
        let alone = solo.map_or("waiting", solo_state);
        let agents = match wave {
            Some(wave) => {
                let of_wave = format!("wave{wave}-agent-");
                let agent = |(name, Sent { generation, .. }): (String, Sent)| {
                    // Another run has sent it, and this one goes on with its work.
                    let without_run = if generation == 0 { RunState::Finished.name() } else { alone };
                    Agent { stands: children.get(&name).copied().unwrap_or(without_run), name }
                };
                sent.into_iter().filter(|(label, _)| label.starts_with(&of_wave)).map(agent).collect()
            }
            None => children.into_iter().map(|(name, stands)| Agent { name, stands }).collect(),
        };
        let questions = account.open_questions().into_iter();
        let waits_for = questions.map(|open| Question { node: open.by.node, question: open.question }).collect();
        Ok(Self {
            run: account.summary.run.clone(),
            stands: account.state,
            state: state.to_string(),
            at,
            wave,
            agents,
            waits_for,
        })
    }

    fn lines(&self, program: &str, journal: &str) -> String {
        let Self { run, stands, state, at, wave, agents, waits_for } = self;
        let mut text = format!("{run}  {state}  {}\n", stands.name());
        if !at.is_empty() {
            _ = writeln!(text, "at      {}", at.join(", "));
        }
        if let Some(wave) = wave {
            _ = writeln!(text, "wave    {wave}");
        }
        for Agent { name, stands } in agents {
            _ = writeln!(text, "agent   {name}  {stands}");
        }
        for Question { node, question } in waits_for {
            _ = writeln!(text, "waits   for a person, at {node}");
            write_question(question, 8, &mut text);
            _ = writeln!(
                text,
                "        `{program} answer {run} JSON{journal}` answers, then `{program} resume {run}{journal}` takes it up"
            );
        }
        text
    }
}
