//! Parses TOML to a [`Script`], with errors that name file, line and field.

use std::fmt;
use std::path::Path;

use interlocking_document::{Document, Field, Fields, Limits, Position, Problems, Source};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use thiserror::Error;

use super::duration::Delay;
use super::script::{Action, ActionKind, ExpectedExit, Failure, Script, ScriptTurn, Times, Tokens};
use crate::agent::usage::Cost;
use crate::conversation::decision::Decision;

/// Why a script cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The script's file.
        file: String,
        /// The error message of the operating system.
        reason: String,
    },
    /// The file is not TOML, or not a script.
    #[error("{problems}")]
    Bad {
        /// All problems that were found.
        problems: Problems,
    },
}

impl Script {
    /// Reads a script from a file.
    ///
    /// # Errors
    ///
    /// [`ScriptError`], with all problems.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match Limits::DEFAULT.read(path) {
            Ok(text) => Self::parse(file, &text),
            Err(error) => Err(ScriptError::Unreadable { file, reason: error.to_string() }),
        }
    }

    /// Parses a script; `name` stands for it in messages.
    ///
    /// # Errors
    ///
    /// [`ScriptError::Bad`], with all problems.
    pub fn parse(name: impl Into<String>, text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, ScriptError> {
        let name = name.into();
        let document = Document::toml(Source::new(&name, text));
        match document.and_then(|document| document.read(|root, problems| turns(&root, problems))) {
            Ok(turns) => Ok(Self { name, turns }),
            Err(problems) => Err(ScriptError::Bad { problems }),
        }
    }
}

#[derive(Default)]
struct Dollars(Cost);

fn turns(root: &Field<'_>, problems: &mut Problems) -> Option<Vec<ScriptTurn>> {
    let mut fields = root.fields(problems)?;
    let turns = match fields.take("turn") {
        Some(turns) => turns.items(problems)?.map(|field| turn(&field, problems)).collect(),
        None => Vec::new(),
    };
    fields.finish(problems);
    turns.into_iter().collect()
}

fn turn(field: &Field<'_>, problems: &mut Problems) -> Option<ScriptTurn> {
    let mut fields = field.fields(problems)?;
    let agent = fields.optional("agent", None, problems);
    let contains = fields.optional("contains", Vec::new(), problems);
    let session = fields.optional("session", None, problems);
    let times = fields.optional("times", Times::default(), problems);
    let delay = fields.optional::<Option<Delay>>("delay", None, problems);
    let mut actions = Vec::new();
    add_actions(&mut fields, "write", ActionKind::Write, &mut actions, problems);
    add_actions(&mut fields, "append", ActionKind::Append, &mut actions, problems);
    add_actions(&mut fields, "replace", ActionKind::Replace, &mut actions, problems);
    add_actions(&mut fields, "remove", ActionKind::Remove, &mut actions, problems);
    add_actions(&mut fields, "run", ActionKind::Run, &mut actions, problems);
    add_actions(&mut fields, "commit", ActionKind::Commit, &mut actions, problems);
    // TOML groups the actions by kind; their positions in the text give the order in which they were written.
    actions.sort_by_key(|(position, _)| *position);
    let output = fields.take("output");
    let output_json = fields.take("output_json");
    let decide = fields.take("decide");
    let text = fields.optional("text", None, problems);
    let cost = fields.optional("cost", Dollars::default(), problems);
    let tokens = fields.optional("tokens", Tokens::default(), problems);
    let fail = fields.take("fail");
    let retry_after = fields.take("retry_after");
    fields.finish(problems);

    let failure = fail.as_ref().map(|fail| fail.read::<Failure>(problems));
    let pause = retry_after.as_ref().map(|retry_after| retry_after.read::<Delay>(problems));
    if let (Some(_), Some(second)) = (&output, &output_json) {
        second.refuse("give `output` or `output_json`, not both", problems);
    }
    let gives_output = output.is_some() || output_json.is_some();
    if let (true, Some(decide)) = (gives_output, &decide) {
        decide.refuse("give an output or decide, not both", problems);
    }
    if let Some(fail) = &fail
        && (gives_output || decide.is_some())
    {
        let message =
            if gives_output { "a turn that fails gives no output" } else { "a turn that fails decides nothing" };
        fail.refuse(message, problems);
    }
    if let Some(retry_after) = &retry_after
        && !matches!(failure, Some(Some(Failure::RateLimited) | None))
    {
        retry_after.refuse("only `fail = \"rate_limited\"` says when to try again", problems);
    }
    let output = match (output, output_json) {
        (Some(output), _) => output.json(problems),
        (None, Some(json)) => parsed(&json, problems),
        (None, None) => None,
    };
    let decisions = decide.and_then(|decide| Some(decide.items(problems)?.collect::<Vec<_>>()));
    let decisions = decisions.iter().flatten().filter_map(|decide| decision(decide, problems)).collect();
    Some(ScriptTurn {
        line: field.position().line,
        agent: agent?,
        contains: contains?,
        session: session?,
        times: times?,
        delay: delay?.map(|delay| delay.0),
        actions: actions.into_iter().map(|(_, action)| action).collect(),
        output,
        decisions,
        text: text?,
        cost: cost?.0,
        tokens: tokens?,
        fail: failure.flatten(),
        retry_after: pause.flatten().map(|delay| delay.0),
    })
}

/// Adds the actions of one kind, each with its position.
fn add_actions<T: DeserializeOwned>(
    fields: &mut Fields<'_>,
    name: &'static str,
    kind: impl Fn(T) -> ActionKind,
    actions: &mut Vec<(Position, Action)>,
    problems: &mut Problems,
) {
    for item in fields.take(name).and_then(|actions| actions.items(problems)).into_iter().flatten() {
        let position = item.position();
        let read = item.read(problems);
        actions.extend(read.map(|action| (position, Action { line: position.line, kind: kind(action) })));
    }
}

/// The value of an `output_json`.
fn parsed(json: &Field<'_>, problems: &mut Problems) -> Option<Value> {
    let value = serde_json::from_str(&json.text(problems)?.content);
    value.map_err(|error| json.refuse(format!("not JSON: {error}"), problems)).ok()
}

fn decision(decide: &Field<'_>, problems: &mut Problems) -> Option<Decision> {
    let mut fields = decide.fields(problems)?;
    let tool = fields.required("tool", problems);
    let input = match fields.take("input") {
        Some(input) => input.json(problems),
        None => Some(Value::Object(Map::new())),
    };
    fields.finish(problems);
    Some(Decision { tool: tool?, input: input? })
}

impl Default for Times {
    fn default() -> Self {
        Self::AtMost(1)
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bound = deserializer.deserialize_any(NumberOrAny { what: "a number from 1, or \"any\"", least: 1 })?;
        Ok(bound.map_or(Self::Any, |number| Self::AtMost(number.unsigned_abs())))
    }
}

impl<'de> Deserialize<'de> for ExpectedExit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = deserializer.deserialize_any(NumberOrAny { what: "an exit code, or \"any\"", least: 0 })?;
        Ok(code.map_or(Self::Any, Self::Code))
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Cost::from_dollars(dollars).map(Self).map_err(de::Error::custom)
    }
}

struct NumberOrAny {
    what: &'static str,
    least: i32,
}

impl de::Visitor<'_> for NumberOrAny {
    type Value = Option<i32>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.what)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Option<i32>, E> {
        match i32::try_from(number) {
            Ok(small) if small >= self.least => Ok(Some(small)),
            _ => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<i32>, E> {
        if text == "any" { Ok(None) } else { Err(E::invalid_value(de::Unexpected::Str(text), &self)) }
    }
}
