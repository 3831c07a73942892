//! Mutants: small changes to the code of functions, each of which a good test notices.
//!
//! Whoever wants to know whether tests are worth something applies mutants one by one, builds, and runs the tests. What is changed is
//! decided here, on the syntax; building and running is somebody else's (`interlocking_toolchain::MutantTrials`).

mod bodies;
mod claimed;
mod find;

use crate::SourceError;
use crate::syntax::read;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

pub use claimed::{ClaimError, claimed_edit};

/// The most mutants that are listed of one file.
pub const MAX_MUTANTS: usize = 20_000;

/// A change to a function that a test should notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mutant {
    /// What kind of change it is.
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
    /// A condition is turned round: `==` becomes `!=`, `if a` becomes `if !(a)`, `true` becomes `false`.
    ConditionFlip,
    /// A number is one more.
    OffByOne,
    /// Two neighbouring arguments change places.
    SwappedArguments,
    /// A check is left out: an `if` that only leaves the function or a loop, an assertion, a `?` whose value nobody wants.
    RemovedCheck,
    /// An operator is another one: `+` becomes `-`, `&&` becomes `||`.
    ChangedOperator,
    /// A branch does what its neighbour does: of an `if` with `else`, or of a `match`.
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

/// A place in the body of a function, and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// The file, as it was named.
    pub path: String,
    /// The function, with its modules within the file and its type: `Stack::push`.
    pub function: String,
    /// The line that the place begins in, counted from 1.
    pub line: usize,
    /// The column that it begins in, counted from 1.
    pub column: usize,
    /// What stands there.
    pub original: String,
    /// What is to stand there instead.
    pub replacement: String,
    /// The place, in bytes from the beginning of the text.
    pub range: Range<usize>,
    /// Where the innermost block around it begins, behind its brace, in bytes.
    block_start: usize,
}

impl Edit {
    /// The text with the change; none if what is to be replaced is not there, because it is another text.
    pub fn apply(&self, text: &str) -> Option<String> {
        (text.get(self.range.clone())? == self.original)
            .then(|| [&text[..self.range.start], &self.replacement, &text[self.range.end..]].concat())
    }

    /// The text with an error in place of the change: what builds with it does not have the changed code at all, because of a `cfg` or
    /// since no module names the file. None as in [`apply`](Self::apply).
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

/// Lists the mutants of a file in its order, at most [`MAX_MUTANTS`].
///
/// Changed is what stands in the bodies of functions and methods: neither tests, nor what is compiled for tests alone, nor constants,
/// types, patterns and the arguments of macros. Statements and arms under a `cfg` of their own are left out, as nothing tells
/// whether they are compiled; so are changes of more than 2,000 bytes, and functions whose full names have more than 500. Not every mutant builds, and some do the same as the original.
///
/// # Errors
///
/// [`SourceError`] where the file is not Rust.
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

/// Fills in lines and columns of mutants in their order.
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

/// At most so many of these mutants, evenly over the whole list; always the same ones.
pub fn sample(mutants: &[Mutant], most: usize) -> Vec<Mutant> {
    let taken = most.min(mutants.len());
    (0..taken).map(|at| mutants[at * mutants.len() / taken].clone()).collect()
}

#[cfg(test)]
mod tests;
