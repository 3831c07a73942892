//! Reads a session's file: its messages, and the tokens of a stopped call, because the program does not report them.
//!
//! The file contains one JSON object per line, with one for each message of the user and each answer of the model. An answer
//! is repeated when the tools that it called have ended.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::event::Stats;
use crate::drivers::untrusted_files;

/// The maximum number of answers of a session that are counted, and the maximum length of an answer's id.
const MOST_ANSWERS: usize = 100_000;
const LONGEST_ID: usize = 256;

/// The contents of a session's file before a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// The file did not exist.
    Nothing,
    /// The file had this many bytes.
    Bytes(u64),
    /// The session is a copy of another session, whose file this is.
    CopyOf(PathBuf),
}

/// A line with an answer of the model.
#[derive(Deserialize)]
struct Answer {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    tokens: Tokens,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Tokens {
    input: u64,
    output: u64,
    total: u64,
}

impl Mark {
    /// The mark for the current end of a file.
    pub(super) fn end_of(file: &Path) -> Self {
        file.metadata().map_or(Self::Nothing, |metadata| Self::Bytes(metadata.len()))
    }

    /// The tokens of all answers in a file that were not there at the mark.
    pub(super) fn used_since(&self, file: &Path) -> io::Result<Stats> {
        let mut before = HashSet::new();
        if let Self::CopyOf(parent) = self {
            answers(parent, |_, answer| {
                before.insert(answer.id);
            })?;
        }
        let old = if let Self::Bytes(bytes) = self { *bytes } else { 0 };
        let mut new = HashMap::new();
        answers(file, |at, answer| {
            if at < old {
                before.insert(answer.id);
            } else if !before.contains(&answer.id) {
                new.insert(answer.id, answer.tokens);
            }
        })?;
        Ok(new.values().fold(Stats::default(), |sum, tokens| Stats {
            total_tokens: sum.total_tokens.saturating_add(tokens.total),
            input_tokens: sum.input_tokens.saturating_add(tokens.input),
            output_tokens: sum.output_tokens.saturating_add(tokens.output),
        }))
    }
}

/// The number of messages of the user and of the model in a file.
pub(super) fn messages_in(file: &Path) -> usize {
    #[derive(Deserialize)]
    struct Message {
        #[serde(rename = "type")]
        kind: String,
    }
    let mut messages = 0;
    let read = untrusted_files::for_each_line(file, 0..u64::MAX, |_, line| {
        let message = serde_json::from_slice::<Message>(line);
        messages += usize::from(message.is_ok_and(|message| ["user", "gemini"].contains(&&*message.kind)));
    });
    if read.is_ok() { messages } else { 0 }
}

/// Visits every answer in a file, with the position of its line. An incomplete last line is skipped.
fn answers(file: &Path, mut take: impl FnMut(u64, Answer)) -> io::Result<()> {
    let mut answers = 0;
    untrusted_files::for_each_line(file, 0..u64::MAX, |at, line| {
        if answers < MOST_ANSWERS
            && let Ok(answer) = serde_json::from_slice::<Answer>(line)
            && answer.kind == "gemini"
            && answer.id.len() <= LONGEST_ID
        {
            answers += 1;
            take(at, answer);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = r#"{"sessionId":"s","projectHash":"p","kind":"main"}
{"$set":{"messages":[{"id":"x","type":"user","content":[{"text":"context"}]}]}}
{"id":"u","type":"user","content":[{"text":"Hello"}]}
{"id":"a","type":"gemini","content":"","tokens":{"input":100,"output":10,"cached":0,"thoughts":5,"tool":0,"total":115}}
{"$set":{"lastUpdated":"2026-11-22T14:51:40.298Z"}}
{"id":"a","type":"gemini","content":"","tokens":{"input":100,"output":10,"total":115},"toolCalls":[]}
"#;

    #[test]
    fn an_answer_counts_once_and_only_if_it_is_new() {
        let directory = tempfile::tempdir().unwrap();
        let (parent, child) = (directory.path().join("parent"), directory.path().join("child"));
        std::fs::write(&parent, SESSION).unwrap();
        let one = Stats { total_tokens: 115, input_tokens: 100, output_tokens: 10 };
        assert_eq!(Mark::Nothing.used_since(&parent).unwrap(), one);

        let end = Mark::end_of(&parent);
        let more = "{\"id\":\"a\",\"type\":\"gemini\",\"tokens\":{\"input\":1}}\n{\"id\":\"b\",\"type\":\"gemini\",\"tokens\":{\"input\":7}}\n{\"id\":\"c";
        std::fs::write(&parent, format!("{SESSION}{more}")).unwrap();
        let seven = Stats { input_tokens: 7, ..Stats::default() };
        assert_eq!(end.used_since(&parent).unwrap(), seven);

        std::fs::write(&parent, SESSION).unwrap();
        std::fs::write(&child, format!("{SESSION}{more}")).unwrap();
        assert_eq!(Mark::CopyOf(parent.clone()).used_since(&child).unwrap(), seven);
        assert!(Mark::Nothing.used_since(&directory.path().join("none")).is_err());
    }
}
