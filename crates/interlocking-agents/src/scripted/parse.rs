//! From TOML to a [`Script`], with errors that name file, line and field.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use thiserror::Error;
use toml::Spanned;

use super::duration::Delay;
use super::script::{
    Action, Append, Deed, ExpectedExit, Failure, Remove, Replace, Run, Script, ScriptTurn, Times, Tokens, Write,
};
use crate::agent::usage::Cost;
use crate::conversation::decision::Decision;
use crate::sessions::session::SessionOpKind;

/// Why a script cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The script's file.
        file: String,
        /// The system's words.
        reason: String,
    },
    /// It is not TOML, or not a script.
    #[error("{}", listed(problems))]
    Bad {
        /// Everything that was found wrong; at least one.
        problems: Vec<ScriptProblem>,
    },
}

/// One thing that is wrong with a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptProblem {
    /// The script's file or name.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// Such as `turn.write.path`; none when the text is not TOML at all.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl Script {
    /// Reads a script from a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(file, &text),
            Err(error) => Err(ScriptError::Unreadable { file, reason: error.to_string() }),
        }
    }

    /// Parses a script; the name stands for it in messages.
    pub fn parse(name: impl Into<String>, text: &str) -> Result<Self, ScriptError> {
        let source = Source { name: name.into(), text };
        let deserializer =
            toml::Deserializer::parse(text).map_err(|error| source.bad(error.span(), None, error.message()))?;
        let raw: RawScript = serde_path_to_error::deserialize(deserializer).map_err(|error| {
            let field = field_name(error.path());
            source.bad(error.inner().span(), field, error.inner().message())
        })?;
        let mut problems = Vec::new();
        let turns = raw.turn.into_iter().map(|turn| source.turn(turn, &mut problems)).collect();
        if problems.is_empty() { Ok(Self { name: source.name, turns }) } else { Err(ScriptError::Bad { problems }) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default)]
    turn: Vec<Spanned<RawTurn>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTurn {
    agent: Option<String>,
    #[serde(default)]
    contains: Vec<String>,
    session: Option<SessionOpKind>,
    #[serde(default)]
    times: Times,
    delay: Option<Delay>,
    #[serde(default)]
    write: Vec<Spanned<Write>>,
    #[serde(default)]
    append: Vec<Spanned<Append>>,
    #[serde(default)]
    replace: Vec<Spanned<Replace>>,
    #[serde(default)]
    remove: Vec<Spanned<Remove>>,
    #[serde(default)]
    run: Vec<Spanned<Run>>,
    output: Option<Spanned<toml::Value>>,
    output_json: Option<Spanned<String>>,
    #[serde(default)]
    decide: Vec<Spanned<Decide>>,
    text: Option<String>,
    #[serde(default)]
    cost: Dollars,
    #[serde(default)]
    tokens: Tokens,
    fail: Option<Spanned<Failure>>,
    retry_after: Option<Spanned<Delay>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decide {
    tool: String,
    input: Option<Spanned<toml::Value>>,
}

#[derive(Default)]
struct Dollars(Cost);

/// The text of a script, for turning byte offsets into lines.
struct Source<'t> {
    name: String,
    text: &'t str,
}

