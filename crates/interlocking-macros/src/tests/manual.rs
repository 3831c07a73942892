//! Tests that `docs/book/src/graph.md` and the derive's own documentation describe exactly what the derive reads.

use crate::attr::{GRAPH_KEYS, NODE_KEYS};
use crate::errors::Errors;
use crate::read::KINDS;
use crate::{read, validate};
use interlocking_core::table::NodeKind;
use syn::DeriveInput;

const PAGE: &str = include_str!("../../../../docs/book/src/graph.md");
const RUSTDOC: &str = include_str!("../lib.rs");

/// The cells of the rows of the table below this heading, without the head.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let (_, rest) = PAGE.split_once(&format!("\n{heading}\n")).unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let line = line.replace("\\|", "\u{0}");
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
    };
    lines.skip(2).map(cells).collect()
}

/// The code of a cell that has nothing but code in backticks.
fn code(cell: &str) -> &str {
    cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`')).unwrap_or_else(|| panic!("{cell} is no code"))
}

fn names(heading: &str) -> Vec<String> {
    rows(heading).iter().map(|row| code(&row[0]).to_owned()).collect()
}

fn sorted<T: ToString>(names: impl IntoIterator<Item = T>) -> Vec<String> {
    let mut names: Vec<_> = names.into_iter().map(|name| name.to_string()).collect();
    names.sort();
    names
}

/// The errors of a struct's attributes and rows: from reading them only, or from the rules of shape too.
fn errors(text: &str, with_rules: bool) -> Vec<String> {
    let input: DeriveInput = syn::parse_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let errors = Errors::new();
    let graph = read::graph(&input, &errors).unwrap();
    if with_rules {
        validate::shape(&graph, &errors);
    }
    errors.check().err().into_iter().flatten().map(|error| error.to_string()).collect()
}

/// A graph of one node with this attribute.
fn with(attribute: &str, kind: &str) -> String {
    format!("#[graph(output = A)] struct G {{ #[node({attribute})] n: {kind}<H> }}")
}

#[test]
fn each_attribute_has_its_row() {
    assert_eq!(sorted(names("## On a node")), sorted(NODE_KEYS));
    assert_eq!(sorted(names("## Which kind has which")), sorted(NODE_KEYS));
    assert_eq!(sorted(names("## On the struct")), sorted(GRAPH_KEYS));
    assert_eq!(sorted(names("## Kinds")), sorted(KINDS.map(|(name, _)| name)));
}

#[test]
fn each_attribute_is_in_the_documentation_of_the_derive() {
    let cells = RUSTDOC.lines().filter_map(|line| line.strip_prefix("/// | ")?.split(" | ").next());
    let cells: Vec<_> = cells.collect();
    let is_named = |name: &str| {
        let begins = |part: &str| {
            part.starts_with(name) && !part[name.len()..].starts_with(|c: char| c == '_' || c.is_alphanumeric())
        };
        cells.iter().any(|cell| cell.split('`').skip(1).step_by(2).any(begins))
    };
    let missing: Vec<_> =
        NODE_KEYS.into_iter().chain(KINDS.map(|(name, _)| name)).filter(|name| !is_named(name)).collect();
    assert!(missing.is_empty(), "the table of `derive_graph` lacks {missing:?}");
}

#[test]
fn each_example_is_read() {
    for (heading, example) in [("## On a node", 4), ("## In a join", 0), ("## In a goto", 0)] {
        for row in rows(heading) {
            let example = code(&row[example]);
            let key = if heading == "## On a node" { code(&row[0]) } else { heading.rsplit(' ').next().unwrap() };
            assert!(example.starts_with(key), "{example} is no example of {key}");
            assert!(errors(&with(example, "LogicNode"), false).is_empty(), "{example}");
        }
    }
    for row in rows("## On the struct") {
        let example = code(&row[3]);
        assert!(example.starts_with(code(&row[0])), "{example}");
        let output = if example.starts_with("output") { "" } else { ", output = A" };
        assert!(errors(&format!("#[graph({example}{output})] struct G {{}}"), false).is_empty(), "{example}");
    }
}

/// Whether the kind must have the attribute, may have it, or may not.
fn fit(key: &str, (name, kind): (&str, NodeKind)) -> &'static str {
    // An empty row lacks all required attributes.
    let lacks = |message: &String| {
        let of_kind = message.starts_with(name) || message.contains(" reports to the exit: ");
        of_kind && message.contains(&format!(": `{key}"))
    };
    let is_elsewhere = |message: &String| key == "entry" && message.ends_with(": start at another node");
    if validate::misfit(kind, key).is_some() || errors(&with(key, name), true).iter().any(is_elsewhere) {
        ""
    } else if errors(&with("", name), true).iter().any(lacks) {
        "must"
    } else {
        "may"
    }
}

#[test]
fn each_kind_has_the_attributes_that_the_page_says() {
    let mut wrong = String::new();
    for row in rows("## Which kind has which") {
        let key = code(&row[0]);
        let fits: Vec<_> = KINDS.into_iter().map(|kind| fit(key, kind)).collect();
        if row[1..] != fits {
            wrong.push_str(&format!("| `{key}` | {} |\n", fits.join(" | ")));
        }
    }
    assert!(wrong.is_empty(), "docs/book/src/graph.md should say\n{wrong}");
}

/// The examples of the kinds, with the nodes that they lead to.
#[test]
fn each_kind_has_an_example_that_is_right() {
    let fields: Vec<_> = rows("## Kinds").iter().map(|row| code(&row[4]).to_owned()).collect();
    for (row, field) in rows("## Kinds").iter().zip(&fields) {
        let (_, kind) = field.rsplit_once(": ").unwrap();
        assert!(kind.starts_with(code(&row[0])), "{field}");
        let found = errors(&format!("#[graph(output = A)] struct G {{ {field} }}"), true);
        // Errors of a one-node graph about unknown targets and missing edges do not concern the example.
        let of_kind = |message: &&String| {
            message.contains(" has no ") && !message.contains("entry") || message.starts_with("only ")
        };
        assert_eq!(found.iter().find(of_kind), None, "{field}");
    }
}
