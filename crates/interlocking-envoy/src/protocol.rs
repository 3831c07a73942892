//! A protocol with its inheritance resolved: what is printed, and what a prompt includes.

use crate::key::StepKey;
use crate::name::ProtocolName;
use crate::schema::{Input, Output};
use interlocking_document::Place;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A protocol with its inheritance resolved. Displayed, it is what `envoy protocol` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// Its name, which is that of its file.
    pub name: ProtocolName,
    /// What it is for; may be empty.
    pub description: String,
    /// Those that it extends, the nearest first; of a base none.
    pub extends: Vec<ProtocolName>,
    /// What whoever follows it is given.
    pub inputs: Vec<Input>,
    /// What it may return.
    pub outputs: Vec<Output>,
    /// What to do, in this order.
    pub steps: Vec<Step>,
    /// What is doubtful about its files and stops nobody.
    pub warnings: Vec<Warning>,
}

/// A step of a resolved protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its number, from 1 without gaps: what other steps' texts call it.
    pub number: usize,
    /// What its file calls it.
    pub key: StepKey,
    /// What to do, as written, but that references to steps are their numbers.
    pub text: String,
}

/// Something doubtful about a protocol's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// A file calls its protocol otherwise than it is called itself.
    #[error("{place}: the protocol calls itself `{name}`, and its file is called `{file_name}`: make them the same")]
    NameDiffers {
        /// Where it says so.
        place: Place,
        /// What it says.
        name: String,
        /// The file's name.
        file_name: String,
    },
    /// A text refers to a step that there is not.
    #[error("{place}: `step {key}` refers to no step of `{protocol}`: it is printed as it is written")]
    UnresolvedReference {
        /// Where it does so.
        place: Place,
        /// The step's key as written.
        key: String,
        /// The protocol that was resolved.
        protocol: ProtocolName,
    },
}

/// Some steps of a protocol in a row, numbered as in the whole. Displayed, it is those lines of the whole.
///
/// It owns them: a node's handler keeps one, its prompts borrow it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The steps.
    pub steps: Vec<Step>,
}

/// A protocol has no such step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("protocol `{protocol}` has no step `{key}`: its steps are {}", known.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
pub struct NoStep {
    /// The protocol.
    pub protocol: ProtocolName,
    /// The step asked for.
    pub key: StepKey,
    /// Those that it has.
    pub known: Vec<StepKey>,
}

impl Protocol {
    /// The step of a key.
    ///
    /// # Errors
    ///
    /// [`NoStep`] where there is none.
    pub fn step(&self, key: StepKey) -> Result<&Step, NoStep> {
        self.index_of(key).map(|index| &self.steps[index])
    }

    /// The steps from `first` to `last`, both included, for a prompt that needs no more. None where `last` comes first.
    ///
    /// # Errors
    ///
    /// [`NoStep`] where there is no `first` or no `last`.
    pub fn excerpt(&self, first: StepKey, last: StepKey) -> Result<Excerpt, NoStep> {
        let (first, last) = (self.index_of(first)?, self.index_of(last)?);
        Ok(Excerpt { steps: self.steps.get(first..=last).unwrap_or_default().to_vec() })
    }

    fn index_of(&self, key: StepKey) -> Result<usize, NoStep> {
        self.steps.iter().position(|step| step.key == key).ok_or_else(|| NoStep {
            protocol: self.name.clone(),
            key,
            known: self.steps.iter().map(|step| step.key).collect(),
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Protocol: {}", self.name)?;
        if !self.description.is_empty() {
            writeln!(f, "{}", self.description)?;
        }
        section(f, "Inputs", &self.inputs)?;
        section(f, "Outputs", &self.outputs)?;
        writeln!(f, "\nSteps:")?;
        lines(f, &self.steps)
    }
}

fn section(f: &mut fmt::Formatter<'_>, name: &str, items: &[impl fmt::Display]) -> fmt::Result {
    if items.is_empty() {
        return writeln!(f, "\n{name}: none");
    }
    writeln!(f, "\n{name}:")?;
    items.iter().try_for_each(|item| writeln!(f, "- {item}"))
}

fn lines(f: &mut fmt::Formatter<'_>, steps: &[Step]) -> fmt::Result {
    steps.iter().try_for_each(|step| writeln!(f, "{step}"))
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(f, &self.steps)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, key, text } = self;
        match key.to_string() == number.to_string() {
            true => write!(f, "{number}: {text}"),
            false => write!(f, "{number}: [{key}] {text}"),
        }
    }
}
