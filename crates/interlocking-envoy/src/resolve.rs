//! Inheritance: merges a protocol's files, beginning with its base, to one list of numbered steps.

use crate::file::{ProtocolFile, StepText};
use crate::key::{Edit, StepKey};
use crate::library::{Library, ReadError};
use crate::name::ProtocolName;
use crate::protocol::{Protocol, Step, Warning};
use crate::reference::rewrite;
use interlocking_document::Place;
use std::collections::BTreeMap;

/// Why a protocol cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The protocol's file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file names a base that cannot be read.
    #[error("{at}: `{name}` extends a protocol that cannot be loaded")]
    Base {
        /// The protocol that names the base.
        name: ProtocolName,
        /// The place where it names the base.
        at: Place,
        /// Why the base cannot be read.
        source: Box<ReadError>,
    },
    /// Protocols extend each other in a cycle.
    #[error("{at}: these extend each other in a circle: {}", circle(names))]
    Cycle {
        /// The protocols in the cycle: each extends the next, and the last extends the first.
        names: Vec<ProtocolName>,
        /// The place where the last names the first.
        at: Place,
    },
    /// Entries of `steps` refer to steps that do not exist.
    #[error("{}", told(problems))]
    Steps {
        /// The problems of all entries. The message has the first twenty, and the number of the others.
        problems: Vec<StepProblem>,
    },
}

/// An entry of `steps` refers to a step that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepProblem {
    /// The entry appends to a step that does not exist.
    #[error("{at}: `{key}+` appends to a step that is not inherited: write `{key}`, or name one of {}", listed(known))]
    AppendToNothing {
        /// The place of the entry.
        at: Place,
        /// The step.
        key: StepKey,
        /// The existing steps; of many, those nearest to it.
        known: Vec<StepKey>,
    },
    /// The entry inserts a step after a step that does not exist.
    #[error("{at}: `{key}` must come after step {after}, but there is no such step: name one of {}", listed(known))]
    InsertAfterNothing {
        /// The place of the entry.
        at: Place,
        /// The step.
        key: StepKey,
        /// The step after which it should be inserted.
        after: StepKey,
        /// The existing steps; of many, those nearest to it.
        known: Vec<StepKey>,
    },
}

impl StepProblem {
    /// The place of the entry.
    pub fn at(&self) -> &Place {
        match self {
            Self::AppendToNothing { at, .. } | Self::InsertAfterNothing { at, .. } => at,
        }
    }
}

impl Library {
    /// Reads a protocol and resolves its inheritance.
    ///
    /// # Errors
    ///
    /// [`ResolveError`] if the protocol or a base does not exist, a file is invalid, protocols extend each other in a cycle, or
    /// an entry refers to a step that does not exist.
    pub fn resolve(&self, name: &ProtocolName) -> Result<Protocol, ResolveError> {
        resolve(self.chain(name)?)
    }

    /// The files of a protocol and of those that it extends, the nearest first.
    fn chain(&self, name: &ProtocolName) -> Result<Vec<(ProtocolName, ProtocolFile)>, ResolveError> {
        let mut chain = vec![(name.clone(), self.read(name)?)];
        while let Some((name, ProtocolFile { extends: Some((base, at)), .. })) = chain.last() {
            if let Some(first) = chain.iter().position(|(name, _)| name == base) {
                let names = chain[first..].iter().map(|(name, _)| name.clone()).collect();
                return Err(ResolveError::Cycle { names, at: at.clone() });
            }
            let read = self.read(base).map_err(|source| ResolveError::Base {
                name: name.clone(),
                at: at.clone(),
                source: Box::new(source),
            });
            let base = (base.clone(), read?);
            chain.push(base);
        }
        Ok(chain)
    }
}

/// The texts of each step so far: the text that was set, then those that were appended.
type Texts = BTreeMap<StepKey, Vec<StepText>>;

/// The most steps and problems that a message lists: an agent may have written a file with thousands.
const MOST_LISTED: usize = 20;

