//! Decides whether a table in a JSON file is sound.
//!
//! ```console
//! cargo run -p interlocking-soundness --example soundness -- crates/interlocking-soundness/examples/tables/v3.json
//! ```
//!
//! The format of tables and verdicts is in docs/book/src/table-format.md. The exit code is 0 where the graph is sound, 1 where it is
//! not, 2 where that was not decided, and 3 where the input is no table.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command reports to whoever runs it")]

use interlocking_core::net::{Net, NetError};
use interlocking_core::table::Table;
use interlocking_soundness::{DEFAULT_LIMIT, Verdict, check_within};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::Read;
use std::process::ExitCode;

const USAGE: &str = "usage: soundness [--limit N] TABLE.json

Decides whether the graph of a table is sound, and prints the verdict as JSON. `-` reads the table from standard input.

  --limit N   how many markings to look at before giving up (20000)

exit code: 0 sound, 1 not sound, 2 not decided within the limit, 3 bad input";

/// The exit code for bad input.
pub(crate) const BAD_INPUT: u8 = 3;

/// What stands in the way of a verdict, and what to do about it.
struct BadInput {
    problem: String,
    help: String,
}

/// What is printed.
#[derive(Serialize)]
struct Report<'t> {
    graph: &'t str,
    #[serde(flatten)]
    verdict: &'t Verdict,
}

struct Arguments {
    file: String,
    limit: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments, std::io::stdin()) {
        Ok((text, code)) => {
            println!("{text}");
            ExitCode::from(code)
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// The text for standard output with the exit code, or for bad input the text for standard error.
pub(crate) fn run(arguments: &[String], input: impl Read) -> Result<(String, u8), String> {
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        return Ok((USAGE.to_owned(), 0));
    }
    report(arguments, input).map_err(|BadInput { problem, help }| format!("error: {problem}\nhelp: {help}"))
}

fn report(arguments: &[String], input: impl Read) -> Result<(String, u8), BadInput> {
    let Arguments { file, limit } = read_arguments(arguments)?;
    let shown = if file == "-" { "standard input" } else { &file };
    let net = read_net(shown, &read_text(&file, input, shown)?)?;
    let verdict = check_within(&net, limit);
    let report = Report { graph: &net.table().graph, verdict: &verdict };
    let code = match verdict {
        Verdict::Sound { .. } => 0,
        Verdict::Unsound { .. } => 1,
        Verdict::Undecided { .. } => 2,
    };
    let report = serde_json::to_string_pretty(&report);
    report.map(|report| (report, code)).map_err(|error| bad(format!("the verdict is no JSON: {error}"), USAGE))
}

fn read_arguments(arguments: &[String]) -> Result<Arguments, BadInput> {
    let (mut file, mut limit) = (None, DEFAULT_LIMIT);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--limit" {
            let number = rest.next().and_then(|number| number.parse().ok()).filter(|&number| number > 0);
            limit = number.ok_or_else(|| bad("`--limit` needs a whole number, at least 1", USAGE))?;
        } else if argument.starts_with("--") {
            return Err(bad(format!("there is no option `{argument}`"), USAGE));
        } else if file.replace(argument.clone()).is_some() {
            return Err(bad("one table at a time", USAGE));
        }
    }
    let file = file.ok_or_else(|| bad("no table is named", USAGE))?;
    Ok(Arguments { file, limit })
}

fn read_text(file: &str, mut input: impl Read, shown: &str) -> Result<String, BadInput> {
    let mut text = String::new();
    let read = match file {
        "-" => input.read_to_string(&mut text).map(|_| text),
        _ => std::fs::read_to_string(file),
    };
    read.map_err(|error| bad(format!("{shown} cannot be read: {error}"), "name a JSON file in UTF-8, or `-`"))
}

fn read_net(shown: &str, text: &str) -> Result<Net, BadInput> {
    let mut json = serde_json::Deserializer::from_str(text);
    let table: Table = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, inner) = (error.path().to_string(), error.inner());
        not_a_table(shown, &path, inner)
    })?;
    json.end().map_err(|error| not_a_table(shown, ".", &error))?;
    let names: Vec<String> = table.nodes.iter().map(|row| row.name.clone()).collect();
    Net::new(table).map_err(|error| {
        let node = match &error {
            NetError::Unknown { node, .. }
            | NetError::NoSlot { node, .. }
            | NetError::Slots { node }
            | NetError::Unfit { node, .. } => names.iter().position(|name| name == node),
            NetError::Duplicate { name } => names.iter().rposition(|one| one == name),
            // An error of the table as a whole.
            _ => None,
        };
        let at = match node {
            Some(index) => format!("{}: nodes[{index}]", position(text, index)),
            None => " nodes".to_owned(),
        };
        bad(format!("{shown}:{at}: {error}"), "the rules for names and kinds are in docs/book/src/table-format.md")
    })
}

/// Line and column at which a node's row begins.
fn position(text: &str, node: usize) -> String {
    #[derive(Deserialize)]
    struct Rows<'t> {
        #[serde(borrow)]
        nodes: Vec<&'t RawValue>,
    }
    let rows: Option<Rows<'_>> = serde_json::from_str(text).ok();
    let row = rows.and_then(|rows| rows.nodes.get(node).map(|row| row.get().as_ptr()));
    let before = row.map_or(text, |row| &text[..row.addr() - text.as_ptr().addr()]);
    let line = before.matches('\n').count() + 1;
    format!("{line}:{}", before.chars().rev().take_while(|&letter| letter != '\n').count() + 1)
}

/// serde_json puts the position last; here it comes first, where editors and terminals look for it.
fn not_a_table(shown: &str, path: &str, error: &serde_json::Error) -> BadInput {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    let field = if path == "." { String::new() } else { format!("{path}: ") };
    bad(
        format!("{shown}:{line}:{column}: {field}{what}"),
        "every field of a table is described in docs/book/src/table-format.md",
    )
}

fn bad(problem: impl Into<String>, help: &str) -> BadInput {
    BadInput { problem: problem.into(), help: help.to_owned() }
}
