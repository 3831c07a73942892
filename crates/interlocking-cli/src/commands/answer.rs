//! `answer`: a person's answer to a question of a run, or of one of its child runs.

use crate::ancestor::topmost_ancestor;
use crate::arguments::{CommonArguments, Named};
use crate::console::{Console, Style};
use crate::entry::{announce_input, parse, text};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::text::sanitized;
use clap::Args;
use interlocking_core::run_id::RunId;
use interlocking_runtime::CancelToken;
use interlocking_runtime::journal::By;
use interlocking_runtime::journal::account::{RunAccount, account};
use interlocking_runtime::journal::answer;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The run: the one that was started, or the child run that asks
    #[arg(value_name = "RUN")]
    run: RunId,

    /// The answer as JSON, such as `true` or `"yes"`; `-`, or nothing, for standard input
    #[arg(value_name = "JSON", group = "given", allow_hyphen_values = true)]
    answer: Option<String>,

    /// The answer from a file
    #[arg(long, value_name = "FILE", group = "given")]
    file: Option<PathBuf>,

    /// Which question, where several are open: the node that asks, `NODE.VISIT` if need be
    #[arg(long, value_name = "NODE")]
    question: Option<Named>,

    #[command(flatten)]
    common: CommonArguments,
}

pub(crate) async fn answer(
    arguments: Arguments,
    name: &str,
    console: &Console,
    cancel: &CancelToken,
) -> Result<Exit, CommandError> {
    let Arguments { run, answer, file, question, common } = arguments;
    let journal = common.journal.open()?;
    let account = account(&journal, &run).await.map_err(CommandError::of_journal)?;
    let (asker, to) = choose(&account, question.as_ref())?;
    if answer.is_none() && file.is_none() && !common.json {
        announce_input(
            console,
            &format!("the answer to {to} of {asker} is read from standard input (or give it as JSON)"),
        );
    }
    // An answer that is being stored is stored: it could not be taken back.
    let given = tokio::select! {
        biased;
        given = text(answer.as_deref(), file.as_deref(), "the answer", console) => given?,
        () = cancel.cancelled() => return Err(CommandError::interrupted()),
    };
    let Some((text, place)) = given else {
        return Err(no_answer_given(&account, &asker, &to));
    };
    let parsed: Value = parse(&text, &place)
        .map_err(|error| error.remedy(format!("write JSON: a text is in quotation marks, {}", json!(text.trim()))))?;
    let number = answer::answer(&journal, &asker, &to, &parsed).await.map_err(CommandError::of_answer)?;
    let told = json!({ "run": asker, "question": to.to_string(), "letter": number });
    common.print(console, &told, String::new)?;
    if !common.json {
        let started = topmost_ancestor(&journal, account.summary.origin.as_ref()).await;
        let run = started.map_err(CommandError::of_journal)?.map_or(run, |started| started.run);
        let resume = format!("{name} resume {run}{}", common.journal.words());
        let line = format!("answered {to} of {asker}; `{resume}` takes the run up, if no process is executing it");
        console.line(Style::Good, &line);
    }
    Ok(Exit::Done)
}

/// The question to answer: the only open question that `named` allows, or the last such question if none is open.
fn choose(account: &RunAccount, named: Option<&Named>) -> Result<(RunId, By), CommandError> {
    let mut asked: Vec<(RunId, By, bool)> = Vec::new();
    account.each(&mut |run| {
        let questions = run.executions.iter().filter_map(|known| Some((&known.by, known.question.as_ref()?)));
        asked.extend(questions.map(|(by, question)| (run.summary.run.clone(), by.clone(), question.is_open)));
    });
    asked.retain(|(_, by, _)| named.is_none_or(|named| named.names(by)));
    let run = &account.summary.run;
    let mut open = asked.iter().filter(|(_, _, is_open)| *is_open);
    match (open.next(), open.next()) {
        (Some((run, by, _)), None) => Ok((run.clone(), by.clone())),
        (Some(_), Some(_)) => {
            let list = asked.iter().filter(|(_, _, is_open)| *is_open);
            let list: Vec<String> = list.map(|(run, by, _)| format!("{by} of {run}")).collect();
            let error = CommandError::new(format!("run `{run}` asks more than one question: {}", list.join(", ")));
            Err(error.remedy("say which with --question NODE.VISIT, and name the child run that asks"))
        }
        // `answer::answer` reports that the question is closed or answered.
        (None, _) => match asked.pop() {
            Some((run, by, _)) => Ok((run, by)),
            None => Err(match named {
                Some(Named { node, .. }) => CommandError::new(format!("run `{run}` has asked nothing at `{node}`")),
                None => CommandError::new(format!("run `{run}` has asked nothing")),
            }),
        },
    }
}

/// The error if no answer was given: it shows the question.
fn no_answer_given(account: &RunAccount, asker: &RunId, to: &By) -> CommandError {
    let mut shown = String::new();
    account.each(&mut |run| {
        let executions = run.executions.iter().filter(|known| run.summary.run == *asker && known.by == *to);
        let asked = executions.filter_map(|known| known.question.as_ref());
        asked.for_each(|question| shown = format!("{}\nits answer: {}", question.question, question.schema));
    });
    CommandError::new(format!("no answer was given to {to}, which asks {}", sanitized(&shown)))
        .remedy("give the answer as JSON, or with --file FILE, or on standard input")
}