fn resolve(chain: Vec<(ProtocolName, ProtocolFile)>) -> Result<Protocol, ResolveError> {
    let mut names: Vec<ProtocolName> = chain.iter().map(|(name, _)| name.clone()).collect();
    let (mut description, mut inputs, mut outputs) = (None, None, None);
    let (mut texts, mut problems, mut warnings) = (Texts::new(), Vec::new(), Vec::new());
    for (file_name, file) in chain.into_iter().rev() {
        if file.name != file_name.as_str() {
            let file_name = file_name.to_string();
            warnings.push(Warning::NameDiffers { place: file.name_at, name: file.name, file_name });
        }
        description = file.description.or(description);
        inputs = file.inputs.or(inputs);
        outputs = file.outputs.or(outputs);
        let entries = file.steps.into_iter();
        let mut of_file: Vec<_> =
            entries.filter_map(|((key, edit), text)| apply(&mut texts, key, edit, text).err()).collect();
        of_file.sort_by_key(|problem| problem.at().line);
        problems.extend(of_file);
    }
    if !problems.is_empty() {
        return Err(ResolveError::Steps { problems });
    }
    let name = names.remove(0);
    let steps = numbered(&name, &texts, &mut warnings);
    let description = description.unwrap_or_default();
    let (inputs, outputs) = (inputs.unwrap_or_default(), outputs.unwrap_or_default());
    Ok(Protocol { name, description, extends: names, inputs, outputs, steps, warnings })
}

/// Applies an entry. A file's entries are applied in order, so that steps which the file sets exist when it appends or inserts.
fn apply(texts: &mut Texts, key: StepKey, edit: Edit, text: StepText) -> Result<(), StepProblem> {
    match edit {
        Edit::Append => match texts.get_mut(&key) {
            Some(texts) => texts.push(text),
            None => return Err(StepProblem::AppendToNothing { at: text.key_at, key, known: nearest(texts, key) }),
        },
        Edit::Set => {
            if let Some(after) = key.inserted_after()
                && !texts.contains_key(&after)
            {
                let known = nearest(texts, after);
                return Err(StepProblem::InsertAfterNothing { at: text.key_at, key, after, known });
            }
            texts.insert(key, vec![text]);
        }
    }
    Ok(())
}

/// The keys of the steps nearest to a key, in order.
fn nearest(texts: &Texts, key: StepKey) -> Vec<StepKey> {
    let before = texts.range(..key).rev().take(MOST_LISTED / 2).map(|(key, _)| *key);
    let mut keys: Vec<_> = before.collect();
    keys.reverse();
    keys.extend(texts.range(key..).take(MOST_LISTED - keys.len()).map(|(key, _)| *key));
    keys
}

/// Numbers the steps, and replaces references between them by numbers.
fn numbered(protocol: &ProtocolName, texts: &Texts, warnings: &mut Vec<Warning>) -> Vec<Step> {
    let numbers: BTreeMap<StepKey, usize> = texts.keys().copied().zip(1..).collect();
    let mut steps = Vec::with_capacity(texts.len());
    for (&key, texts) in texts {
        let mut whole = String::new();
        for part in texts {
            let rewritten = rewrite(&part.text, |key| numbers.get(&key).copied());
            let mut place_of = part.places();
            for (at, key) in rewritten.unresolved {
                let (place, protocol) = (place_of(at), protocol.clone());
                warnings.push(Warning::UnresolvedReference { place, key, protocol });
            }
            if !whole.is_empty() {
                whole.truncate(whole.trim_end().len());
                whole.push('\n');
            }
            whole.push_str(&rewritten.text);
        }
        if whole.ends_with('\n') {
            whole.pop();
        }
        steps.push(Step { number: numbers[&key], key, text: whole });
    }
    steps
}

impl StepText {
    /// Returns a function that gives the places of byte offsets, which must be queried in order.
    fn places(&self) -> impl FnMut(usize) -> Place {
        let (mut place, mut queried) = (self.text_at.clone(), 0);
        if self.is_literal {
            // The place is that of the first line with content, and blank lines before it are part of the text.
            let blank = self.text.len() - self.text.trim_start_matches('\n').len();
            place.line -= blank.min(place.line - 1);
        }
        move |byte| {
            if self.is_literal {
                let further = &self.text[queried..byte];
                let line = further.rsplit('\n').next().unwrap_or_default();
                if line.len() < further.len() {
                    place.line += further.matches('\n').count();
                    place.column = self.text_at.column;
                }
                place.column += line.chars().count();
                queried = byte;
            }
            place.clone()
        }
    }
}

fn circle(names: &[ProtocolName]) -> String {
    names.iter().chain(names.first()).map(ToString::to_string).collect::<Vec<_>>().join(" → ")
}

fn told(problems: &[StepProblem]) -> String {
    let mut lines: Vec<String> = problems.iter().take(MOST_LISTED).map(ToString::to_string).collect();
    if let Some(further) = problems.len().checked_sub(MOST_LISTED).filter(|further| *further > 0) {
        lines.push(format!("and {further} further problems"));
    }
    lines.join("\n")
}

fn listed(known: &[StepKey]) -> String {
    known.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
