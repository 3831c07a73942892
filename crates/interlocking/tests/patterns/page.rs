//! Checks that `docs/book/src/patterns.md` says of each pattern what its test shows, and that its counts are right.

use crate::refused;
use crate::registry::{Judged, PATTERNS, Pattern, REFUSED};
use interlocking::net::Net;
use interlocking::table::Table;
use interlocking_soundness::{Verdict, check};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../../docs/book/src/patterns.md");

/// The cells of each pattern's row: number, name, verdict, means, table, test, YAWL, BPMN.
fn rows() -> Vec<Vec<&'static str>> {
    let is_row =
        |line: &&str| line.strip_prefix("| ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let cells = |line: &'static str| line.trim_matches('|').split(" | ").map(str::trim).collect();
    PAGE.lines().filter(is_row).map(cells).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a pattern's table and test, relative to the root of the repository.
fn files(pattern: &Pattern) -> (String, String) {
    let tests = "crates/interlocking/tests/patterns";
    match pattern.table.split_once("::") {
        Some((module, graph)) => (
            format!("crates/interlocking-soundness/tests/evidence/tables/interlocking/patterns.{module}.{graph}.json"),
            format!("{tests}/{module}.rs"),
        ),
        None => (format!("{tests}/refused/{}.json", pattern.table), format!("{tests}/refused.rs")),
    }
}

/// The page's text for a pattern: a verdict, and links to its table and its test.
fn expected(pattern: &Pattern) -> [String; 3] {
    let verdict = match pattern.judged {
        Judged::Yes => "yes",
        Judged::Partly => "partly",
        Judged::No => "no",
    };
    let (table, test) = files(pattern);
    let shown = pattern.table.split_once("::").map_or("table", |(_, graph)| graph);
    [verdict.to_owned(), format!("[{shown}](../../../{table})"), format!("[{}](../../../{test})", pattern.test)]
}

#[test]
fn each_pattern_has_its_row() {
    let rows = rows();
    assert_eq!(rows.len(), 43);
    for (nth, (pattern, row)) in PATTERNS.iter().zip(&rows).enumerate() {
        assert_eq!((pattern.number, row.len()), (nth + 1, 8), "{row:?}");
        assert_eq!((row[0].parse(), row[1]), (Ok(pattern.number), pattern.name));
        let [verdict, table, test] = expected(pattern);
        assert_eq!([row[2], row[4], row[5]], [verdict, table, test], "{} {}", pattern.number, pattern.name);
        assert!(!row[3].is_empty(), "{row:?}");
    }
}

/// A pattern judged `yes` or `partly` has a sound table and a test that runs it; one judged `no` has a table that is refused.
#[test]
fn each_pattern_has_what_shows_it() {
    for pattern in &PATTERNS {
        let (table, test) = files(pattern);
        let text = std::fs::read_to_string(root().join(&test)).unwrap();
        assert!(text.contains(&format!("fn {}()", pattern.test)), "{test} has no test `{}`", pattern.test);
        let json = std::fs::read_to_string(root().join(&table)).unwrap_or_else(|error| panic!("{table}: {error}"));
        let net = Net::new(serde_json::from_str::<Table>(&json).unwrap());
        let is_sound = net.is_ok_and(|net| matches!(check(&net), Verdict::Sound { .. }));
        assert_eq!(is_sound, pattern.judged != Judged::No, "{table}");
        assert_eq!(pattern.test == REFUSED, pattern.judged == Judged::No, "{table}");
    }
}

/// The page quotes the first line of the message for each refused table.
#[test]
fn the_page_quotes_what_is_refused() {
    let of_rows = PATTERNS.iter().filter(|pattern| pattern.test == REFUSED).map(|pattern| pattern.table);
    let names = refused::names();
    let of_rows: BTreeSet<_> = of_rows.collect();
    assert!(of_rows.iter().all(|name| names.iter().any(|file| file == name)), "{of_rows:?}, {names:?}");
    for name in &names {
        let message = refused::message(name);
        let first = message.split("\n\n").next().unwrap().trim_end();
        assert!(
            PAGE.contains(&format!("```text\n{first}\n```")),
            "{name}: docs/book/src/patterns.md does not quote\n{first}"
        );
        assert!(
            PAGE.contains(&format!("/refused/{name}.json)")),
            "{name}: docs/book/src/patterns.md does not link its table"
        );
    }
}

/// The row of a language in the page's table of counts.
fn count(name: &str, [yes, partly, no]: [&str; 3], column: usize) -> String {
    let rows = rows();
    let count = |verdict: &str| rows.iter().filter(|row| row[column] == verdict).count();
    let counts = [count(yes), count(partly), count(no)];
    assert_eq!(counts.iter().sum::<usize>(), 43, "{name}: {counts:?}");
    format!("| {name} | {} | {} | {} |", counts[0], counts[1], counts[2])
}

#[test]
fn the_counts_are_right() {
    let marks = ["+", "±", "−"];
    for row in [count("Interlocking", ["yes", "partly", "no"], 2), count("YAWL", marks, 6), count("BPMN 1.0", marks, 7)]
    {
        assert!(PAGE.contains(&row), "docs/book/src/patterns.md does not say {row}");
    }
}
