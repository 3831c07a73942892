//! Executes a run, new or resumed, and prints its outcome.

use crate::ancestor::topmost_ancestor;
use crate::arguments::ExecuteArguments;
use crate::console::{Console, Style};
use crate::ending::Ending;
use crate::error::{CommandError, failure_lines};
use crate::event_file::EventFile;
use crate::exit::Exit;
use crate::prepared::Prepared;
use crate::progress::{Watch, watch};
use crate::start::Start;
use crate::text::{count, sanitized, seconds};
use interlocking_core::graph::{Graph, Stored};
use interlocking_core::run_id::RunId;
use interlocking_runtime::human::OpenQuestion;
use interlocking_runtime::journal::{Entry, ending};
use interlocking_runtime::{CancelToken, Outcome, Report, Run, StartError, event};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// The program and the options with which a run is executed.
pub(crate) struct Invocation {
    pub(crate) name: &'static str,
    /// Whether the program's options bind roles to agents; error messages then suggest those options.
    pub(crate) binds_roles: bool,
    pub(crate) arguments: ExecuteArguments,
}

impl Invocation {
    /// Opens the journal for a run. `retries` is `None` for a new run, and says of a resumed run whether it is retried.
    pub(crate) fn start(
        &self,
        run: RunId,
        retries: Option<bool>,
        console: &Console,
        cancel: &CancelToken,
    ) -> Result<Start, CommandError> {
        let ExecuteArguments { common, durability, .. } = &self.arguments;
        let (journal, directory) = common.journal.open_or_make(*durability)?;
        let (cancel, console, journal) = (cancel.clone(), console.clone(), Arc::new(journal));
        let accepts_weaker_isolation = self.arguments.accept_weaker_isolation;
        let (is_resumed, is_retried) = (retries.is_some(), retries == Some(true));
        Ok(Start {
            program: self.name,
            run,
            is_resumed,
            is_retried,
            cancel,
            journal,
            directory,
            accepts_weaker_isolation,
            console,
            json: common.json,
        })
    }

    /// Opens the journal for a run that is resumed or retried. Refuses a run that is not in the journal, a child run, and to retry
    /// a run that has not failed.
    pub(crate) async fn resume_of(
        &self,
        run: RunId,
        retry: bool,
        console: &Console,
        cancel: &CancelToken,
    ) -> Result<Start, CommandError> {
        self.arguments.common.journal.require_exists()?;
        let start = self.start(run, Some(retry), console, cancel)?;
        let records = start.journal.load(&start.run).await.map_err(CommandError::of_journal)?;
        if records.is_empty() {
            let error = CommandError::new(format!("there is no run `{}` to resume", start.run));
            let error = error.at(start.directory.display().to_string());
            return Err(error.remedy(format!("`{} list` shows the runs there are", self.name)));
        }
        let origin = records.first().and_then(|first| match &first.entry {
            Entry::Started { origin, .. } => origin.as_ref(),
            _ => None,
        });
        let started = topmost_ancestor(&*start.journal, origin).await.map_err(CommandError::of_journal)?;
        if let Some(started) = started {
            let error =
                CommandError::new(format!("run `{}` is a child run: it goes on with `{}`", start.run, started.run));
            let again = if retry { " --retry" } else { "" };
            return Err(error.remedy(format!("`{}{again}` resumes both", self.resume(&started.run))));
        }
        if retry && ending(&records) != Some("failed") {
            // Refused here, before the program prepares anything.
            return Err(CommandError::of_start(StartError::NotFailed { run: start.run, ended: ending(&records) }));
        }
        Ok(start)
    }

    /// The command that resumes the run.
    fn resume(&self, run: &RunId) -> String {
        format!("{} resume {run}{}", self.name, self.arguments.common.journal.words())
    }
}

