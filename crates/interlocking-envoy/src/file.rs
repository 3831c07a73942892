//! One protocol's file as it is written, before inheritance.

use crate::fields::{Fields, field_names, list, map, nullable, text};
use crate::key::{self, Edit, StepKey};
use crate::name::{NameError, ProtocolName};
use crate::place::{Place, Spot};
use crate::schema::{Input, InputType, Output};
use crate::yaml::{self, Node, Scalar, Value, YamlProblem};
use granit_parser::ScalarStyle;
use std::collections::BTreeMap;
use std::fmt;

/// One protocol's file as it is written, before inheritance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolFile {
    /// What it calls itself; its file's name is what it is found by.
    pub name: String,
    /// Where it says so.
    pub name_at: Place,
    /// What it is for; none inherits the base's.
    pub description: Option<String>,
    /// The protocol that it changes, and where it says so; none makes it a base.
    pub extends: Option<(ProtocolName, Place)>,
    /// What it takes; none inherits the base's.
    pub inputs: Option<Vec<Input>>,
    /// What it may return; none inherits the base's.
    pub outputs: Option<Vec<Output>>,
    /// What it does with which step, in the order in which that is done.
    pub steps: BTreeMap<(StepKey, Edit), StepText>,
}

/// The text of an entry of `steps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepText {
    /// As written: of block text every byte, but for line ends, which YAML reads as `\n`.
    pub text: String,
    /// Where its key stands.
    pub key_at: Place,
    /// Where the text begins.
    pub text_at: Place,
    /// Whether a line of the text is a line of the file: then places within it can be told.
    pub is_literal: bool,
}

/// Why a text is not a protocol: everything that is wrong with it, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// What is wrong, and where; at least one.
    pub problems: Vec<(Place, FileProblem)>,
}

/// Something wrong with a protocol's file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// It cannot be read as YAML.
    #[error(transparent)]
    Yaml(#[from] YamlProblem),
    /// There is no such field.
    #[error("there is no field `{field}`{}; the fields are {}", maybe(nearest), known.join(", "))]
    UnknownField {
        /// As written.
        field: String,
        /// The field that may be meant.
        nearest: Option<&'static str>,
        /// Those there are.
        known: &'static [&'static str],
    },
    /// A field is missing.
    #[error("the field `{field}` is missing: write it")]
    MissingField {
        /// Its name.
        field: &'static str,
    },
    /// A key is there twice.
    #[error("`{key}` is here twice, first in line {first}: remove one")]
    Duplicate {
        /// As written the second time.
        key: String,
        /// The line of the first.
        first: usize,
    },
    /// A value is of another kind.
    #[error("{what} is to be {wanted}, and here is {found}")]
    Kind {
        /// The field.
        what: String,
        /// What it should be.
        wanted: &'static str,
        /// What it is.
        found: String,
    },
    /// A base cannot be named so.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A step's key is none.
    #[error("{0}; a `+` after it appends to an inherited step")]
    Key(#[from] key::KeyError),
    /// A step has no text.
    #[error("step {key} has no text: write it as a block, after `{key}: |`")]
    NoText {
        /// As written.
        key: String,
    },
    /// A base appends, and there is nothing that it could append to.
    #[error(
        "`{key}+` appends to an inherited step, and this protocol inherits none: name a base with `extends`, or write the \
         whole text under `{key}`"
    )]
    AppendInBase {
        /// The step.
        key: StepKey,
    },
    /// A base without steps.
    #[error("a protocol that extends none needs steps: write at least `1`")]
    NoSteps,
}

const FIELDS: &[&str] = &["name", "description", "extends", "inputs", "outputs", "steps"];

impl ProtocolFile {
    /// Reads a file's content; `file` is how places in it are called.
    ///
    /// # Errors
    ///
    /// [`FileError`] with everything that is wrong; with text that is not YAML, or larger or deeper than a protocol is,
    /// the first.
    pub fn parse(file: &str, content: &[u8]) -> Result<Self, FileError> {
        let root = yaml::parse(content)
            .map_err(|(spot, problem)| FileError { problems: vec![(spot.of(file), problem.into())] })?;
        let mut problems = Vec::new();
        let parsed = read(file, &root, &mut problems);
        match parsed {
            Some(parsed) if problems.is_empty() => Ok(parsed),
            _ => {
                problems.sort_by_key(|(spot, _)| (spot.line, spot.column));
                Err(FileError { problems: problems.into_iter().map(|(spot, told)| (spot.of(file), told)).collect() })
            }
        }
    }
}

/// What is wrong so far.
pub(crate) type Problems = Vec<(Spot, FileProblem)>;

