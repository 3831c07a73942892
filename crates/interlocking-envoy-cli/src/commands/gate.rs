//! `plan block-prompt-variants-gate`: records and carries out the decision about a variant.

use crate::error::CommandError;
use crate::exit::Exit;
use crate::io::{Io, on_one_line};
use clap::Args;
use interlocking_envoy::gate::{Answer, Decision, GateError, GateReturn, VariantsGate};
use interlocking_envoy::{Prompt, PromptKind, Variant};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  envoy plan block-prompt-variants-gate 3\n  envoy plan block-prompt-variants-gate 3 B"
)]
pub(crate) struct Arguments {
    /// The prompt's number
    #[arg(value_name = "PROMPT_NUM")]
    number: u32,

    /// The variant's letter; a prompt without variants is settled at once
    variant: Option<Variant>,

    /// The feature's branch [default: the one that the current worktree's branch is named for]
    #[arg(long, value_name = "BRANCH")]
    feature_branch: Option<String>,

    /// It is a debug prompt: an alternative is a discard, for only one fix can be main
    #[arg(long)]
    debug: bool,

    /// What becomes of it: main, alternative or discard; where this is not given, a line of standard input is waited for
    #[arg(long, requires = "variant")]
    decision: Option<Decision>,

    /// Why
    #[arg(long, default_value = "", requires = "variant")]
    reason: String,

    /// What else there is to say
    #[arg(long, default_value = "", requires = "variant")]
    thoughts: String,
}

pub(crate) fn gate(arguments: Arguments, json: bool, io: &mut Io) -> Result<Exit, CommandError> {
    let Arguments { number, variant, feature_branch, debug, decision, reason, thoughts } = arguments;
    let returned = match variant {
        None => GateReturn::without_variants(),
        Some(_) => {
            let gate = VariantsGate::discover(io.directory()).map_err(command_error)?;
            let feature_branch = match feature_branch {
                Some(feature_branch) => feature_branch,
                None => gate.feature_of(io.directory()).map_err(command_error)?.ok_or_else(|| {
                    let error = CommandError::new("it cannot be told which feature the variant belongs to");
                    error.remedy("run it in the variant's worktree, or give --feature-branch BRANCH")
                })?,
            };
            let kind = if debug { PromptKind::Debug } else { PromptKind::Implementation };
            let prompt = Prompt { feature_branch, number, variant, kind };
            let (decision, reason) = match decision {
                Some(decision) => (decision, reason),
                None => {
                    let (decision, typed) = ask_person(&prompt, io)?;
                    (decision, if typed.is_empty() { reason } else { typed })
                }
            };
            gate.record(&prompt, &Answer { decision, reason, thoughts }).map_err(command_error)?
        }
    };
    io.result(json, &returned, || page(&returned))?;
    Ok(Exit::Done)
}

/// Asks a person for the decision and the reason, on one line.
fn ask_person(prompt: &Prompt, io: &mut Io) -> Result<(Decision, String), CommandError> {
    io.tell(&format!("What becomes of {prompt}? main, alternative or discard, and why:"));
    loop {
        let line = io
            .line()
            .and_then(|line| line.ok_or_else(|| CommandError::new("no decision was made: standard input ended")));
        let line = line.map_err(|error| error.remedy("give --decision main, alternative or discard"))?;
        let (word, reason) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        match word.parse() {
            Ok(decision) => return Ok((decision, reason.trim().to_owned())),
            Err(error) => io.tell(&error.to_string()),
        }
    }
}

fn command_error(error: GateError) -> CommandError {
    let exit = match &error {
        GateError::Rule(_)
        | GateError::Detached { .. }
        | GateError::NoBranch { .. }
        | GateError::Name(_)
        | GateError::Open(_) => Exit::Refused,
        _ => Exit::Failed,
    };
    CommandError::from(error).with_exit(exit)
}

fn page(returned: &GateReturn) -> String {
    let GateReturn { thoughts, variant_solution, reason, unmerged_alternatives, result } = returned;
    let Some(decision) = variant_solution else {
        return "not a variant: go on and merge\n".to_owned();
    };
    let mut page = format!("variant_solution: {decision}\n");
    for (name, text) in [("reason", reason), ("thoughts", thoughts)] {
        if !text.is_empty() {
            page += &format!("{name}: {}\n", on_one_line(text));
        }
    }
    for branch in unmerged_alternatives {
        page += &format!("unmerged alternative: {branch}\n");
    }
    page += &match result {
        None => "go on and merge\n".to_owned(),
        Some(result) => {
            format!(
                "return {{ success: {}, merged: {}, reason: {:?} }}\n",
                result.success, result.merged, result.reason
            )
        }
    };
    page
}
