//! `show`: what a run did, as a tree.

use super::list::{origin_words, state_of};
use crate::ancestor::topmost_ancestor;
use crate::arguments::CommonArguments;
use crate::console::Console;
use crate::error::{CommandError, failure_lines};
use crate::exit::Exit;
use crate::text::{count, moment, quoted, sanitized, seconds};
use clap::Args;
use interlocking_agents::Usage;
use interlocking_core::run_id::RunId;
use interlocking_runtime::human::OpenQuestion;
use interlocking_runtime::journal::LetterBody;
use interlocking_runtime::journal::account::{
    ExecutionAccount, ExecutionState, QuestionAccount, RunAccount, RunState, WaitingLetter, account,
};
use std::fmt::Write;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The run's name
    #[arg(value_name = "RUN")]
    run: RunId,

    #[command(flatten)]
    common: CommonArguments,
}

pub(crate) async fn show(arguments: Arguments, name: &str, console: &Console) -> Result<Exit, CommandError> {
    let Arguments { run, common } = arguments;
    let journal = common.journal.open()?;
    let account = account(&journal, &run).await.map_err(CommandError::of_journal)?;
    let started =
        topmost_ancestor(&journal, account.summary.origin.as_ref()).await.map_err(CommandError::of_journal)?;
    let resumable = match started {
        Some(started) => (state_of(&journal, &started).await.map_err(CommandError::of_journal)?, started.run),
        None => (account.state, run),
    };
    common.print(console, &account, || tree(&account, &resumable, name, &common.journal.words()))?;
    Ok(Exit::Done)
}

/// The run as text, with suggested commands at the end. `started` is the run that can be resumed, and its state.
fn tree(account: &RunAccount, (state, started): &(RunState, RunId), name: &str, journal: &str) -> String {
    let mut text = String::new();
    run_lines(account, "", &mut text);
    let open = account.open_questions();
    let run = &account.summary.run;
    match &open[..] {
        [] => {}
        [_] => text.push_str(&format!("\n`{name} answer {run} JSON{journal}` answers.\n")),
        several => {
            text.push('\n');
            for OpenQuestion { run, by, .. } in several {
                let _ = writeln!(text, "`{name} answer {run} JSON --question {by}{journal}` answers {by} of {run}.");
            }
        }
    }
    let _ = match state {
        RunState::Stopped => writeln!(text, "\n`{name} resume {started}{journal}` takes it up."),
        RunState::Failed => writeln!(
            text,
            "\n`{name} resume {started} --retry{journal}` tries again what failed; `{name} fork {started}{journal}` makes a run that does."
        ),
        _ => Ok(()),
    };
    text
}

