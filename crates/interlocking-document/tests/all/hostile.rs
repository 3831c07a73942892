//! Malicious documents are refused, or read with bounded work.

use interlocking_document::{Document, Limits, Problems, Source, markdown};
use proptest::prelude::*;

fn of_all(text: &str) -> [Result<Document, Problems>; 3] {
    let source = Source::new("x", text);
    [Document::toml(source), Document::json(source), Document::yaml(source)]
}

#[test]
fn what_is_deep_or_large_is_refused() {
    let told =
        |text: &str| of_all(text).map(|read| read.err().map(|problems| problems.to_string()).unwrap_or_default());
    let list = format!("{}1{}", "[".repeat(65), "]".repeat(65));
    let [_, json, yaml] = told(&list);
    assert_eq!(json, "x:1:65: lists and tables are nested more than 64 deep: nest them less");
    assert_eq!(yaml, json);
    let [toml, ..] = told(&format!("a = {list}"));
    assert_eq!(toml, "x:1:68: lists and tables are nested more than 64 deep: nest them less");
    let list = format!("{}1{}", "[".repeat(64), "]".repeat(64));
    assert!(of_all(&list)[1..].iter().all(Result::is_ok));
    let nested = format!("a = {}1{}", "[".repeat(63), "]".repeat(63));
    assert!(of_all(&nested)[0].is_ok());
    for open in ["[", "{\"a\":", "{a: ", "- ", "? ", "a = [", "a.", "[a.", "a = {a = ", "[[a]]\n[a."] {
        for read in of_all(&open.repeat(100_000)) {
            // YAML reads some of them as one long word.
            let told = read.map_or_else(|problems| problems.to_string(), |document| document.root().to_string());
            assert!(!told.is_empty() && told.len() < 10_000, "{open}");
        }
    }
    let dotted = format!("{}a = 1", "a.".repeat(70));
    assert!(told(&dotted)[0].contains("nested") || told(&dotted)[0].contains("recursion"), "{}", told(&dotted)[0]);
    let limits = Limits { bytes: 10, depth: 2 };
    let small = |text: &'static str| Source::new("x", text).with_limits(limits);
    assert_eq!(
        Document::json(small("[1, 2, 3, 4]")).unwrap_err().to_string(),
        "x:1:1: the text is larger than 10 bytes: shorten it"
    );
    assert!(Document::json(small("[[1, 2]]")).is_ok());
    assert!(Document::json(small("[[[]]]")).is_err());
    assert!(Document::yaml(small("[[[]]]")).is_err());
}

#[test]
fn a_billion_laughs_are_refused() {
    let mut yaml = "a: &a [lol, lol]\n".to_owned();
    for letter in 'b'..='z' {
        let before = char::from(letter as u8 - 1);
        yaml += &format!("{letter}: &{letter} [*{before}, *{before}, *{before}, *{before}, *{before}]\n");
    }
    let told = Document::yaml(Source::new("x", &yaml)).unwrap_err().to_string();
    assert_eq!(told, "x:1:7: anchors and aliases are not taken: write the text out");
}

/// Very many errors on one very long line: each is located without counting the line again. Otherwise this would take hours.
#[test]
fn many_mistakes_on_a_long_line_are_told_soon() {
    let entries: Vec<String> = (0..200_000).map(|index| format!("\"k{index}\":1")).collect();
    let text = format!("{{{}}}", entries.join(","));
    let document = Document::json(Source::new("x", &text)).unwrap();
    let problems = document.read(|root, problems| {
        root.fields(problems)?.finish(problems);
        Some(())
    });
    let problems = problems.unwrap_err();
    assert_eq!(problems.len(), 200_000);
    assert!(problems.to_string().ends_with("and 199980 further problems"));
    let keys = format!("\"{}\" = 1", "k".repeat(1 << 20));
    let document = Document::toml(Source::new("x", &keys)).unwrap();
    let problems =
        document.read(|root, problems| root.read::<Option<std::collections::BTreeMap<String, bool>>>(problems));
    assert!(problems.unwrap_err().to_string().len() < 1000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every text has a result, and its locations are inside the file.
    #[test]
    fn no_text_is_too_much(
        text in prop_oneof![
            ".{0,100}",
            "[a-c:\\-\\[\\]{}&*!|>'\"%@`#,=.? \n\t0-9.+~\\\\]{0,200}",
            "(a = |\\[a\\.b\\]|\\[\\[a\\]\\]|\"ä\": |- |'x'|1|,|\n|\\{|\\}|\\[|\\]|```yaml\n|```\n|# a){0,40}",
        ],
    ) {
        let mut reads = Vec::from(of_all(&text));
        for block in markdown::blocks(&text) {
            prop_assert!(text.get(block.range.clone()).is_some_and(|whole| whole.contains(block.content)));
            reads.push(Document::yaml(block.source("x")));
        }
        // YAML also takes a carriage return as the end of a line.
        let lines = text.split(['\n', '\r']).count();
        for read in reads {
            let problems = match read {
                Ok(document) => document.read(|root, problems| {
                    root.fields(problems)?.finish(problems);
                    Some(())
                }),
                Err(problems) => Err(problems),
            };
            for problem in problems.err().into_iter().flatten() {
                let (line, column) = (problem.place.line, problem.place.column);
                prop_assert!(line >= 1 && line <= lines + 1 && column >= 1, "{problem}");
            }
        }
    }
}