/// Executes a run: from its start with an entry value; without one from where its journal ends, or from where it failed. An error
/// after the execution never has [`Exit::Usage`], which means that nothing was done.
pub(crate) async fn execute<G: Graph>(
    invocation: &Invocation,
    start: Start,
    prepared: Prepared<G>,
    entry: Option<G::Entry>,
) -> Result<Exit, CommandError> {
    let console = start.console.clone();
    let Prepared { run, finish } = prepared;
    let (report, has_all_events) = match report(invocation, start, run, entry).await {
        Ok(reported) => reported,
        Err(error) => {
            if let Err(also) = finish(None).await {
                also.tell(&console, invocation.arguments.common.json);
            }
            return Err(error);
        }
    };
    let concluded = async {
        let output = ReportJson::of(&report).map(|json| (json.line(invocation, &report), json));
        let ending = finish(Some(report)).await?;
        let (line, json) = output?;
        match ending {
            Some(mut ending) => {
                // Any other code says what the run needs next.
                if !has_all_events && ending.exit == Exit::Done {
                    ending.exit = Exit::Output;
                }
                json.print(invocation, &console, ending, line)
            }
            None => Ok(Exit::Failed),
        }
    };
    concluded.await.map_err(|error| match error.exit() {
        Exit::Usage => error.with_exit(Exit::Failed),
        _ => error,
    })
}

/// Executes a run and returns its report, or an error if the run does not start.
async fn report<G: Graph>(
    invocation: &Invocation,
    start: Start,
    run: Run<G>,
    entry: Option<G::Entry>,
) -> Result<(Report<G::Output>, bool), CommandError> {
    let ExecuteArguments { common, budgets, stay, accept_weaker_isolation, quiet, events, .. } = &invocation.arguments;
    let console = start.console;
    let watching = Watch {
        run: start.run.clone(),
        quiet: *quiet || common.json,
        waiting: format!(
            "waits for a person: `{} answer {} JSON{}` answers",
            invocation.name,
            start.run,
            common.journal.words()
        ),
    };
    let (sink, stream) = event::channel();
    let mut run = run.with_id(start.run.clone()).with_journal(start.journal);
    run = run.with_cancel(start.cancel).with_events(sink);
    if *stay {
        run = run.with_wait_for_people();
    }
    if *accept_weaker_isolation {
        run = run.with_weaker_isolation();
    }
    if let Some(budgets) = budgets.read()? {
        run = run.with_budgets(budgets);
    }
    // Opened before the run starts, so that a file that cannot be written is reported at once.
    let record = events.as_ref().map(|path| {
        let opened = EventFile::open(path, start.is_resumed);
        opened.map_err(|error| CommandError::from(error).at(path.display().to_string()))
    });
    let mut record = record.transpose()?;
    if !common.json && !quiet {
        let what = if entry.is_some() { "runs" } else { "goes on" };
        console.line(Style::Bold, &format!("{} {what} in {}", start.run, start.directory.display()));
    }
    let is_retried = start.is_retried;
    let running = async {
        match entry {
            Some(entry) => run.start(entry).await,
            None if is_retried => run.retry().await,
            None => run.resume().await,
        }
    };
    let (report, recorded) = tokio::join!(running, watch(&console, stream, watching, record.as_mut()));
    let has_all_events = recorded.is_ok();
    if let (Some(path), Err(error)) = (events, recorded) {
        let error = CommandError::new(format!("{error}; not every event was written"));
        error.at(path.display().to_string()).with_exit(Exit::Output).tell(&console, common.json);
    }
    let report =
        report.map_err(if invocation.binds_roles { CommandError::of_roles } else { CommandError::of_start })?;
    Ok((report, has_all_events))
}

/// A report as the JSON object that `run --json` and `resume --json` print; the program's `result` and `exit` are added to it.
struct ReportJson(Map<String, Value>);

impl ReportJson {
    fn of<O: interlocking_core::graph::Value>(report: &Report<O>) -> Result<Self, CommandError> {
        let Report { run, outcome, ledger, visits, took, .. } = report;
        let mut fields = Map::new();
        fields.insert("run".to_owned(), json!(run));
        // The key `outcome`, and `value` if the outcome has one.
        if let Value::Object(outcome) = serde_json::to_value(outcome.as_ref().map(Stored))? {
            fields.extend(outcome);
        }
        let visits: Map<String, Value> =
            visits.iter().map(|(node, visits)| ((*node).to_owned(), json!(visits))).collect();
        fields.insert("usage".to_owned(), serde_json::to_value(ledger.total())?);
        fields.insert("visits".to_owned(), Value::Object(visits));
        fields.insert("took_ms".to_owned(), json!(took.as_millis()));
        Ok(Self(fields))
    }