/// Writes a run; each line after the first begins with `margin`.
fn run_lines(account: &RunAccount, margin: &str, text: &mut String) {
    let RunAccount { summary, state, total, resumed, executions, children, failure, letters, problem, .. } = account;
    let _ = write!(text, "{}  {}  {}", summary.run, summary.graph, state.name());
    if let Some(holder) = summary.holder.as_ref().filter(|_| summary.ended.is_none()) {
        let _ = write!(text, ", executed by {holder}");
    }
    let _ = write!(text, "\n{margin}  {} from {}", count(summary.records, "record"), moment(summary.started_at_ms));
    let _ = write!(text, " to {}", moment(summary.updated_at_ms));
    if *resumed > 0 {
        let _ = write!(text, ", resumed {}", times(*resumed));
    }
    if account.retried > 0 {
        let _ = write!(text, ", retried {}", times(account.retried));
    }
    if let Some(origin) = &summary.origin {
        let _ = write!(text, ", {}", origin_words(origin));
    }
    if total.calls > 0 {
        let _ = write!(text, "\n{margin}  {total}");
    }
    text.push('\n');
    if let Some(failure) = failure {
        block(text, margin, "  ", &failure_lines(failure));
    }
    if let Some(problem) = problem {
        block(text, margin, "  ", &format!("what is under way cannot be determined: {problem}"));
    }
    for letter in letters {
        block(text, margin, "  ", &format!("letter {}: {}, not received yet", letter.number, letter_words(letter)));
    }
    let last = executions.len() + children.len();
    let widest = executions.iter().map(|execution| name_of(execution).chars().count()).max().unwrap_or(0);
    for (nth, execution) in (1..).zip(executions) {
        let (branch, below) = if nth == last { ("└ ", "  ") } else { ("├ ", "│ ") };
        let _ = write!(text, "{margin}{branch}");
        execution_lines(execution, &format!("{margin}{below}"), widest, text);
    }
    for (nth, child) in (executions.len() + 1..).zip(children) {
        let (branch, below) = if nth == last { ("└ ", "  ") } else { ("├ ", "│ ") };
        let _ = write!(text, "{margin}{branch}");
        run_lines(child, &format!("{margin}{below}"), text);
    }
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn execution_lines(execution: &ExecutionAccount, margin: &str, widest: usize, text: &mut String) {
    let ExecutionAccount { state, record, to, took_ms, usage, question, failure, children, .. } = execution;
    let mut line = format!("{:widest$}  {:<9}", name_of(execution), state_words(*state));
    if !to.is_empty() {
        let _ = write!(line, "  → {}", to.join(" + "));
    }
    if let Some(took) = took_ms {
        let _ = write!(line, "  {}", seconds(Duration::from_millis(*took)));
    }
    if usage.calls > 0 {
        let _ = write!(line, "  {}", cost(usage));
    }
    if let Some(record) = record {
        let _ = write!(line, "  [{record}]");
    }
    let _ = writeln!(text, "{}", line.trim_end());
    for detail in details(execution) {
        block(text, margin, "  ", &detail);
    }
    if let Some(question) = question {
        question_lines(question, margin, text);
    }
    // The failure of the run itself is shown at the run's head.
    if let Some(failure) = failure.as_ref().filter(|_| record.is_some()) {
        block(text, margin, "  ", &failure_lines(failure));
    }
    for (nth, child) in (1..).zip(children) {
        let (branch, below) = if nth == children.len() { ("└ ", "  ") } else { ("├ ", "│ ") };
        let _ = write!(text, "{margin}{branch}");
        run_lines(child, &format!("{margin}{below}"), text);
    }
}

fn details(execution: &ExecutionAccount) -> Vec<String> {
    let ExecutionAccount { sessions, label, commits, spawned, posted, once, decided, .. } = execution;
    let mut details = Vec::new();
    details.extend(sessions.iter().map(|session| format!("session {} of {}", session.session, session.agent)));
    details.extend(label.as_ref().map(|label| format!("says {label}")));
    details.extend(commits.iter().map(|commit| format!("committed {} in {}", commit.id, commit.workspace)));
    details.extend(spawned.iter().map(|node| format!("started {node}")));
    details.extend(posted.iter().map(|sent| format!("wrote to {} of run {}", sent.node, sent.run)));
    details.extend(decided.as_ref().map(|decided| {
        let reached = if decided.reached { "has its quorum" } else { "can no longer have its quorum" };
        format!("{reached}: {} had ended", count(decided.ended as u64, "child run"))
    }));
    details.extend(once.iter().map(|name| format!("did once: {name}")));
    details
}

fn question_lines(question: &QuestionAccount, margin: &str, text: &mut String) {
    let QuestionAccount { question, answer, is_answered, .. } = question;
    block(text, margin, "  ", &format!("asks {question}"));
    match answer {
        Some(answer) => block(text, margin, "  ", &format!("was answered {}", quoted(&answer.to_string()))),
        None if *is_answered => block(text, margin, "  ", "was answered, which the run has not received yet"),
        None => {}
    }
}

/// Writes text that agents or tools may have written, indented and with control characters made harmless.
fn block(text: &mut String, margin: &str, indent: &str, lines: &str) {
    for line in sanitized(lines).lines() {
        let _ = writeln!(text, "{margin}{indent}{line}");
    }
}

fn name_of(execution: &ExecutionAccount) -> String {
    match execution.by.attempt {
        0 | 1 => format!("{}.{}", execution.by.node, execution.by.visit),
        _ => execution.by.to_string(),
    }
}

fn state_words(state: ExecutionState) -> &'static str {
    match state {
        ExecutionState::Done => "done",
        ExecutionState::Failed => "failed",
        ExecutionState::Running => "running",
        ExecutionState::Waiting => "waiting",
        ExecutionState::Interrupted => "interrupted",
        ExecutionState::Discarded => "discarded",
        _ => "unknown",
    }
}

fn letter_words(letter: &WaitingLetter) -> String {
    match &letter.body {
        LetterBody::Answer { to, .. } => format!("an answer to {to}"),
        LetterBody::Message { node, .. } => format!("a message for {node}"),
        LetterBody::Cancel => "a request to cancel the run".to_owned(),
        _ => "a letter of an unknown kind".to_owned(),
    }
}

fn cost(usage: &Usage) -> String {
    let at_least = if usage.unpriced_calls > 0 { "at least " } else { "" };
    format!("{at_least}{} in {}", usage.cost, count(u64::from(usage.calls), "call"))
}
