//! Tests that the catalogue of messages in `troubleshooting.md` is complete and lists no message that does not exist.

use crate::pages::root;
use std::path::{Path, PathBuf};

/// Files whose errors users see: each `#[error("…")]` in them has a row.
const WHOLE: [&str; 8] = [
    "crates/interlocking-runtime/src/run/start_error.rs",
    "crates/interlocking-runtime/src/journal/error.rs",
    "crates/interlocking-runtime/src/journal/answer.rs",
    "crates/interlocking-runtime/src/journal/fork.rs",
    "crates/interlocking-runtime/src/service/error.rs",
    "crates/interlocking-runtime/src/workspaces/mod.rs",
    "crates/interlocking-agents/src/agent/error.rs",
    "crates/interlocking-workspaces/src/error.rs",
];

/// Files whose errors users see, too: each text that their `Display` writes has a row.
const DISPLAYED: [&str; 1] = ["crates/interlocking-core/src/net/error.rs"];

/// The sources of the command line: each message of a `CommandError` in them has a row, and each `#[error("…")]`.
const COMMAND_LINE: &str = "crates/interlocking-cli/src";

/// What stands before the message of a `CommandError`.
const COMMAND_ERRORS: [&str; 3] = ["CommandError::new(", "Self::new(", "what = format!("];

/// The sources of the derive: each sentence in them is a message and has a row.
const DERIVE: &str = "crates/interlocking-macros/src";

/// Its files without messages: their sentences are documentation that it writes, or panics of the derive itself.
const WITHOUT_MESSAGES: [&str; 3] = ["markers.rs", "errors.rs", "tests.rs"];

/// Its sentences that are inserted into messages.
const INSERTED: [&str; 4] = ["a child graph", "node to see", "this graph has no `…`", "look further: `…`; or "];

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

/// Whether a literal is a sentence, or a part of one: three words, and no code.
fn is_sentence(literal: &str) -> bool {
    let words = literal.split(' ').map(|word| word.trim_end_matches([',', ':', ';', '.', '?']));
    let words = words.filter(|word| !word.is_empty() && word.chars().all(char::is_alphabetic));
    !literal.starts_with(' ') && words.count() >= 3
}

/// The messages of the derive, as its sources have them: the first line of each, as only that has a row.
fn of_the_derive() -> Vec<String> {
    let files = rust_files(&root().join(DERIVE)).into_iter().filter(|file| {
        let is_test = file.components().any(|part| part.as_os_str() == "tests");
        !is_test && !WITHOUT_MESSAGES.iter().any(|name| file.ends_with(name))
    });
    let messages = files.flat_map(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        literals(text.split("#[cfg(test)]").next().unwrap())
    });
    let messages = messages.map(|literal| without_names(literal.lines().next().unwrap_or_default()));
    messages.filter(|message| is_sentence(message) && !INSERTED.contains(&message.as_str())).collect()
}

/// The messages of the traits that users implement or call with, as `#[diagnostic::on_unimplemented]` has them.
fn of_the_traits() -> Vec<String> {
    let files = rust_files(&root().join("crates"));
    let messages = files.iter().flat_map(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        let attributes = text.split("#[diagnostic::on_unimplemented(").skip(1);
        attributes.map(|attribute| literals(attribute).swap_remove(0)).collect::<Vec<_>>()
    });
    messages.map(|message| without_names(&message)).collect()
}