    /// The outcome as a line for people, with what to do next.
    fn line<O>(&self, invocation: &Invocation, report: &Report<O>) -> (Style, String) {
        let run = &report.run;
        let resume = invocation.resume(run);
        let used = format!("{} in {}", report.usage().cost, seconds(report.took.as_duration()));
        match &report.outcome {
            Outcome::Finished(_) => (Style::Good, format!("{run} finished, {used}")),
            Outcome::Failed(failure) => {
                let failure = sanitized(&failure_lines(failure));
                let journal = invocation.arguments.common.journal.words();
                let name = invocation.name;
                let again = format!(
                    "`{name} resume {run} --retry{journal}` tries again what failed, with the options it had; \
                     `{name} fork {run}{journal}` makes a run that does"
                );
                (Style::Bad, format!("{run} failed, {used}: {failure}\n{again}"))
            }
            Outcome::Cancelled => (Style::Bold, format!("{run} was cancelled, {used}")),
            Outcome::Suspended => {
                (Style::Bold, format!("{run} is suspended, {used}: `{resume}` takes it up, with the options it had"))
            }
            Outcome::Waiting { questions } => (Style::Bold, waiting(invocation, run, questions, &resume)),
            Outcome::BudgetExhausted(used_up) => {
                (Style::Bold, format!("{run} stopped, {used}: {used_up}\n`{resume}` takes it up, with a larger budget"))
            }
            Outcome::JournalFailed(error) => (
                Style::Bad,
                format!(
                    "{run} stopped where it stood, {used}: {}\n`{resume}` takes it up, once the journal can be used again; what was not \
                     recorded is done again",
                    sanitized(&error.to_string())
                ),
            ),
            Outcome::ProviderLimited(limit) => (
                Style::Bold,
                format!("{run} stopped, {used}: {limit}\n`{resume}` takes it up, once the provider works again"),
            ),
            other => (Style::Bold, format!("{run} is {}, {used}: `{resume}` takes it up", other.name())),
        }
    }

    /// Prints the program's ending.
    fn print(
        mut self,
        invocation: &Invocation,
        console: &Console,
        ending: Ending,
        (style, line): (Style, String),
    ) -> Result<Exit, CommandError> {
        let Ending { exit, result, summary } = ending;
        if invocation.arguments.common.json {
            // `result` stands beside `value`, the output of a finished run: the program may put more into its result.
            let result = result.map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?;
            self.0.insert("result".to_owned(), result);
            self.0.insert("exit".to_owned(), json!(exit.code()));
            console.print(&format!("{}\n", serde_json::to_string_pretty(&self.0)?))?;
            return Ok(exit);
        }
        if let Some(result) = result {
            console.result(&result)?;
        }
        match summary {
            Some(summary) if summary.is_empty() => {}
            Some(summary) => console.line(Style::Plain, &summary),
            None => console.line(style, &line),
        }
        Ok(exit)
    }
}

/// The open questions of a run, and the commands that answer them.
fn waiting(invocation: &Invocation, run: &RunId, questions: &[OpenQuestion], resume: &str) -> String {
    let mut text = format!("{run} waits for an answer to {}:", count(questions.len() as u64, "question"));
    for OpenQuestion { run, by, question, .. } in questions {
        let _ = write!(text, "\n  {by} of {run}: {}", sanitized(&question.to_string()));
    }
    let (name, journal) = (invocation.name, invocation.arguments.common.journal.words());
    for OpenQuestion { run: asker, by, .. } in questions {
        let command = match questions.len() {
            1 => format!("{name} answer {run} JSON{journal}"),
            _ => format!("{name} answer {asker} JSON --question {by}{journal}"),
        };
        let _ = write!(text, "\n`{command}` answers");
    }
    let _ = write!(text, ", then `{resume}` takes it up");
    text
}
