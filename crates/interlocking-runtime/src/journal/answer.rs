//! Answers of people to the questions of a run: each is checked against the question's schema, and sent once.

use crate::journal::payload::text_of;
use crate::journal::question::OpenQuestion;
use crate::journal::question::fits;
use crate::journal::standing::standing;
use crate::journal::{By, Entry, Journal, JournalError, Letter, LetterBody, Posted, Record, RecordedPayload, ending};
use interlocking_agents::{Schema, SchemaError, SchemaViolation};
use interlocking_core::run_id::RunId;
use serde_json::Value;
use thiserror::Error;

/// Why an answer was refused. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// There is no such run.
    #[error("there is no run `{run}` to answer: list the runs there are")]
    NoRun {
        /// The run.
        run: RunId,
    },
    /// The run has no question there.
    #[error("run `{run}` asks nothing at `{by}`; {}", asked_at(open))]
    NoQuestion {
        /// The run.
        run: RunId,
        /// The execution that the answer was for.
        by: By,
        /// The questions that are open.
        open: Vec<By>,
    },
    /// The run has gone on without an answer, or has ended.
    #[error("question `{by}` of run `{run}` takes no answer any more: {reason}; {}", asked_at(open))]
    Closed {
        /// The run.
        run: RunId,
        /// The question.
        by: By,
        /// What happened before the answer came.
        reason: String,
        /// The questions that are open.
        open: Vec<By>,
    },
    /// The question was answered before.
    #[error("question `{by}` of run `{run}` was answered before, and the first answer counts: resume the run")]
    Answered {
        /// The run.
        run: RunId,
        /// The question.
        by: By,
    },
    /// The answer does not have the type that the question asks for.
    #[error(
        "the answer to `{by}` of run `{run}` is not what was asked for:{}\nits schema: {schema}",
        violations.iter().map(|violation| format!("\n  {violation}")).collect::<String>()
    )]
    Unfit {
        /// The run.
        run: RunId,
        /// The question.
        by: By,
        /// Everything that is wrong with the answer.
        violations: Vec<SchemaViolation>,
        /// The schema of an answer.
        schema: Value,
    },
    /// The recorded question cannot be used.
    #[error("question `{by}` of run `{run}` cannot be answered: {reason}; its node must ask for another type")]
    Unusable {
        /// The run.
        run: RunId,
        /// The question.
        by: By,
        /// What is wrong with its schema.
        reason: SchemaError,
    },
    /// The journal refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The unanswered questions of a run, without its child runs, in the order in which they were asked. A question with an answer
/// that was posted and is not received yet counts as answered.
///
/// # Errors
///
/// [`JournalError`] where the run cannot be read.
pub async fn open_questions(journal: &dyn Journal, run: &RunId) -> Result<Vec<OpenQuestion>, JournalError> {
    let records = journal.load(run).await?;
    let standing = standing(&records);
    let mut open = Vec::new();
    let letters = journal.letters(run, 0).await?;
    for (by, question, schema) in asked(&records).filter(|(by, ..)| standing.open.contains(by)) {
        let question = question_of(journal, run, by, question, schema).await?;
        if !is_posted(&letters, by, &question.schema) {
            open.push(question);
        }
    }
    Ok(open)
}

/// Sends a person's answer to the question of execution `to` of `run`, and returns the letter's number. The run receives the
/// answer when it is resumed, or at once if it is being executed.
///
/// # Errors
///
/// [`AnswerError`] where that execution has no open question, was answered, or asked for another type.
pub async fn answer(journal: &dyn Journal, run: &RunId, to: &By, answer: &Value) -> Result<u64, AnswerError> {
    let records = journal.load(run).await?;
    if records.is_empty() {
        return Err(AnswerError::NoRun { run: run.clone() });
    }
    let standing = standing(&records);
    let open = || standing.open.iter().filter(|by| *by != to).cloned().collect::<Vec<_>>();
    let Some((by, question, schema)) = asked(&records).find(|(by, ..)| *by == to) else {
        return Err(AnswerError::NoQuestion { run: run.clone(), by: to.clone(), open: open() });
    };
    let was_answered = records.iter().any(|record| matches!(&record.entry, Entry::Answered { by, .. } if by == to));
    let schema = question_of(journal, run, by, question, schema).await?.schema;
    if was_answered || is_posted(&journal.letters(run, 0).await?, by, &schema) {
        return Err(AnswerError::Answered { run: run.clone(), by: to.clone() });
    }
    if !standing.open.contains(to) {
        let reason = match ending(&records) {
            Some(ending) => format!("the run is {ending}"),
            None => "the run has gone on without it".to_owned(),
        };
        return Err(AnswerError::Closed { run: run.clone(), by: to.clone(), reason, open: open() });
    }
    let compiled = Schema::new(schema.clone());
    let compiled = compiled.map_err(|reason| AnswerError::Unusable { run: run.clone(), by: to.clone(), reason })?;
    let violations = compiled.violations(answer);
    if !violations.is_empty() {
        return Err(AnswerError::Unfit { run: run.clone(), by: to.clone(), violations, schema });
    }
    let body = LetterBody::Answer { to: to.clone(), answer: answer.to_string().into() };
    match journal.post(run, Letter { key: Some(format!("answer to {to}")), body }).await {
        Ok(number) => Ok(number),
        Err(JournalError::AlreadyPosted { .. }) => Err(AnswerError::Answered { run: run.clone(), by: to.clone() }),
        Err(error) => Err(error.into()),
    }
}

/// The questions to people, in the order in which they were asked: the execution, the question, the answer's schema.
pub(crate) fn asked(records: &[Record]) -> impl Iterator<Item = (&By, &RecordedPayload, &RecordedPayload)> {
    records.iter().filter_map(|record| match &record.entry {
        Entry::Asked { by, question, schema, .. } => Some((by, question, schema)),
        _ => None,
    })
}

/// Whether these letters have an answer to `by` that the run accepts or has accepted. It drops answers that do not fit the
/// schema.
pub(crate) fn is_posted(letters: &[Posted], by: &By, schema: &Value) -> bool {
    let schema = schema.to_string();
    letters.iter().any(|posted| match &posted.letter.body {
        LetterBody::Answer { to, answer } => to == by && fits(&schema, answer).is_ok(),
        _ => false,
    })
}

/// The question, with its payloads decoded.
pub(crate) async fn question_of(
    journal: &dyn Journal,
    run: &RunId,
    by: &By,
    question: &RecordedPayload,
    schema: &RecordedPayload,
) -> Result<OpenQuestion, JournalError> {
    let question = value_of(journal, run, question, "question", by).await?;
    let schema = value_of(journal, run, schema, "schema", by).await?;
    Ok(OpenQuestion { run: run.clone(), by: by.clone(), question, schema })
}

/// A payload, decoded. `what` and `by` name it in errors.
pub(crate) async fn value_of(
    journal: &dyn Journal,
    run: &RunId,
    payload: &RecordedPayload,
    what: &str,
    by: &By,
) -> Result<Value, JournalError> {
    let what = format!("{what} `{by}` of run `{run}`");
    let text = text_of(journal, run, payload, &what).await?;
    serde_json::from_str(&text).map_err(|error| JournalError::Encoding { what, reason: error.to_string() })
}

fn asked_at(open: &[By]) -> String {
    match open {
        [] => "no question is open".to_owned(),
        open => {
            let named: Vec<String> = open.iter().map(|by| format!("`{by}`")).collect();
            format!("open are {}", named.join(", "))
        }
    }
}
