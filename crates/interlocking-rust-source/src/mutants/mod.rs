//! Mutants: small changes to the code of functions, each of which good tests notice.
//!
//! To judge tests, mutants are applied one by one, and the changed code is built and tested. This module finds the changes on the
//! syntax; `interlocking_toolchain::MutantTrials` builds and tests.

mod bodies;
mod claimed;
mod find;

use crate::SourceError;
use crate::syntax::read;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

pub use claimed::{ClaimError, claimed_edit};

/// The most mutants that are listed for one file.
pub const MAX_MUTANTS: usize = 20_000;

/// A change to a function that a test should notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mutant {
    /// The kind of the change.
    pub kind: MutationKind,
    /// The change.
    pub edit: Edit,
}

/// The kinds of mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MutationKind {
    /// A limit is moved: `<` becomes `<=`, `..` becomes `..=`.
    Boundary,
    /// A condition is negated: `==` becomes `!=`, `if a` becomes `if !(a)`, `true` becomes `false`.
    ConditionFlip,
    /// A number is increased by one.
    OffByOne,
    /// Two neighbouring arguments are swapped.
    SwappedArguments,
    /// A check is removed: an `if` that only leaves the function or a loop, an assertion, a `?` whose value is not used.
    RemovedCheck,
    /// An operator is replaced: `+` becomes `-`, `&&` becomes `||`.
    ChangedOperator,
    /// A branch of an `if` with `else` or of a `match` is replaced by its neighbour.
    WrongBranch,
}

impl fmt::Display for MutationKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Boundary => "boundary",
            Self::ConditionFlip => "condition flip",
            Self::OffByOne => "off by one",
            Self::SwappedArguments => "swapped arguments",
            Self::RemovedCheck => "removed check",
            Self::ChangedOperator => "changed operator",
            Self::WrongBranch => "wrong branch",
        })
    }
}

/// A place in the body of a function, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// The file's path, as given.
    pub path: String,
    /// The function, with its modules within the file and its type: `Stack::push`.
    pub function: String,
    /// The line in which the place begins, counted from 1.
    pub line: usize,
    /// The column in which the place begins, counted from 1.
    pub column: usize,
    /// The text to be replaced.
    pub original: String,
    /// The text that replaces it.
    pub replacement: String,
    /// The byte range of the place in the text.
    pub range: Range<usize>,
    /// The byte offset after the opening brace of the innermost block around the place.
    block_start: usize,
}

impl Edit {
    /// The text with the change; `None` if the original is not at its place, because the text is another one.
    pub fn apply(&self, text: &str) -> Option<String> {
        (text.get(self.range.clone())? == self.original)
            .then(|| [&text[..self.range.start], &self.replacement, &text[self.range.end..]].concat())
    }

    /// The text with a compile error at the place of the change. If the text builds nevertheless, the changed code is not
    /// compiled, because of a `cfg` or because no module names the file. `None` as in [`apply`](Self::apply).
    pub fn with_compile_error(&self, text: &str) -> Option<String> {
        self.apply(text)?;
        let (before, behind) = text.split_at_checked(self.block_start)?;
        Some(format!("{before} ::core::compile_error!(\"this is compiled\"); {behind}"))
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, function, line, column, original, replacement, .. } = self;
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (original, replacement) = (one_line(original), one_line(replacement));
        write!(out, "{path}:{line}:{column}: in `{function}`, ")?;
        match &replacement[..] {
            "" => write!(out, "`{original}` is left out"),
            _ => write!(out, "`{original}` becomes `{replacement}`"),
        }
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.edit, self.kind)
    }
}

/// Lists the mutants of a file in the file's order, at most [`MAX_MUTANTS`].
///
/// Mutants change the bodies of functions and methods. They do not change tests, code that is compiled only for tests, constants,
/// types, patterns and the arguments of macros. Statements and arms under a `cfg` of their own are left out, as they may not be
/// compiled. Left out are also changes of more than 2,000 bytes, and functions whose full names have more than 500 bytes. Not
/// every mutant builds, and some behave like the original.
///
/// # Errors
///
/// [`SourceError`] if the file is not Rust.
pub fn mutants(path: &str, text: &str) -> Result<Vec<Mutant>, SourceError> {
    read(path, text, |file| {
        let mut found = Vec::new();
        for body in bodies::bodies(text, file) {
            find::mutants_of(path, text, &body, &mut found);
        }
        found.sort_by(|one: &Mutant, other: &Mutant| {
            let order = |mutant: &Mutant| (mutant.edit.range.start, mutant.edit.range.end, mutant.kind);
            order(one).cmp(&order(other)).then_with(|| one.edit.replacement.cmp(&other.edit.replacement))
        });
        found.dedup_by(|one, other| {
            one.edit.range == other.edit.range && one.edit.replacement == other.edit.replacement
        });
        found.truncate(MAX_MUTANTS);
        number_lines(text, &mut found);
        found
    })
}

/// Fills in the lines and columns of sorted mutants.
fn number_lines(text: &str, found: &mut [Mutant]) {
    let (mut at, mut line, mut column) = (0, 1, 1);
    for mutant in found {
        for character in text[at..mutant.edit.range.start].chars() {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        at = mutant.edit.range.start;
        (mutant.edit.line, mutant.edit.column) = (line, column);
    }
}

/// At most `most` of these mutants, evenly distributed over the list. The selection is deterministic.
pub fn sample(mutants: &[Mutant], most: usize) -> Vec<Mutant> {
    let taken = most.min(mutants.len());
    (0..taken).map(|at| mutants[at * mutants.len() / taken].clone()).collect()
}

#[cfg(test)]
mod tests;
