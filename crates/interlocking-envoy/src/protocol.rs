//! A protocol with its inheritance resolved, to be printed or included in a prompt.

use crate::key::StepKey;
use crate::name::ProtocolName;
use crate::schema::{Input, Output};
use interlocking_document::Place;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A protocol with its inheritance resolved. `Display` gives what `envoy protocol` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// The protocol's name, which is that of its file.
    pub name: ProtocolName,
    /// The description; may be empty.
    pub description: String,
    /// The protocols that it extends, the nearest first; empty for a base.
    pub extends: Vec<ProtocolName>,
    /// What the agent that follows the protocol is given.
    pub inputs: Vec<Input>,
    /// What the protocol may return.
    pub outputs: Vec<Output>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Doubtful things in the files that do not prevent the protocol's use.
    pub warnings: Vec<Warning>,
}

/// A step of a resolved protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The step's number, counted from 1 without gaps. Texts of other steps refer to it.
    pub number: usize,
    /// The step's key in the file.
    pub key: StepKey,
    /// The text as written, with references to steps replaced by their numbers.
    pub text: String,
}

/// Something doubtful in a protocol's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// The name in a file differs from the file's own name.
    #[error("{place}: the protocol calls itself `{name}`, and its file is called `{file_name}`: make them the same")]
    NameDiffers {
        /// The place of the name.
        place: Place,
        /// The name in the file.
        name: String,
        /// The file's name.
        file_name: String,
    },
    /// A text refers to a step that does not exist.
    #[error("{place}: `step {key}` refers to no step of `{protocol}`: it is printed as it is written")]
    UnresolvedReference {
        /// The place of the reference.
        place: Place,
        /// The step's key as written.
        key: String,
        /// The protocol that was resolved.
        protocol: ProtocolName,
    },
}

/// Consecutive steps of a protocol, with their numbers in the protocol. `Display` gives the same lines as in the whole protocol.
///
/// It owns its steps, so that a node's handler can keep an excerpt and its prompts can borrow it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The steps.
    pub steps: Vec<Step>,
}

/// A protocol does not have the step that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("protocol `{protocol}` has no step `{key}`: its steps are {}", known.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
pub struct NoStep {
    /// The protocol.
    pub protocol: ProtocolName,
    /// The key of the step.
    pub key: StepKey,
    /// The keys of the protocol's steps.
    pub known: Vec<StepKey>,
}

impl Protocol {
    /// The step with a key.
    ///
    /// # Errors
    ///
    /// [`NoStep`] if there is none.
    pub fn step(&self, key: StepKey) -> Result<&Step, NoStep> {
        self.index_of(key).map(|index| &self.steps[index])
    }

    /// The steps from `first` to `last`, both included. Empty if `last` comes before `first`.
    ///
    /// # Errors
    ///
    /// [`NoStep`] if `first` or `last` does not exist.
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
