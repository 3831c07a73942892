//! The end of a call: a reply, or an error with the session and the usage.

use super::outcome::{self, Verdict};
use super::progress::Progress;
use super::schema::{Answered, Asked};
use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::turn::{Reply, Turn};
use crate::agent::usage::Usage;
use crate::program::Call;
use crate::sessions::session::SessionOp;

/// Converts the outcome of a call to a reply or an error.
pub(super) fn conclude(
    mut progress: Progress<'_>,
    call: Call,
    asked: Option<&Asked>,
    turn: &Turn,
) -> Result<Reply, AgentError> {
    let usage = progress.results.usage();
    if let Some(refused) = progress.refused.take() {
        return Err(AgentError { usage, ..refused });
    }
    let session = progress.session();
    let failed =
        |kind: AgentErrorKind, usage: Usage| AgentError { kind: Box::new(kind), session: session.clone(), usage };
    let Some(result) = progress.results.own() else {
        return Err(match call.stop_reason {
            Some(kind) => failed(kind, usage),
            None => match outcome::without_result(progress.anything, &call.ended, progress.lines.left_out()) {
                // The program did not start.
                kind @ AgentErrorKind::Configuration { .. } => AgentError::new(kind),
                kind => failed(kind, usage),
            },
        });
    };
    let asked_for = match &turn.session {
        SessionOp::ForkFrom { parent, .. } => parent,
        SessionOp::ContinueFrom(session) => session,
        SessionOp::StartFresh(_) => progress.named(),
    };
    let given = match (outcome::interpret(result, &progress.hints, &call.ended, asked_for), call.stop_reason) {
        (Verdict::Answer, _) => result.structured_output.clone(),
        (Verdict::Exhausted, None) => progress.attempted.clone(),
        // The call was stopped, and the result reports that.
        (_, Some(kind)) => return Err(failed(kind, usage)),
        (Verdict::Failure(kind @ AgentErrorKind::Session(_)), None) => {
            return Err(AgentError { usage, ..AgentError::new(kind) });
        }
        (Verdict::Failure(kind), None) => return Err(failed(kind, usage)),
    };
    // If there is an output, the program's text repeats that output.
    let text = if given.is_some() { progress.text.clone() } else { result.result.clone().or(progress.text.clone()) };
    let reply = Reply { text: text.filter(|text| !text.is_empty()), ..Reply::new(progress.named().clone(), usage) };
    Ok(match given.map(|output| asked.map_or(Answered::Output(output.clone()), |asked| asked.answer(output))) {
        None => reply,
        Some(Answered::Output(output)) => Reply { output: Some(output), ..reply },
        Some(Answered::Decisions(decisions)) => Reply { decisions, ..reply },
    })
}