impl Source<'_> {
    fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
    }

    fn problem(&self, span: Option<Range<usize>>, field: Option<String>, message: &str) -> ScriptProblem {
        let line = span.map_or(1, |span| self.line(span.start));
        ScriptProblem { file: self.name.clone(), line, field, message: message.to_owned() }
    }

    fn bad(&self, span: Option<Range<usize>>, field: Option<String>, message: &str) -> ScriptError {
        ScriptError::Bad { problems: vec![self.problem(span, field, message)] }
    }

    fn turn(&self, spanned: Spanned<RawTurn>, problems: &mut Vec<ScriptProblem>) -> ScriptTurn {
        let line = self.line(spanned.span().start);
        let raw = spanned.into_inner();
        if let (Some(_), Some(second)) = (&raw.output, &raw.output_json) {
            let message = "give `output` or `output_json`, not both";
            problems.push(self.problem(Some(second.span()), Some("turn.output_json".to_owned()), message));
        }
        let gives_output = raw.output.is_some() || raw.output_json.is_some();
        if let (true, Some(decide)) = (gives_output, raw.decide.first()) {
            let message = "give an output or decide, not both";
            problems.push(self.problem(Some(decide.span()), Some("turn.decide".to_owned()), message));
        }
        if let Some(fail) = &raw.fail
            && (gives_output || !raw.decide.is_empty())
        {
            let message =
                if gives_output { "a turn that fails gives no output" } else { "a turn that fails decides nothing" };
            problems.push(self.problem(Some(fail.span()), Some("turn.fail".to_owned()), message));
        }
        if let Some(retry_after) = &raw.retry_after
            && raw.fail.as_ref().map(Spanned::get_ref) != Some(&Failure::RateLimited)
        {
            let message = "only `fail = \"rate_limited\"` says when to try again";
            problems.push(self.problem(Some(retry_after.span()), Some("turn.retry_after".to_owned()), message));
        }
        ScriptTurn {
            line,
            output: self.output(raw.output, raw.output_json, problems),
            decisions: raw.decide.into_iter().map(|decide| self.decision(decide.into_inner(), problems)).collect(),
            // TOML groups the actions by kind; their places in the text tell the order they were written in.
            actions: self.in_order([
                spans(raw.write, Deed::Write),
                spans(raw.append, Deed::Append),
                spans(raw.replace, Deed::Replace),
                spans(raw.remove, Deed::Remove),
                spans(raw.run, Deed::Run),
            ]),
            agent: raw.agent,
            contains: raw.contains,
            session: raw.session,
            times: raw.times,
            delay: raw.delay.map(|delay| delay.0),
            text: raw.text,
            cost: raw.cost.0,
            tokens: raw.tokens,
            fail: raw.fail.map(Spanned::into_inner),
            retry_after: raw.retry_after.map(|retry_after| retry_after.into_inner().0),
        }
    }

    fn in_order(&self, kinds: [Vec<(usize, Deed)>; 5]) -> Vec<Action> {
        let mut placed: Vec<_> = kinds.into_iter().flatten().collect();
        placed.sort_by_key(|(offset, _)| *offset);
        placed.into_iter().map(|(offset, deed)| Action { line: self.line(offset), deed }).collect()
    }

    fn output(
        &self,
        toml: Option<Spanned<toml::Value>>,
        json: Option<Spanned<String>>,
        problems: &mut Vec<ScriptProblem>,
    ) -> Option<Value> {
        if let Some(toml) = toml {
            return self.json(toml, "turn.output", problems);
        }
        let json = json?;
        match serde_json::from_str(json.get_ref()) {
            Ok(value) => Some(value),
            Err(error) => {
                let message = format!("not JSON: {error}");
                problems.push(self.problem(Some(json.span()), Some("turn.output_json".to_owned()), &message));
                None
            }
        }
    }

    fn decision(&self, decide: Decide, problems: &mut Vec<ScriptProblem>) -> Decision {
        let input = decide.input.and_then(|input| self.json(input, "turn.decide.input", problems));
        Decision { tool: decide.tool, input: input.unwrap_or_else(|| Value::Object(Map::new())) }
    }

    fn json(&self, toml: Spanned<toml::Value>, field: &str, problems: &mut Vec<ScriptProblem>) -> Option<Value> {
        let span = toml.span();
        match json_of(toml.into_inner()) {
            Ok(value) => Some(value),
            Err(message) => {
                problems.push(self.problem(Some(span), Some(field.to_owned()), &message));
                None
            }
        }
    }
}

fn spans<T>(items: Vec<Spanned<T>>, deed: impl Fn(T) -> Deed) -> Vec<(usize, Deed)> {
    items.into_iter().map(|item| (item.span().start, deed(item.into_inner()))).collect()
}

/// TOML's dates become strings; what JSON cannot say is an error.
fn json_of(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map(Value::Number)
            .ok_or_else(|| format!("{number} is not a number in JSON"))?,
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(moment) => Value::String(moment.to_string()),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(json_of).collect::<Result<_, _>>()?),
        toml::Value::Table(entries) => Value::Object(
            entries.into_iter().map(|(key, value)| Ok((key, json_of(value)?))).collect::<Result<_, String>>()?,
        ),
    })
}

/// `turn.write.path`: the keys on the way. The line says which turn and which write.
fn field_name(path: &serde_path_to_error::Path) -> Option<String> {
    let keys: Vec<&str> = path
        .iter()
        .filter_map(|segment| match segment {
            serde_path_to_error::Segment::Map { key } if !key.starts_with("$__serde_spanned") => Some(key.as_str()),
            _ => None,
        })
        .collect();
    if keys.is_empty() { None } else { Some(keys.join(".")) }
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

impl fmt::Display for ScriptProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: ", self.file, self.line)?;
        if let Some(field) = &self.field {
            write!(formatter, "`{field}`: ")?;
        }
        formatter.write_str(&self.message)
    }
}

fn listed(problems: &[ScriptProblem]) -> String {
    problems.iter().map(ScriptProblem::to_string).collect::<Vec<_>>().join("\n")
}
