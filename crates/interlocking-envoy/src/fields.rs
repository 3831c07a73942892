//! The fields of a map, and values of the kinds that fields have.

use crate::file::{FileProblem, Problems, SHOWN, wrong};
use crate::yaml::{Node, Value};

/// The names of fields, for whoever reads one and for whoever misspells one.
pub(crate) mod field_names {
    pub(crate) const INPUT: &[&str] = &["name", "type", "optional", "description"];
    pub(crate) const OUTPUT: &[&str] = &["value", "description"];
}

/// The fields of a map that are known, each once.
pub(crate) struct Fields<'tree> {
    node: &'tree Node,
    fields: Vec<(&'static str, &'tree Node)>,
}

impl<'tree> Fields<'tree> {
    /// The fields of `node`, which is `what`; of another kind of node, none.
    pub(crate) fn of(
        node: &'tree Node,
        what: &str,
        known: &'static [&'static str],
        problems: &mut Problems,
    ) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            problems.push((node.at, wrong(what, "a map of fields", node)));
            return None;
        };
        let mut fields: Vec<(&'static str, &Node)> = Vec::new();
        let mut lines: Vec<(&str, usize)> = Vec::new();
        for (key, value) in entries {
            let Some(written) = text(key, "a field's name", problems) else { continue };
            let Some(field) = known.iter().find(|field| **field == written) else {
                // What is not shown need not be likened: a hostile file has very many.
                let shown = known.iter().filter(|_| problems.len() < SHOWN);
                let near = shown.copied().find(|field| strsim::damerau_levenshtein(field, &written) <= 2);
                problems.push((key.at, FileProblem::UnknownField { field: written, nearest: near, known }));
                continue;
            };
            if let Some((_, first)) = lines.iter().find(|(name, _)| name == field) {
                problems.push((key.at, FileProblem::Duplicate { key: written, first: *first }));
                continue;
            }
            lines.push((field, key.at.line));
            fields.push((field, value));
        }
        Some(Self { node, fields })
    }

    /// A field's value, if the field is there.
    pub(crate) fn get(&self, field: &str) -> Option<&'tree Node> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, value)| *value)
    }

    /// Whether a field is there and has a value.
    pub(crate) fn names(&self, field: &str) -> bool {
        self.get(field).and_then(nullable).is_some()
    }

    /// A field's value, which must be there.
    pub(crate) fn required(&self, field: &'static str, problems: &mut Problems) -> Option<&'tree Node> {
        let value = self.get(field);
        if value.is_none() {
            problems.push((self.node.at, FileProblem::MissingField { field }));
        }
        value
    }
}

/// A value that is not `null`.
pub(crate) fn nullable(node: &Node) -> Option<&Node> {
    match &node.value {
        Value::Scalar(scalar) if scalar.is_null() => None,
        _ => Some(node),
    }
}

/// A text.
pub(crate) fn text(node: &Node, what: &str, problems: &mut Problems) -> Option<String> {
    match &node.value {
        Value::Scalar(scalar) if !scalar.is_null() => Some(scalar.text.clone()),
        _ => {
            problems.push((node.at, wrong(what, "text", node)));
            None
        }
    }
}

/// The entries of a map; of another kind of node none.
pub(crate) fn map<'tree>(node: &'tree Node, what: &str, problems: &mut Problems) -> &'tree [(Node, Node)] {
    match &node.value {
        Value::Map(entries) => entries,
        _ => {
            problems.push((node.at, wrong(what, "a map", node)));
            &[]
        }
    }
}

/// The items of a list, without those that are wrong.
pub(crate) fn list<T>(
    node: &Node,
    what: &str,
    problems: &mut Problems,
    item: impl Fn(&Node, &mut Problems) -> Option<T>,
) -> Option<Vec<T>> {
    match &node.value {
        Value::List(items) => Some(items.iter().filter_map(|node| item(node, problems)).collect()),
        _ => {
            problems.push((node.at, wrong(what, "a list", node)));
            None
        }
    }
}
