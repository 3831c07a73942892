//! The compiler messages in README.md and on the book's pages are those of the compiler.

#![expect(clippy::unwrap_used, reason = "a page that cannot be read should fail its test")]

use super::mended::without_place;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The files of a directory with this ending: their names without the ending, and their texts.
fn texts(directory: &Path, ending: &str) -> Vec<(String, String)> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let named = paths.filter_map(|path| Some((path.file_name()?.to_str()?.strip_suffix(ending)?.to_owned(), path)));
    named.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
}

/// The blocks of this kind on a page.
fn blocks<'p>(page: &'p str, kind: &str) -> Vec<&'p str> {
    let start = format!("\n```{kind}\n");
    page.split(&start).skip(1).map(|rest| rest.split_once("\n```").unwrap().0).collect()
}

/// Each shown message begins with an error and consists of whole lines of the compiler's message for a file of
/// `compile-fail`.
#[test]
fn every_message_that_is_shown_is_the_compilers() {
    let said = texts(&root().join("tests/compile-fail"), ".stderr");
    let said: Vec<String> = said.iter().map(|(_, stderr)| format!("\n{}\n", without_place(stderr))).collect();
    let book = root().join("docs/book/src");
    let chapters = fs::read_dir(&book).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut pages: Vec<_> = chapters.chain([book.clone()]).flat_map(|chapter| texts(&chapter, ".md")).collect();
    pages.push(("README".to_owned(), fs::read_to_string(root().join("README.md")).unwrap()));
    let mut shown = 0;
    for (name, page) in &pages {
        for message in blocks(page, "text").into_iter().filter(|text| text.starts_with("error")) {
            assert!(said.iter().any(|said| said.contains(&format!("\n{message}\n"))), "{name}.md:\n{message}");
            shown += 1;
        }
    }
    assert!(shown >= 13, "{shown}");
}

/// README.md says which of its lines must be changed for each message: those files are the README's code with that change.
#[test]
fn the_readme_shows_what_is_said_of_its_own_code() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let [code, _] = blocks(&readme, "rust")[..] else { panic!("README.md has two graphs") };
    let [route, end] = blocks(&readme, "text")[..] else { panic!("README.md shows two messages") };
    for (name, message, line, changed) in [
        (
            "readme_route",
            route,
            "goto!(cx, newsroom::exit, cx.input_of::<newsroom::judge>()?)",
            "goto!(cx, newsroom::judge, cx.input_of::<newsroom::judge>()?)",
        ),
        ("readme_no_end", end, "goto(write, exit))]", "goto(write))]"),
    ] {
        let read =
            |ending: &str| fs::read_to_string(root().join(format!("tests/compile-fail/{name}{ending}"))).unwrap();
        assert_eq!(code.matches(line).count(), 1, "{line}");
        let about = "//! The first graph of README.md, with one mistake.\n\n";
        assert_eq!(read(".rs"), format!("{about}{}\n", code.replace(line, changed)), "{name}");
        assert!(format!("{}\n", without_place(&read(".stderr"))).starts_with(&format!("{message}\n")), "{name}");
    }
    for quoted in ["with `goto!(cx, newsroom::judge, …)`", "take `exit` out of the gate's `goto(…)`"] {
        assert!(readme.contains(quoted), "{quoted}");
    }
}
