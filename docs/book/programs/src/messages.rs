//! Tests that the catalogue of messages in `troubleshooting.md` is complete and lists no message that does not exist.

use crate::pages::root;
use std::path::{Path, PathBuf};

/// Files whose errors users see: each `#[error("…")]` in them has a row.
const WHOLE: [&str; 6] = [
    "crates/interlocking-runtime/src/run/start_error.rs",
    "crates/interlocking-runtime/src/journal/error.rs",
    "crates/interlocking-runtime/src/journal/answer.rs",
    "crates/interlocking-runtime/src/journal/fork.rs",
    "crates/interlocking-runtime/src/service/error.rs",
    "crates/interlocking-runtime/src/workspaces/mod.rs",
];

/// The first cells of the tables: those below headings that begin with `While compiling`, and the others.
fn rows(compiling: bool) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/book/src/troubleshooting.md")).unwrap();
    let sections = page.split("\n## ").skip(1).filter(|section| section.starts_with("While compiling") == compiling);
    let lines = sections.flat_map(|section| section.lines().filter(|line| line.starts_with("| ")));
    let cells = lines.map(|line| line.replace("\\|", "¦").split(" | ").next().unwrap()[2..].to_owned());
    cells.filter(|cell| cell != "message").collect()
}

/// The message with `…` in place of each text between backticks.
fn without_names(message: &str) -> String {
    message.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "`…`" }).collect()
}

/// Whether `message` matches `row`, where each `…` of the row matches any text.
fn fits(row: &str, message: &str) -> bool {
    let mut parts = row.split('…').collect::<Vec<_>>();
    let (first, last) = (parts.remove(0), parts.pop());
    let Some(mut rest) = message.strip_prefix(first) else { return false };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The string literals of a source text, unescaped, with `…` in place of each `{…}`.
fn literals(text: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '/' if characters.peek() == Some(&'/') => drop(characters.by_ref().find(|it| *it == '\n')),
            '\'' if characters.peek() == Some(&'"') => drop(characters.next()),
            '"' => {
                let mut literal = String::new();
                while let Some(character) = characters.next().filter(|it| *it != '"') {
                    match character {
                        '\\' => match characters.next() {
                            Some('\n') => while characters.next_if(|it| it.is_whitespace()).is_some() {},
                            Some('n') => literal.push('\n'),
                            other => literal.extend(other),
                        },
                        '{' => {
                            while characters.next().is_some_and(|it| it != '}') {}
                            literal.push('…');
                        }
                        other => literal.push(other),
                    }
                }
                literals.push(literal);
            }
            _ => {}
        }
    }
    literals
}

#[test]
fn each_pinned_message_of_the_compiler_has_a_row_and_each_row_is_a_message() {
    let rows = rows(true);
    let mut messages = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/compile-fail")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            let text = std::fs::read_to_string(path).unwrap();
            let errors = text.lines().filter(|line| line.starts_with("error"));
            messages.extend(errors.map(|line| without_names(line.split_once(": ").unwrap().1)));
        }
    }
    let mut wrong: Vec<_> = messages
        .iter()
        .filter(|message| !rows.iter().any(|row| fits(&without_names(row), message)))
        .map(|message| format!("no row: {message}"))
        .collect();
    let are_none = rows.iter().filter(|row| !messages.iter().any(|message| fits(&without_names(row), message)));
    wrong.extend(are_none.map(|row| format!("no message: {row}")));
    assert!(messages.len() > 200 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_row_of_a_run_is_a_message_and_the_errors_of_users_have_rows() {
    let rows: Vec<_> = rows(false).iter().map(|row| without_names(row)).collect();
    let mut messages = Vec::new();
    let mut wrong = Vec::new();
    for file in rust_files(&root().join("crates")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(root()).unwrap().to_owned();
        if WHOLE.iter().any(|whole| file == Path::new(whole)) {
            for error in text.split("#[error(").skip(1) {
                let literal = literals(error.split_once(")]").unwrap().0).into_iter().next();
                let Some(message) = literal.map(|literal| without_names(&literal)) else { continue };
                let is_all_inserted = message.chars().all(|it| it == '…');
                if !is_all_inserted && !rows.iter().any(|row| fits(row, &message)) {
                    wrong.push(format!("{}: no row: {message}", file.display()));
                }
            }
        }
        if !file.components().any(|part| part.as_os_str() == "tests") {
            messages.extend(literals(&text).iter().map(|literal| without_names(literal)));
        }
    }
    // A `…` at the start or end of a row stands for text outside the literal: the rest of the row is searched for in it.
    let is_there = |row: &str| {
        let row = row.trim_matches(['…', ' ', ':']);
        messages.iter().any(|message| fits(&format!("…{row}…"), message))
    };
    wrong.extend(rows.iter().filter(|row| !is_there(row)).map(|row| format!("no message: {row}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn messages_are_held_against_rows() {
    assert!(fits("no node is called `…`: this graph has …", "no node is called `…`: this graph has `…` and `…`"));
    assert!(!fits("two nodes are called `…`", "two nodes are called `…`: rename one"));
    assert!(fits("write `…`", "write `…`"));
    assert!(!fits("write `…`", "you write `…`"));
    let text = "// \"no\"\n#[error(\"run `{run}` \\\n     waits: {}\", '\"')] \"a\\nb\"";
    assert_eq!(literals(text), ["run `…` waits: …", "a\nb"]);
}
