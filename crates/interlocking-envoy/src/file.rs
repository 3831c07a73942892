//! A protocol's file as written, before inheritance.

use crate::key::{self, Edit, StepKey};
use crate::name::{NameError, ProtocolName};
use crate::schema::{Input, Output};
use interlocking_document::{Document, Field, Limits, Place, Problems, Source, TextStyle};
use std::collections::{BTreeMap, BTreeSet};

/// A protocol's file as written, before inheritance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolFile {
    /// The name in the file. Protocols are looked up by the file's name instead.
    pub name: String,
    /// The place of the name.
    pub name_at: Place,
    /// The protocol's description; `None` inherits that of the base.
    pub description: Option<String>,
    /// The protocol that this one extends, and the place where it is named; `None` for a base.
    pub extends: Option<(ProtocolName, Place)>,
    /// The protocol's inputs; `None` inherits those of the base.
    pub inputs: Option<Vec<Input>>,
    /// The protocol's possible outputs; `None` inherits those of the base.
    pub outputs: Option<Vec<Output>>,
    /// The entries of `steps`, in the order in which they are applied.
    pub steps: BTreeMap<(StepKey, Edit), StepText>,
}

/// The text of an entry of `steps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepText {
    /// The text as written. Block text is kept byte for byte, except line ends, which YAML reads as `\n`.
    pub text: String,
    /// The place of the entry's key.
    pub key_at: Place,
    /// The place where the text begins.
    pub text_at: Place,
    /// Whether each line of the text is a line of the file, so that places within the text are known.
    pub is_literal: bool,
}

/// The limits of a file: more bytes and more depth than any protocol needs.
pub(crate) const LIMITS: Limits = Limits { bytes: 1 << 20, depth: 16 };

impl ProtocolFile {
    /// Parses a file's content; `file` is the file name in places.
    ///
    /// # Errors
    ///
    /// All problems of the file; if the text is not YAML or exceeds the limits, only the first.
    pub fn parse(file: &str, content: &[u8]) -> Result<Self, Problems> {
        let document = Document::yaml(Source::new(file, content).with_limits(LIMITS))?;
        document.read(|root, problems| read(file, &root, problems))
    }
}

fn read(file: &str, root: &Field<'_>, problems: &mut Problems) -> Option<ProtocolFile> {
    let mut fields = root.fields(problems)?;
    let name = fields.require("name", problems);
    let name_at = name.as_ref().map_or(root.position(), Field::position).of(file);
    let name = name.and_then(|name| name.read(problems));
    let description = fields.optional("description", None, problems);
    let base = fields.take("extends");
    // With an invalid `extends` the protocol still is not a base, so that its `6+` is not reported as a further mistake.
    let is_base = base.is_none();
    let extends = base.and_then(|base| {
        let name = base.text(problems)?.content.parse();
        let name = name.map_err(|error: NameError| base.refuse(error.to_string(), problems)).ok()?;
        Some((name, base.position().of(file)))
    });
    let inputs = fields.take("inputs").and_then(|inputs| Some(inputs.items(problems)?.collect::<Vec<_>>()));
    let inputs = inputs.map(|inputs| {
        let (mut all, mut names) = (Vec::new(), BTreeSet::new());
        for input in &inputs {
            let Some(read) = read_input(input, problems) else { continue };
            if names.insert(read.name.clone()) {
                all.push(read);
            } else {
                let message = format!("there is an input `{}` already: give this one another name", read.name);
                input.refuse(message, problems);
            }
        }
        all
    });
    let outputs = fields.take("outputs").and_then(|outputs| Some(outputs.items(problems)?.collect::<Vec<_>>()));
    let outputs = outputs.map(|outputs| outputs.iter().filter_map(|output| read_output(output, problems)).collect());
    let steps = fields.require("steps", problems).filter(|steps| !steps.node().is_nothing());
    let steps = steps.map_or_else(BTreeMap::new, |steps| read_steps(file, &steps, is_base, problems));
    fields.finish(problems);
    if is_base && steps.is_empty() && problems.is_empty() {
        root.refuse("a protocol that extends none needs steps: write at least `1`", problems);
    }
    Some(ProtocolFile { name: name?, name_at, description: description?, extends, inputs, outputs, steps })
}

fn read_input(input: &Field<'_>, problems: &mut Problems) -> Option<Input> {
    let mut fields = input.fields(problems)?;
    let name = fields.required("name", problems);
    let kind = fields.required("type", problems);
    let optional = fields.optional("optional", false, problems);
    let description = fields.optional("description", String::new(), problems);
    fields.finish(problems);
    Some(Input { name: name?, kind: kind?, optional: optional?, description: description? })
}

fn read_output(output: &Field<'_>, problems: &mut Problems) -> Option<Output> {
    let mut fields = output.fields(problems)?;
    let value = fields.required("value", problems);
    let description = fields.optional("description", String::new(), problems);
    fields.finish(problems);
    Some(Output { value: value?, description: description? })
}

fn read_steps(
    file: &str,
    steps: &Field<'_>,
    is_base: bool,
    problems: &mut Problems,
) -> BTreeMap<(StepKey, Edit), StepText> {
    let mut read = BTreeMap::new();
    for (key, step) in steps.entries(problems).into_iter().flatten() {
        let at = key.position;
        let (number, edit) = match key::parse_entry(&key.name) {
            Ok(entry) => entry,
            Err(error) => {
                problems.add(at, step.path(), format!("{error}; a `+` after it appends to an inherited step"));
                continue;
            }
        };
        if is_base && edit == Edit::Append {
            let message = format!(
                "this appends to an inherited step, and the protocol inherits none: name a base with `extends`, or write the \
                 whole text under `{number}`"
            );
            problems.add(at, step.path(), message);
        }
        if step.node().is_nothing() || step.node().as_text().is_some_and(|text| text.content.trim().is_empty()) {
            problems.add(at, step.path(), format!("there is no text: write it as a block, after `{}: |`", key.name));
            continue;
        }
        let Some(text) = step.text(problems) else { continue };
        let step_text = StepText {
            text: text.content.clone(),
            key_at: at.of(file),
            text_at: step.position().of(file),
            is_literal: text.style == TextStyle::Block,
        };
        read.insert((number, edit), step_text);
    }
    read
}