fn read(file: &str, root: &Node, problems: &mut Problems) -> Option<ProtocolFile> {
    let fields = Fields::of(root, "a protocol", FIELDS, problems)?;
    let name = fields.required("name", problems);
    let name_at = name.map_or(root.at, |name| name.at).of(file);
    let name = name.and_then(|name| text(name, "`name`", problems));
    let description = fields.get("description").and_then(nullable);
    let description = description.and_then(|description| text(description, "`description`", problems));
    let extends = fields.get("extends").and_then(nullable).and_then(|base| {
        let name = text(base, "`extends`", problems)?;
        let name = name.parse().map_err(|error: NameError| problems.push((base.at, error.into()))).ok()?;
        Some((name, base.at.of(file)))
    });
    let inputs = fields.get("inputs").and_then(nullable);
    let inputs = inputs.and_then(|inputs| list(inputs, "`inputs`", problems, read_input));
    let outputs = fields.get("outputs").and_then(nullable);
    let outputs = outputs.and_then(|outputs| list(outputs, "`outputs`", problems, read_output));
    // A base that cannot be told is a base nevertheless: its `6+` is not one more mistake.
    let is_base = !fields.names("extends");
    let steps = match fields.required("steps", problems) {
        None => BTreeMap::new(),
        Some(steps) => match nullable(steps) {
            Some(steps) => read_steps(file, steps, is_base, problems),
            None => BTreeMap::new(),
        },
    };
    if is_base && steps.is_empty() && problems.is_empty() {
        problems.push((root.at, FileProblem::NoSteps));
    }
    Some(ProtocolFile { name: name?, name_at, description, extends, inputs, outputs, steps })
}

fn read_input(node: &Node, problems: &mut Problems) -> Option<Input> {
    let fields = Fields::of(node, "an input", field_names::INPUT, problems)?;
    let name = fields.required("name", problems).and_then(|name| text(name, "an input's `name`", problems));
    let kind = fields.required("type", problems).and_then(|kind| {
        let told = text(kind, "an input's `type`", problems)?;
        let found = InputType::ALL.into_iter().find(|known| known.name() == told);
        if found.is_none() {
            problems.push((kind.at, wrong("an input's `type`", "`integer`, `string` or `array`", kind)));
        }
        found
    });
    let optional = fields.get("optional").and_then(nullable).and_then(|optional| {
        let told = text(optional, "`optional`", problems)?;
        let told = told.parse().ok();
        if told.is_none() {
            problems.push((optional.at, wrong("`optional`", "`true` or `false`", optional)));
        }
        told
    });
    let description = fields.get("description").and_then(nullable);
    let description = description.and_then(|description| text(description, "an input's `description`", problems));
    Some(Input {
        name: name?,
        kind: kind?,
        optional: optional.unwrap_or_default(),
        description: description.unwrap_or_default(),
    })
}

fn read_output(node: &Node, problems: &mut Problems) -> Option<Output> {
    let fields = Fields::of(node, "an output", field_names::OUTPUT, problems)?;
    let value = fields.required("value", problems).and_then(|value| text(value, "an output's `value`", problems));
    let description = fields.get("description").and_then(nullable);
    let description = description.and_then(|description| text(description, "an output's `description`", problems));
    Some(Output { value: value?, description: description.unwrap_or_default() })
}

fn read_steps(file: &str, steps: &Node, is_base: bool, problems: &mut Problems) -> BTreeMap<(StepKey, Edit), StepText> {
    let mut read: BTreeMap<(StepKey, Edit), StepText> = BTreeMap::new();
    for (key, value) in map(steps, "`steps`", problems) {
        let Some(written) = text(key, "a step's key", problems) else { continue };
        let (step, edit) = match key::parse_entry(&written) {
            Ok(entry) => entry,
            Err(error) => {
                problems.push((key.at, error.into()));
                continue;
            }
        };
        if let Some(first) = read.get(&(step, edit)) {
            problems.push((key.at, FileProblem::Duplicate { key: written, first: first.key_at.line }));
            continue;
        }
        if is_base && edit == Edit::Append {
            problems.push((key.at, FileProblem::AppendInBase { key: step }));
        }
        let Value::Scalar(Scalar { text, style }) = &value.value else {
            problems.push((value.at, wrong(&format!("step {written}"), "text", value)));
            continue;
        };
        if text.trim().is_empty() || nullable(value).is_none() {
            problems.push((key.at, FileProblem::NoText { key: written }));
            continue;
        }
        let step_text = StepText {
            text: text.clone(),
            key_at: key.at.of(file),
            text_at: value.at.of(file),
            is_literal: *style == ScalarStyle::Literal,
        };
        read.insert((step, edit), step_text);
    }
    read
}

/// The problem that a value is not what it should be.
pub(crate) fn wrong(what: &str, wanted: &'static str, node: &Node) -> FileProblem {
    let found = match &node.value {
        Value::Scalar(scalar) if scalar.is_null() => "nothing".to_owned(),
        Value::Scalar(scalar) => format!("{:?}", scalar.text),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
    };
    FileProblem::Kind { what: what.to_owned(), wanted, found }
}

fn maybe(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(" (did you mean `{nearest}`?)"))
}

/// More than these help nobody at once.
pub(crate) const SHOWN: usize = 20;

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (place, problem)) in self.problems.iter().take(SHOWN).enumerate() {
            write!(f, "{}{place}: {problem}", if index == 0 { "" } else { "\n" })?;
        }
        match self.problems.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            further => write!(f, "\nand {further} further problems"),
        }
    }
}

impl std::error::Error for FileError {}
