//! Reads the file that Codex keeps for a session: its token usage, and its system instructions.
//!
//! Events count tokens from the beginning of a session, omit those of turns that were killed, and are missing if a call
//! fails. The file has a record for each answer of the model.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::event::Tokens;
use super::home::SESSIONS;
use super::instructions;
use crate::drivers::json_lines::{self, JsonLines, Read};
use crate::drivers::untrusted_files::{self, Search};
use crate::program::Line;
use crate::sessions::session::SessionId;

/// How many generations of forks are followed back.
const OLDEST_ANCESTOR: usize = 64;

/// A session's file.
#[derive(Debug, Clone)]
pub(super) struct Rollout {
    path: PathBuf,
    session: SessionId,
}

/// The end of a session's file before a call, so that the records that the call adds can be identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark(u64);

impl Mark {
    /// The mark for a session that a call starts.
    pub(super) const BEGINNING: Self = Self(0);
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    payload: Value,
}

#[derive(Deserialize)]
struct UsageRecord {
    thread_id: String,
    usage: Tokens,
}

impl Rollout {
    /// The file of a session, at `YEAR/MONTH/DAY/rollout-TIME-ID.jsonl` below `sessions`, or below a directory in
    /// `sessions`. None if it does not exist.
    pub(super) fn find(home: &Path, session: &SessionId) -> Option<Self> {
        let ending = format!("-{session}.jsonl");
        let mut search = Search::new();
        let mut directories = search.directories(&home.join(SESSIONS)).into_iter();
        let path = directories.find_map(|directory| {
            let is_year = directory.file_name().is_some_and(|name| name.len() == 4);
            find(&mut search, &directory, &ending, if is_year { 2 } else { 3 })
        })?;
        Some(Self { path, session: session.clone() })
    }

    /// The file of a session in a directory with years. None if it does not exist.
    pub(super) fn find_in(directory: &Path, session: &SessionId) -> Option<Self> {
        let path = find(&mut Search::new(), directory, &format!("-{session}.jsonl"), 3)?;
        Some(Self { path, session: session.clone() })
    }

    /// The directory with the years, which contains the sessions that this one was forked from, too.
    pub(super) fn directory(&self) -> &Path {
        self.path.ancestors().nth(4).unwrap_or(&self.path)
    }

    pub(super) fn mark(&self) -> io::Result<Mark> {
        Ok(Mark(self.path.metadata()?.len()))
    }

    /// The tokens that the session has used since the mark. None if the file contains no such record, which may be the
    /// case in other versions.
    pub(super) fn used_since(&self, mark: Mark) -> io::Result<Option<Tokens>> {
        let mut used = None;
        for_each_line(&self.path, mark.0, u64::MAX, "\"token_usage_record\"", |entry| {
            if entry.kind == "token_usage_record"
                && let Ok(record) = serde_json::from_value::<UsageRecord>(entry.payload)
                && record.thread_id == self.session.as_str()
            {
                let Tokens { input_tokens, output_tokens } = used.unwrap_or_default();
                used = Some(Tokens {
                    input_tokens: input_tokens.saturating_add(record.usage.input_tokens),
                    output_tokens: output_tokens.saturating_add(record.usage.output_tokens),
                });
            }
        })?;
        Ok(used)
    }

    /// Whether these are the last instructions that the session was given. The search includes the sessions that it was
    /// forked from.
    pub(super) fn knows(&self, home: &Path, system: &str) -> io::Result<bool> {
        let (mut rollout, mut end) = (self.clone(), u64::MAX);
        for _ in 0..OLDEST_ANCESTOR {
            if let Some(told) = rollout.last_instructions(end)? {
                return Ok(instructions::are_in(&told, system));
            }
            let Some((parent, length)) = rollout.parent()? else { return Ok(false) };
            // It is usually in the same directory.
            let found = Self::find_in(rollout.directory(), &parent).or_else(|| Self::find(home, &parent));
            let Some(found) = found else { return Ok(false) };
            (rollout, end) = (found, length);
        }
        Ok(false)
    }

    fn last_instructions(&self, end: u64) -> io::Result<Option<String>> {
        let mut told = None;
        let heading = Value::from(instructions::HEADING.trim_end()).to_string();
        for_each_line(&self.path, 0, end, heading.trim_matches('"'), |entry| {
            let content = entry.payload.get("content").and_then(Value::as_array);
            let mut texts = content.into_iter().flatten().filter_map(|part| part.get("text")?.as_str());
            if entry.kind == "response_item"
                && let Some(text) = texts.rfind(|text| text.starts_with(instructions::HEADING))
            {
                told = Some(text.to_owned());
            }
        })?;
        Ok(told)
    }

    /// The session that this one was forked from, and the length of the part of its file that the fork inherits.
    fn parent(&self) -> io::Result<Option<(SessionId, u64)>> {
        let mut base = None;
        for_each_line(&self.path, 0, u64::MAX, "\"history_base\"", |entry| {
            if entry.kind == "session_meta" {
                base = base.take().or_else(|| {
                    let base = entry.payload.get("history_base")?;
                    let parent = SessionId::new(base.get("thread_id")?.as_str()?).ok()?;
                    Some((parent, base.get("end_byte_offset")?.as_u64()?))
                });
            }
        })?;
        Ok(base)
    }
}

