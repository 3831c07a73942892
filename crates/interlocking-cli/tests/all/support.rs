//! A program that is called in this process, with a journal of its own.

use crate::review::Review;
use clap::Args;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::cli::{Cli, CommandError, Console, Exit, Start};
use interlocking::prelude::*;
use interlocking::runtime::CancelToken;
use rusqlite::Connection;
use serde_json::Value;
use std::io::{self, Cursor, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// The printed text.
#[derive(Clone, Default)]
pub(crate) struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An output whose reader has ended.
pub(crate) struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The whole result on one page, with everything that varies between runs replaced.
    pub(crate) fn page(&self) -> String {
        let page = format!("exit {}\n{}{}", self.exit, self.stdout, behind("! ", &self.stderr));
        steady(&page)
    }
}

fn behind(mark: &str, text: &str) -> String {
    text.lines().map(|line| format!("{}\n", format!("{mark}{line}").trim_end())).collect()
}

/// Replaces what varies between runs: times, durations, sessions and places.
pub(crate) fn steady(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        let mut words: Vec<String> = line.split(' ').map(word).collect();
        for at in 1..words.len() {
            if matches!(words[at].trim_end_matches([':', ',']), "s") && words[at - 1].parse::<f64>().is_ok() {
                words[at - 1] = "0.0".to_owned();
            }
        }
        steady += words.join(" ").trim_end();
        steady.push('\n');
    }
    steady
}

fn word(word: &str) -> String {
    let is_time = |word: &str| word.len() == 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
    let (bare, rest) = word.split_at(word.len() - word.len().min(usize::from(word.ends_with(','))));
    if is_time(bare) {
        return format!("TIME{rest}");
    }
    if bare.contains("/.tmp") {
        let (before, _) = bare.split_once('/').unwrap();
        let quote = if bare.ends_with('`') { "`" } else { "" };
        return format!("{before}PLACE{quote}{rest}");
    }
    word.to_owned()
}

/// A program and its journal.
pub(crate) struct Program<S: Args = Ink> {
    pub(crate) cli: Cli<Review, S>,
    pub(crate) place: TempDir,
}

/// How the writer behaves.
#[derive(Debug, Clone, Args)]
pub(crate) struct Ink {
    /// Let the writer crash
    #[arg(long)]
    crash: bool,
}

pub(crate) fn writer(ink: &Ink) -> Arc<ScriptedAgent> {
    let does = if ink.crash { "fail = 'crash'\ntext = 'out of ink'" } else { "output_json = '\"The tide rises.\"'" };
    let script = format!("[[turn]]\ntimes = 'any'\ncost = 0.0125\n{does}\n");
    Arc::new(ScriptedAgent::new(Script::parse("the writer's", &script).unwrap()))
}

impl Program {
    pub(crate) fn new() -> Self {
        let set_up =
            |ink: Ink, _: Start| async move { Ok(Run::new(Review::default()).with_agent("draft", writer(&ink))) };
        Self { cli: Cli::new("review", set_up), place: tempfile::tempdir().unwrap() }
    }

    /// The same program with a clean-up.
    pub(crate) fn with_cleanup<F>(self, clean_up: impl Fn(Start) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), CommandError>> + 'static,
    {
        Self { cli: self.cli.with_cleanup(clean_up), ..self }
    }

    /// Calls the program, and gives what it printed.
    pub(crate) async fn call(&self, words: &[&str]) -> Ran {
        call(&self.cli, &self.place, words, None).await
    }

    /// The same with text on standard input.
    pub(crate) async fn call_with(&self, words: &[&str], input: &str) -> Ran {
        call(&self.cli, &self.place, words, Some(Box::new(Cursor::new(input.to_owned())))).await
    }

    /// Makes a run that waits for a person.
    pub(crate) async fn waiting(&self, run: &str) {
        let ran = self.call(&["run", "--run-id", run, "--input", "\"tides\"", "--quiet"]).await;
        assert_eq!(ran.exit, 3, "{ran:?}");
    }
}

/// Calls a program with its journal in `place`.
pub(crate) async fn call<G: interlocking::graph::Graph, S: Args + 'static, E: Args + 'static>(
    cli: &Cli<G, S, E>,
    place: &TempDir,
    words: &[&str],
    input: Option<Box<dyn Read + Send>>,
) -> Ran {
    let stdout = Paper::default();
    let ran = call_printing(cli, place, words, input, stdout.clone()).await;
    Ran { stdout: stdout.text(), ..ran }
}

/// The same with another standard output.
pub(crate) async fn call_printing<G: interlocking::graph::Graph, S: Args + 'static, E: Args + 'static>(
    cli: &Cli<G, S, E>,
    place: &TempDir,
    words: &[&str],
    input: Option<Box<dyn Read + Send>>,
    stdout: impl Write + Send + 'static,
) -> Ran {
    let stderr = Paper::default();
    let console = Console::new(input, stdout, stderr.clone());
    let journal = place.path().join("journal");
    let mut all = vec!["program".to_owned()];
    all.extend(words.iter().map(|word| (*word).to_owned()));
    // Commands about the program itself have no journal.
    if words.first().is_none_or(|word| !["graph", "completions", "man"].contains(word)) {
        all.extend(["--journal".to_owned(), journal.display().to_string()]);
    }
    let exit: Exit = cli.execute(all, &console, &CancelToken::new()).await;
    Ran { exit: exit.code(), stdout: String::new(), stderr: stderr.text() }
}

/// Makes the first record of a run unreadable.
pub(crate) fn damage(journal: &Path, run: &str) {
    let connection = Connection::open(journal.join("journal.db")).unwrap();
    let damage = "UPDATE record SET more='{' WHERE sequence=0 AND run=(SELECT id FROM run WHERE name=?)";
    assert_eq!(connection.execute(damage, [run]).unwrap(), 1);
}

/// The commands that a program's help lists, in its order.
pub(crate) fn commands(help: &str) -> Vec<&str> {
    let (_, listed) = help.split_once("\nRuns:\n").unwrap();
    let (listed, _) = listed.split_once("\nOptions:\n").unwrap();
    let lines = listed.lines().filter(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split([' ', ',']).find(|word| !word.is_empty())).collect()
}
