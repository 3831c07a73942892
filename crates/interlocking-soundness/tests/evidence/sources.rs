//! Finds the graphs that the repository's Rust code derives.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders whose graphs have no tables here, each with the reason.
const WITHOUT_TABLES: [(&str, &str); 3] = [
    (
        "crates/cargo-interlocking/templates",
        "these are written into projects outside the workspace, which are tested there",
    ),
    ("tests/compile-fail", "none of these graphs compiles; what its mended one is stands in tests/derived/mended.rs"),
    ("tests/features/users", "these are of crates outside the workspace, whose tests nobody runs"),
];

/// Graphs whose name comes from a macro: the file, the macro's placeholder for the name, and the name.
const NAMED_BY_A_MACRO: [(&str, &str, &str); 1] = [("tests/derived/from_a_macro.rs", "$graph", "Passing")];

/// All files below `folder` with this extension, sorted.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if name.starts_with('.') || name == "target" {
                continue;
            }
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The package and the name of each struct with `#[derive(Graph)]`, except in comments, documentation and strings.
///
/// The graphs of `README.md` and `docs/book/src/handlers.md` are left out: they are compiled as documentation, where no test can
/// compare a table.
pub(crate) fn derived_graphs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let (mut graphs, mut left_out, mut renamed) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for folder in ["crates", "examples", "tests"] {
        for file in files(&root.join(folder), "rs") {
            let names = structs_with_graph(&std::fs::read_to_string(&file).unwrap());
            let path = file.strip_prefix(&root).unwrap();
            for name in names {
                if let Some((folder, _)) = WITHOUT_TABLES.iter().find(|(folder, _)| path.starts_with(folder)) {
                    left_out.insert(*folder);
                    continue;
                }
                let by_a_macro = |(file, placeholder, _): &&(_, _, _)| path == Path::new(file) && name == *placeholder;
                let name = match NAMED_BY_A_MACRO.iter().find(by_a_macro) {
                    Some((_, _, named)) => {
                        renamed.insert(*named);
                        (*named).to_owned()
                    }
                    None => name,
                };
                graphs.push((package(&file), name));
            }
        }
    }
    assert_eq!(left_out.len(), WITHOUT_TABLES.len(), "an exception that is none: {left_out:?}");
    assert_eq!(renamed.len(), NAMED_BY_A_MACRO.len(), "an exception that is none: {renamed:?}");
    graphs
}

/// The package name in the manifest nearest to `file`.
fn package(file: &Path) -> String {
    let manifest = file.ancestors().map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.exists());
    let manifest = std::fs::read_to_string(manifest.unwrap()).unwrap();
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    name.unwrap().to_owned()
}

/// The structs of a source text whose `derive` has `Graph`, alone or last in a path; it may span several lines.
fn structs_with_graph(text: &str) -> Vec<String> {
    // A derive that is not first on its line is in a comment or in a string.
    let derives =
        text.match_indices("#[derive(").filter(|(at, _)| text[..*at].rsplit('\n').next().unwrap().trim().is_empty());
    let mut names = Vec::new();
    for (at, start) in derives {
        let (derived, rest) = text[at + start.len()..].split_once(')').unwrap();
        if derived.split(',').any(|path| path.rsplit("::").next().unwrap().trim() == "Graph") {
            let lines = rest.lines().filter(|line| !line.trim_start().starts_with("//"));
            let mut words = lines.flat_map(str::split_whitespace).skip_while(|word| *word != "struct");
            names.push(words.nth(1).unwrap().trim_end_matches([';', '{', '<']).to_owned());
        }
    }
    names
}

#[test]
fn derives_are_found_in_code_only() {
    let text = [
        "// #[derive(Graph)]",
        "/// #[derive(Graph)]",
        "struct A;",
        "const B: &str = \"#[derive(Graph)] struct B;\";",
        "#[derive(Debug, Grapheme)]",
        "struct C {",
        "    #[derive(",
        "        Debug,",
        "        interlocking::prelude::Graph,",
        "    )]",
        "    /// A struct in words.",
        "    #[graph(output = u8)]",
        "    pub(crate) struct D {",
        "#[derive(Graph)] struct E{",
    ];
    assert_eq!(structs_with_graph(&text.join("\n")), ["D", "E"]);
}
