//! An item that other crates can name.

use serde::{Deserialize, Serialize};

/// An item that other crates can name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiItem {
    /// The item's public path within the crate: `inner::Stack::push`. The implementation of a trait has the path of the type.
    pub path: String,
    /// The kind of the item.
    pub kind: ApiKind,
    /// The item's signature: `fn push(&mut self, _: u8) -> Result<(), Full>`.
    pub signature: String,
    /// The file that defines the item.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApiKind {
    /// A module.
    Module,
    /// A function, or a method.
    Function,
    /// A struct, an enum, a union, or a type alias.
    Type,
    /// A field of a struct or union.
    Field,
    /// A variant of an enum.
    Variant,
    /// A trait.
    Trait,
    /// A trait that a type implements.
    Implementation,
    /// A constant, or a static.
    Constant,
    /// A macro, or a call of a macro in the place of an item.
    Macro,
    /// A re-export from another crate, or from a file that was not given.
    Import,
    /// Unknown syntax.
    Unknown,
}
