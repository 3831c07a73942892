//! The words of prompts, by the language of the project.

use crate::language::Language;
use crate::types::CratePath;

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words {
    /// The language's name.
    pub(super) language: &'static str,
    /// What the agent's project is called.
    pub(super) project: &'static str,
    /// The tools of the project.
    pub(super) tools: &'static str,
    /// The files that only the types agent may change, besides files of others.
    pub(super) fixed: &'static str,
    /// What the types agent may change besides its own file, and what it has to provide for the tests.
    pub(super) dependencies: &'static str,
    /// The same for a repair of the types.
    pub(super) unchanged: &'static str,
    /// How types rule out values that must not exist.
    pub(super) sound_types: &'static str,
    /// The possible kinds of a type.
    pub(super) kinds: &'static str,
    /// How a method is named.
    pub(super) method: &'static str,
    /// How an example's outcome is written, and why.
    pub(super) outcomes: &'static str,
    /// What the body of a stub does; a list of markers follows.
    pub(super) stub: &'static str,
    /// The generators of inputs.
    pub(super) generators: &'static str,
    /// Failures that show nothing about the tested code.
    pub(super) not_a_failure: &'static str,
    /// How a property shows that it calls and compares what is claimed.
    pub(super) claims: &'static str,
    /// What a function without an answer does.
    pub(super) fails: &'static str,
    /// A condition, and its inversion.
    pub(super) flipped: [&'static str; 2],
    /// A logical operator, and its replacement.
    pub(super) swapped: [&'static str; 2],
    /// A complete entry of the contract.
    pub(super) entry: &'static str,
    /// What a file may not contain; empty if that is not checked.
    pub(super) refused: &'static str,
}

impl Words {
    /// The words for the language of a file.
    pub(super) fn of(path: &CratePath) -> &'static Self {
        Self::in_language(Language::of(path).unwrap_or(Language::Rust))
    }

    /// The words for a language.
    pub(super) fn in_language(language: Language) -> &'static Self {
        match language {
            Language::Rust => &RUST,
            Language::Python => &PYTHON,
        }
    }
}

static RUST: Words = Words {
    language: "Rust",
    project: "a crate",
    tools: "its properties are written with a library for that, such as proptest",
    fixed: "neither `Cargo.toml` nor its lock",
    dependencies: "Change no other file but `Cargo.toml` and its lock, if the\n   types or their tests need a dependency: nobody can add \
        one after you, and the tests need a library for properties, such as\n   proptest, among the dev-dependencies.",
    unchanged: "Change no other file but `Cargo.toml` and its lock.",
    sound_types: "newtypes with private fields and constructors that can fail",
    kinds: "struct, enum, generic over what, in words",
    method: "Type::method",
    outcomes: "Write `expected` as a Rust\n  expression (`Ok(())`, `Some(4)`): whether a test checks an outcome in words cannot be seen",
    stub: "nothing but",
    generators: "proptest strategies",
    not_a_failure: "a compile error",
    claims: "Call each function by its path, or as a method of a variable whose type\ncan be read (made by a constructor, or \
        annotated: `let stack: T = …`), and outside of macros of your own. An example counts for a\nproperty that uses the values \
        of its input and asserts it: compare what the function returns with its outcome as it stands above.",
    fails: "panics",
    flipped: ["if x", "if !x"],
    swapped: ["&&", "||"],
    entry: include_str!("../../templates/entry_rust.json"),
    refused: "`unsafe`,\n  `extern`, `std::process`, `std::env`, `std::panic`, `std::os`, `include_str!` and its like, `#[macro_export]`, \
        `#[path]`, a\n  condition on `debug_assertions`; in the implementation also `std::fs`, `std::path`, `std::net`, and `cfg(test)` \
        but before `mod`",
};

static PYTHON: Words = Words {
    language: "Python",
    project: "a project",
    tools: "its properties are written with Hypothesis and run by pytest, and Pyright tells which functions there are and what they call",
    fixed: "no file that says how the project is built or tested, such as `pyproject.toml`",
    dependencies: "Change no other file. What the\n   types and their tests can import is what is installed; for properties \
        that is Hypothesis, with pytest.",
    unchanged: "Change no other file.",
    sound_types: "small classes that check what they are made of, and keep their attributes to themselves,",
    kinds: "class, dataclass, enum, generic over what, in words",
    method: "Type.method",
    outcomes: "Write `expected` as a Python\n  expression (`None`, `4`), or as what is raised (`raises Full(1)`): words can be read in two ways",
    stub: "nothing but its documentation and `raise` with",
    generators: "Hypothesis strategies",
    not_a_failure: "an error of syntax or of an import",
    claims: "Call each function by its name, or as a method of a variable whose type\nPyright can tell (made by a constructor, or \
        annotated: `stack: T = …`), within the property itself. What a property compares is\nnot seen, and the result says so: compare \
        what the function returns with its outcome as it stands above all the same.",
    fails: "raises what it does not document",
    flipped: ["if x", "if not x"],
    swapped: ["and", "or"],
    entry: include_str!("../../templates/entry_python.json"),
    refused: "",
};
