//! The collected modules: their definitions, imports and implementations.

use super::item::ApiKind;

/// A position in a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) column: usize,
}

#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) name: String,
    pub(super) is_public: bool,
    pub(super) parent: Option<usize>,
    pub(super) conditions: String,
    pub(super) place: Place,
    pub(super) definitions: Vec<Definition>,
    pub(super) imports: Vec<Import>,
    pub(super) children: Vec<usize>,
    /// Whether the module's items are in another file.
    pub(super) is_elsewhere: bool,
}

/// A type, a trait, a function, a constant.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) is_public: bool,
    /// For a type alias, the path of the type for which it stands.
    pub(super) stands_for: Option<Vec<String>>,
    /// The definition itself and its parts: fields, variants, functions of a trait.
    pub(super) parts: Vec<Part>,
}

#[derive(Debug)]
pub(super) struct Part {
    /// The part's name within the definition; `None` for the definition itself and for implementations of traits.
    pub(super) name: Option<String>,
    pub(super) kind: ApiKind,
    pub(super) signature: String,
    pub(super) place: Place,
}

/// An import, such as `use path::name as other;`.
#[derive(Debug)]
pub(super) struct Import {
    /// The name in this module; `None` for a glob import.
    pub(super) name: Option<String>,
    pub(super) path: Vec<String>,
    pub(super) is_public: bool,
    pub(super) conditions: String,
    pub(super) place: Place,
}

/// An `impl` block.
#[derive(Debug)]
pub(super) struct Implementation {
    pub(super) module: usize,
    /// The path of the type, if the type is a path.
    pub(super) of: Option<Vec<String>>,
    /// The type as it is written.
    pub(super) written: String,
    /// The trait's path.
    pub(super) implemented: Option<Vec<String>>,
    /// The trait's implementation itself, or the type's public functions and constants.
    pub(super) parts: Vec<Part>,
}
