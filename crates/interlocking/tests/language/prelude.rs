//! The prelude: each of its items has an example of its own, which is compiled and run with the documentation.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_item_of_the_prelude_has_an_example() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let prelude = fs::read_to_string(crates.join("interlocking/src/prelude.rs")).unwrap();
    let items = items(&prelude);
    assert!(items.contains(&("interlocking-core", "Cx")) && items.contains(&("interlocking-workspaces", "GitContext")));
    let bare = |&&(of, name): &&(&str, &str)| {
        let manifest = fs::read_to_string(crates.join(of).join("Cargo.toml")).unwrap();
        assert!(!manifest.contains("doctest = false"), "the examples of {of} are not run");
        let sources = sources(&crates.join(of).join("src"));
        let docs: Vec<_> = sources.iter().filter_map(|text| docs(text, name)).collect();
        let [docs] = &docs[..] else { panic!("{} definitions of `{name}` in {of}", docs.len()) };
        !has_example(docs)
    };
    let bare: Vec<_> = items.iter().filter(bare).collect();
    assert!(bare.is_empty(), "without an example that is run: {bare:?}");
}

/// The names in `pub use`, each with its crate.
fn items(prelude: &str) -> Vec<(&str, &str)> {
    let used = prelude.split("pub use interlocking_").skip(1).map(|used| used.split_once(';').unwrap().0);
    used.flat_map(|used| {
        let (path, names) = used.split_once('{').or_else(|| used.rsplit_once("::")).unwrap();
        let of = match path.split("::").next().unwrap() {
            "agents" => "interlocking-agents",
            "core" => "interlocking-core",
            // The examples of derives are where the facade exports them: a crate of macros has no use for the
            // executor.
            "macros" => "interlocking",
            "runtime" => "interlocking-runtime",
            "workspaces" => "interlocking-workspaces",
            other => panic!("crate interlocking_{other}"),
        };
        let names = names.trim_end_matches('}').split(',').map(|name| name.trim().trim_end_matches(" as _"));
        names.filter(|name| !name.is_empty()).map(move |name| (of, name))
    })
    .collect()
}

fn sources(directory: &Path) -> Vec<String> {
    let paths: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let read = |path: &PathBuf| match path.is_dir() {
        true => sources(path),
        false => vec![fs::read_to_string(path).unwrap()],
    };
    paths.iter().flat_map(read).collect()
}

/// The lines above the definition of `name`, up to the blank line before.
fn docs<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let kinds =
        ["pub struct ", "pub enum ", "pub trait ", "pub type ", "macro_rules! ", "pub use interlocking_macros::"];
    let defines = |line: &str| {
        let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind)).and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    };
    let line = source.lines().find(|line| defines(line))?;
    let (before, _) = source.split_once(&format!("\n{line}"))?;
    before.rsplit("\n\n").next()
}

/// Whether a fence opens code that is run, and not text, ignored code, or code that is only compiled.
fn has_example(docs: &str) -> bool {
    docs.lines().filter_map(|line| line.strip_prefix("/// ```")).step_by(2).any(str::is_empty)
}

#[test]
fn an_example_is_code_that_is_run() {
    let documented = |fence: &str| {
        format!("struct A;\n\n/// A.\n///\n/// ```{fence}\n/// ();\n/// ```\n#[derive(Debug)]\npub struct B(u8);")
    };
    for (fence, is_one) in [("", true), ("text", false), ("ignore", false), ("no_run", false)] {
        assert_eq!(has_example(docs(&documented(fence), "B").unwrap()), is_one, "{fence}");
    }
    assert_eq!(docs("/// ```\npub struct Bc;", "B"), None);
    assert!(!has_example(docs("/// ```\n/// ```\nstruct A;\n\n/// B.\npub enum B {}", "B").unwrap()), "another's");
}
