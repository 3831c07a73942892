//! Tests that pages show the current text of programs, tables and files.

use crate::programs::{PROGRAMS, pictures};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// The book's pages, as paths below `docs/book/src`, with their texts.
pub(crate) fn pages() -> Vec<(PathBuf, String)> {
    let source = root().join("docs/book/src");
    let mut todo = vec![source.clone()];
    let mut pages = Vec::new();
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                pages.push((path.strip_prefix(&source).unwrap().to_owned(), text));
            }
        }
    }
    pages.sort();
    pages
}

/// The language and the content of the block below a line `<!-- KIND: NAME -->`; `None` for a kind that this test does not know.
fn shown(kind: &str, name: &str) -> Option<(&'static str, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |path: PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let found = match kind {
        "program" => ("rust", read(directory.join(name).with_extension("rs"))),
        "picture" => {
            let found = pictures().into_iter().find(|(picture, _)| picture == name);
            ("mermaid", found.unwrap_or_else(|| panic!("no program has the graph {name:?}")).1)
        }
        "file" => {
            let language = match Path::new(name).extension().and_then(|extension| extension.to_str()) {
                Some("mmd") => "mermaid",
                Some("rs") => "rust",
                Some("py") => "python",
                _ => "text",
            };
            (language, read(root().join(name)))
        }
        _ => return None,
    };
    Some(found)
}

/// The page with its blocks updated, and the names of what they show.
fn brought_up_to_date(text: &str) -> (String, Vec<String>) {
    let (mut new, mut names, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once("<!-- ").filter(|(_, after)| after.contains(" -->\n```")) {
        let (mark, block) = after.split_once(" -->\n").unwrap();
        new.push_str(before);
        new.push_str("<!-- ");
        let said = mark.split_once(": ").filter(|_| block.starts_with("```"));
        // Other comments belong to other tests.
        let Some((name, (language, content))) = said.and_then(|(kind, name)| Some((name, shown(kind, name)?))) else {
            rest = after;
            continue;
        };
        let (_, after) = block[3..].split_once("\n```").expect("a block ends");
        new.push_str(&format!("{mark} -->\n```{language}\n{}\n```", content.trim_end()));
        names.push(name.to_owned());
        rest = after;
    }
    (new + rest, names)
}

#[test]
fn pages_show_what_runs() {
    let (mut stale, mut names) = (Vec::new(), BTreeSet::new());
    for (path, text) in pages() {
        let (new, shows) = brought_up_to_date(&text);
        names.extend(shows);
        if new != text {
            if std::env::var_os("UPDATE_BOOK").is_some() {
                std::fs::write(root().join("docs/book/src").join(&path), new).unwrap();
            }
            stale.push(path);
        }
    }
    assert!(stale.is_empty(), "`UPDATE_BOOK=1 cargo test -p interlocking-book` brings these up to date: {stale:?}");
    let forgotten: Vec<_> = PROGRAMS.iter().filter(|program| !names.contains(**program)).collect();
    assert!(forgotten.is_empty(), "no page shows {forgotten:?}");
}

#[test]
fn what_has_changed_is_found() {
    let page = "A\n<!-- picture: nodes/logic Collatz -->\n```mermaid\nold\n```\nB\n";
    let (new, names) = brought_up_to_date(page);
    assert_eq!(names, ["nodes/logic Collatz"]);
    assert!(new.starts_with("A\n<!-- picture: nodes/logic Collatz -->\n```mermaid\nflowchart TD\n"), "{new}");
    assert!(new.ends_with("\n```\nB\n"), "{new}");
}
