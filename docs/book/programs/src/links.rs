//! Tests that the target of each link in the documentation exists: the file, and the heading in it.

use crate::pages::{pages, root};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The book's pages and the Markdown files of the repository's root, crates and examples, as paths and texts.
fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut documents: Vec<_> =
        pages().into_iter().map(|(path, text)| (root.join("docs/book/src").join(path), text)).collect();
    let mut directories = vec![root.clone()];
    for parent in ["crates", "examples"] {
        directories.extend(std::fs::read_dir(root.join(parent)).unwrap().map(|entry| entry.unwrap().path()));
    }
    for directory in directories.iter().filter(|directory| directory.is_dir()) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                documents.push((path, text));
            }
        }
    }
    documents
}

/// The lines outside code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push(line);
        }
    }
    lines
}

/// The targets of all links. Text between backticks is not a link.
fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for line in prose(text) {
        // `[name]: target`
        let defined = line.strip_prefix('[').and_then(|line| line.split_once("]: "));
        targets.extend(defined.map(|(_, target)| target.to_owned()));
        let spoken: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        targets.extend(spoken.split("](").skip(1).map(|link| link.split(')').next().unwrap().to_owned()));
    }
    targets
}

/// The anchors of a document's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let mut seen = BTreeMap::new();
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
        let anchor: String = kept.map(|it| if it == ' ' { '-' } else { it }).collect();
        let count = seen.entry(anchor.clone()).and_modify(|count| *count += 1).or_insert(0);
        if *count == 0 { anchor } else { format!("{anchor}-{count}") }
    };
    headings.map(anchor).collect()
}

/// What is wrong with a link to `target` in `document`, if anything.
fn problem(document: &Path, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let mut file = document.to_owned();
    if !path.is_empty() {
        file = document.parent().unwrap().join(path);
    }
    if !file.exists() {
        return Some("there is no such file".to_owned());
    }
    let book = root().join("docs/book/src");
    let is_outside = file.canonicalize().is_ok_and(|file| !file.starts_with(&book));
    if document.starts_with(&book) && is_outside && path.ends_with(".md") {
        return Some("mdBook makes .html of this: name the directory".to_owned());
    }
    if file.is_dir() {
        file = file.join("README.md");
    }
    let anchor = anchor?;
    let there = if path.is_empty() { text.to_owned() } else { std::fs::read_to_string(file).unwrap_or_default() };
    (!anchors(&there).iter().any(|it| it == anchor)).then(|| "there is no such heading".to_owned())
}

#[test]
fn each_link_leads_somewhere() {
    let documents = documents();
    let mut links = 0;
    let mut wrong = Vec::new();
    for (document, text) in &documents {
        for target in targets(text) {
            links += 1;
            if let Some(problem) = problem(document, text, &target) {
                wrong.push(format!("{}: {target}: {problem}", document.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(documents.len() > 50 && links > 200, "{links} links in {} documents: some are missing", documents.len());
}

#[test]
fn a_wrong_link_is_found() {
    let page = root().join("docs/book/src/why.md");
    let text = "# A b, c!\n## A b, c!\n`[x](y)`\n```text\n[x](y)\n```\n[x](why.md) [y](#a-b-c-1) [z](#b) [w](gone.md) [v](../../../README.md)\n[u]: away.md";
    let found: Vec<_> = targets(text).into_iter().map(|target| problem(&page, text, &target)).collect();
    let expected = [
        None,
        None,
        Some("there is no such heading"),
        Some("there is no such file"),
        Some("mdBook makes .html of this: name the directory"),
        Some("there is no such file"),
    ];
    assert_eq!(found, expected.map(|problem| problem.map(str::to_owned)));
}