/// The messages in a file that have rows, besides those of the derive.
fn messages_of_users(file: &Path, text: &str) -> Vec<String> {
    if DISPLAYED.iter().any(|displayed| file == Path::new(displayed)) {
        let (_, display) = text.split_once("impl fmt::Display").unwrap();
        let messages = literals(display).into_iter().filter(|literal| literal.contains(char::is_alphabetic));
        return messages.map(|message| without_names(&message)).collect();
    }
    let is_command_line = file.starts_with(COMMAND_LINE);
    if !is_command_line && !WHOLE.iter().any(|whole| file == Path::new(whole)) {
        return Vec::new();
    }
    let errors = text.split("#[error(").skip(1).map(|error| error.split_once(")]").unwrap().0);
    let starts = COMMAND_ERRORS.iter().filter(|_| is_command_line);
    let errors = errors.chain(starts.flat_map(|start| text.split(start).skip(1)).filter(|error| {
        let error = error.trim_start();
        error.strip_prefix("format!(").unwrap_or(error).trim_start().starts_with('"')
    }));
    let messages = errors.filter_map(|error| literals(error).into_iter().next());
    // What is all inserted says nothing of its own.
    let has_words = |message: &String| !message.trim_matches(['…', ':', ' ']).is_empty();
    messages.map(|message| without_names(&message)).filter(has_words).collect()
}

#[test]
fn each_message_of_the_compiler_has_a_row_and_each_row_is_a_message() {
    let rows: Vec<_> = rows(true).iter().map(|row| without_names(row)).collect();
    let of_the_derive = of_the_derive();
    let mut messages = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/compile-fail")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            let text = std::fs::read_to_string(path).unwrap();
            let errors = text.lines().filter(|line| line.starts_with("error"));
            messages.extend(errors.map(|line| without_names(line.split_once(": ").unwrap().1)));
        }
    }
    let has_row = |message: &str| rows.iter().any(|row| fits(row, message));
    let mut wrong: Vec<_> =
        messages.iter().filter(|message| !has_row(message)).map(|message| format!("no row: {message}")).collect();
    let has_case = |message: &String| messages.iter().any(|shown| fits(message, shown));
    let of_the_traits = of_the_traits();
    let are_missing = of_the_traits.iter().filter(|message| !has_case(message));
    wrong.extend(are_missing.map(|message| format!("no case in tests/compile-fail: {message}")));
    assert!(of_the_traits.len() > 30, "{of_the_traits:?}");
    // A literal of the derive may be a part of a row, whose other parts come from elsewhere.
    let is_part = |message: &str| rows.iter().any(|row| fits(&format!("…{message}…"), row));
    let are_missing = of_the_derive.iter().filter(|message| !has_row(message) && !is_part(message));
    wrong.extend(are_missing.map(|message| format!("{DERIVE}: no row: {message}")));
    let is_there = |row: &String| messages.iter().chain(&of_the_derive).any(|message| fits(row, message));
    wrong.extend(rows.iter().filter(|row| !is_there(row)).map(|row| format!("no message: {row}")));
    assert!(messages.len() > 200 && of_the_derive.len() > 100 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_row_of_a_run_is_a_message_and_the_errors_of_users_have_rows() {
    let rows: Vec<_> = rows(false).iter().map(|row| without_names(row)).collect();
    let mut messages = Vec::new();
    let (mut wrong, mut of_users) = (Vec::new(), 0);
    for file in rust_files(&root().join("crates")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(root()).unwrap().to_owned();
        // A message of the command line may be the start of a row: the run says more.
        let has_row = |message: &String| rows.iter().any(|row| fits(row, message) || fits(&format!("{message}…"), row));
        let listed = messages_of_users(&file, &text);
        of_users += listed.len();
        let are_missing = listed.iter().filter(|message| !has_row(message));
        wrong.extend(are_missing.map(|message| format!("{}: no row: {message}", file.display())));
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
    assert!(of_users > 90 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn messages_are_held_against_rows() {
    assert!(fits("no node is called `…`: this graph has …", "no node is called `…`: this graph has `…` and `…`"));
    assert!(!fits("two nodes are called `…`", "two nodes are called `…`: rename one"));
    assert!(fits("write `…`", "write `…`"));
    assert!(!fits("write `…`", "you write `…`"));
    assert!(is_sentence("a node has one memory group") && is_sentence("`…` is empty: name one"));
    assert!(!is_sentence("node(input = Type, goto(exit))") && !is_sentence(" The labels of it."));
    let text = "// \"no\"\n#[error(\"run `{run}` \\\n     waits: {}\", '\"')] \"a\\nb\"";
    assert_eq!(literals(text), ["run `…` waits: …", "a\nb"]);
}
