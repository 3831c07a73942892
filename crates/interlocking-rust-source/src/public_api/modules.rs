//! Modules as data: what is defined in each, what it imports, and what is implemented in it.

use super::item::ApiKind;

/// Where something stands.
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
    /// Whether its file was not given.
    pub(super) is_elsewhere: bool,
}

/// A type, a trait, a function, a constant.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) is_public: bool,
    /// Of another name of a type: the path that it is another name of, if it is one.
    pub(super) stands_for: Option<Vec<String>>,
    /// Itself, and what belongs to it: fields, variants, functions of a trait.
    pub(super) parts: Vec<Part>,
}

#[derive(Debug)]
pub(super) struct Part {
    /// Its name within the definition; none for the definition itself, and for what it implements.
    pub(super) name: Option<String>,
    pub(super) kind: ApiKind,
    pub(super) signature: String,
    pub(super) place: Place,
}

/// `use path::name as other;`
#[derive(Debug)]
pub(super) struct Import {
    /// What it is called here; none for all names of a module.
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
    /// The path of its type, if it is one.
    pub(super) of: Option<Vec<String>>,
    /// The type as it is written.
    pub(super) written: String,
    /// The trait's path.
    pub(super) implemented: Option<Vec<String>>,
    /// The trait's implementation itself, or the type's public functions and constants.
    pub(super) parts: Vec<Part>,
}