/// Searches the newest directories first, because a session that is continued is probably recent.
fn find(search: &mut Search, directory: &Path, ending: &str, depth: u32) -> Option<PathBuf> {
    if depth == 0 {
        let files = search.entries(directory).map(|entry| entry.path());
        return files.filter(|path| path.to_str().is_some_and(|path| path.ends_with(ending))).max();
    }
    search.directories(directory).iter().find_map(|directory| find(search, directory, ending, depth - 1))
}

/// Visits each complete line between two positions of the file that contains `needle`; lines that are not entries are
/// skipped.
fn for_each_line(path: &Path, start: u64, end: u64, needle: &str, mut visit: impl FnMut(Entry)) -> io::Result<()> {
    let needle = memchr::memmem::Finder::new(needle);
    untrusted_files::for_each_line(path, start..end, |_, line| {
        if needle.find(line).is_some()
            && let Read::Event(entry) = JsonLines::default().read(Line::Whole(line), json_lines::read)
        {
            visit(entry);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PARENT: &str = "01a203a3-ab4b-74b1-9e3e-e1d88a5e1063";
    const CHILD: &str = "01a203a4-1f5f-70f3-bfaa-20eefac9e71a";

    fn record(session: &str, input: u64) -> Value {
        let usage = json!({ "input_tokens": input, "output_tokens": 1, "total_tokens": input + 1 });
        json!({ "type": "token_usage_record", "payload": { "thread_id": session, "usage": usage, "new": null } })
    }

    fn told(text: &str) -> Value {
        let content = [json!({ "type": "input_text", "text": text })];
        json!({ "type": "response_item", "payload": { "type": "message", "role": "user", "content": content } })
    }

    fn write(home: &Path, session: &str, entries: &[Value]) -> Rollout {
        let directory = home.join("sessions/2026/11/22");
        std::fs::create_dir_all(&directory).unwrap();
        let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
        std::fs::write(directory.join(format!("rollout-2026-11-22T14-23-07-{session}.jsonl")), lines).unwrap();
        Rollout::find(home, &SessionId::new(session).unwrap()).unwrap()
    }

    #[test]
    fn tokens_are_those_of_this_session_since_the_mark() {
        let home = tempfile::tempdir().unwrap();
        let before = [record(PARENT, 100), json!({ "type": "token_usage_record", "payload": 7 })];
        let mark = write(home.path(), PARENT, &before).mark().unwrap();
        let entries = [&before[..], &[record(PARENT, 20), record(CHILD, 1_000), record(PARENT, 3)]].concat();
        let rollout = write(home.path(), PARENT, &entries);
        let tokens = |input_tokens, output_tokens| Some(Tokens { input_tokens, output_tokens });
        assert_eq!(rollout.used_since(mark).unwrap(), tokens(23, 2));
        assert_eq!(rollout.used_since(Mark::BEGINNING).unwrap(), tokens(123, 3));
        let silent = write(home.path(), CHILD, &[told("hello")]);
        assert_eq!(silent.used_since(Mark::BEGINNING).unwrap(), None, "nothing is known, which is not nothing");
    }

    /// If links were followed, each path would have three steps with a thousand choices each.
    #[cfg(unix)]
    #[test]
    fn links_that_lead_in_circles_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let written = write(home.path(), PARENT, &[record(PARENT, 100)]);
        let maze = home.path().join("sessions/zz");
        std::fs::create_dir(&maze).unwrap();
        for link in 0..1_000 {
            std::os::unix::fs::symlink(".", maze.join(link.to_string())).unwrap();
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let path = home.path().to_owned();
        std::thread::spawn(move || sender.send(Rollout::find(&path, &SessionId::new(PARENT).unwrap())));
        let found = receiver.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
        assert_eq!(found.unwrap().path, written.path);
    }

    /// A fork knows the part of its parent's session from before the fork.
    #[test]
    fn a_fork_knows_its_parents_part_up_to_the_fork() {
        let home = tempfile::tempdir().unwrap();
        let parent = [
            told(&instructions::developer_message("Be brief.")),
            told(&instructions::prompt_with_instructions("Be kind.", "Go.")),
        ];
        let fork_at = parent[0].to_string().len() + 1;
        let parent = write(home.path(), PARENT, &parent);
        let base = json!({ "thread_id": PARENT, "end_byte_offset": fork_at });
        let meta = json!({ "type": "session_meta", "payload": { "id": CHILD, "history_base": base } });
        let child = write(home.path(), CHILD, &[meta.clone(), told("Is it # Your part?")]);
        assert!(parent.knows(home.path(), "Be kind.").unwrap() && !parent.knows(home.path(), "Be brief.").unwrap());
        assert!(child.knows(home.path(), "Be brief.").unwrap() && !child.knows(home.path(), "Be kind.").unwrap());
        assert!(!child.knows(home.path(), "Be").unwrap(), "the whole of it");
        let changed =
            write(home.path(), CHILD, &[meta, told(&instructions::prompt_with_instructions("Be quick.", "Go."))]);
        assert!(changed.knows(home.path(), "Be quick.").unwrap() && !changed.knows(home.path(), "Be brief.").unwrap());
    }
}
