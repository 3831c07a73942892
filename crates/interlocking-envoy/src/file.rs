//! One protocol's file as it is written, before inheritance.

use crate::key::{self, Edit, StepKey};
use crate::name::{NameError, ProtocolName};
use crate::schema::{Input, Output};
use interlocking_document::{Document, Field, Limits, Place, Problems, Source, TextStyle};
use std::collections::BTreeMap;

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

/// More bytes and more depth than any protocol needs.
pub(crate) const LIMITS: Limits = Limits { bytes: 1 << 20, depth: 16 };

impl ProtocolFile {
    /// Reads a file's content; `file` is how places in it are called.
    ///
    /// # Errors
    ///
    /// Everything that is wrong; with text that is not YAML, or larger or deeper than a protocol is, the first.
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
    // A base that cannot be told is a base nevertheless: its `6+` is not one more mistake.
    let is_base = base.is_none();
    let extends = base.and_then(|base| {
        let name = base.text(problems)?.content.parse();
        let name = name.map_err(|error: NameError| base.refuse(error.to_string(), problems)).ok()?;
        Some((name, base.position().of(file)))
    });
    let inputs = fields.take("inputs").and_then(|inputs| Some(inputs.items(problems)?.collect::<Vec<_>>()));
    let inputs = inputs.map(|inputs| inputs.iter().filter_map(|input| read_input(input, problems)).collect());
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
