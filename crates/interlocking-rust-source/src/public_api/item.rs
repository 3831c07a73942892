//! One thing that others can name.

use serde::{Deserialize, Serialize};

/// One thing that others can name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiItem {
    /// What others call it, from the crate: `inner::Stack::push`. A trait that is implemented is with the type.
    pub path: String,
    /// What it is.
    pub kind: ApiKind,
    /// Its signature: `fn push(&mut self, _: u8) -> Result<(), Full>`.
    pub signature: String,
    /// The file that it is defined in.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApiKind {
    /// A module.
    Module,
    /// A function, or a method.
    Function,
    /// A structure, an enumeration, a union, or a name for a type.
    Type,
    /// A field of a structure.
    Field,
    /// A variant of an enumeration.
    Variant,
    /// A trait.
    Trait,
    /// A trait that a type implements.
    Implementation,
    /// A constant, or a static.
    Constant,
    /// A macro, or a call of one where items stand.
    Macro,
    /// Something of another crate, or of a file that was not given, under a name of one's own.
    Import,
    /// Syntax that is not known.
    Unknown,
}
