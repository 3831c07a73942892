//! The agents' prompts, as templates over borrowed data.
//!
//! Prompts describe; none contains code to modify (HY-233). A field that a template names and its context lacks is a compile
//! error (HY-234). Commands come from the configured toolchain, other words from the project's language.

mod words;

#[cfg(test)]
mod tests;

use askama::Template;

use self::words::Words;
use crate::language::Language;
use crate::types::{
    ConflictState, CratePath, FixTemplateCtx, ImplTemplateCtx, MutationFixTemplateCtx, MutationTemplateCtx, StackSpec,
    TestsTemplateCtx, TypeHolesFound, TypesAgentOutput,
};
use interlocking::toolchain::Toolchain;

/// Asks for the types and the contract.
#[derive(Debug, Clone, Template)]
#[template(path = "types.md", escape = "none")]
pub struct TypesTpl<'a> {
    spec: &'a StackSpec,
    toolchain: &'a Toolchain,
    markers: String,
    words: &'static Words,
}

/// Asks for types without the holes that were found.
#[derive(Debug, Clone, Template)]
#[template(path = "types_fix.md", escape = "none")]
pub struct TypesFixTpl<'a> {
    found: &'a TypeHolesFound,
    spec: StackSpec,
    toolchain: &'a Toolchain,
    constructors: String,
    markers: String,
    words: &'static Words,
}

/// Asks the red team to break the types.
#[derive(Debug, Clone, Template)]
#[template(path = "type_adversary.md", escape = "none")]
pub struct TypeAdversaryTpl<'a> {
    types: &'a TypesAgentOutput,
    impl_path: CratePath,
    constructors: String,
    constraints: Vec<String>,
    told_by: String,
    words: &'static Words,
}

/// Asks for the properties, blind to the implementation.
#[derive(Debug, Clone, Template)]
#[template(path = "tests.md", escape = "none")]
pub struct TestsTpl<'a> {
    context: &'a TestsTemplateCtx,
    toolchain: &'a Toolchain,
    constructors: String,
    words: &'static Words,
}

/// Asks for the implementation, blind to the properties.
#[derive(Debug, Clone, Template)]
#[template(path = "implementation.md", escape = "none")]
pub struct ImplTpl<'a> {
    context: &'a ImplTemplateCtx,
    toolchain: &'a Toolchain,
    constructors: String,
    words: &'static Words,
}

/// Asks for a repair of the implementation.
#[derive(Debug, Clone, Template)]
#[template(path = "fix.md", escape = "none")]
pub struct FixTpl<'a> {
    context: FixTemplateCtx,
    toolchain: &'a Toolchain,
    words: &'static Words,
}

/// Asks for changes that no test detects.
#[derive(Debug, Clone, Template)]
#[template(path = "mutation_adversary.md", escape = "none")]
pub struct MutationAdversaryTpl<'a> {
    context: &'a MutationTemplateCtx,
    toolchain: &'a Toolchain,
    words: &'static Words,
}

/// Asks for tests that detect them.
#[derive(Debug, Clone, Template)]
#[template(path = "mutation_fix.md", escape = "none")]
pub struct MutationFixTpl<'a> {
    context: MutationFixTemplateCtx,
    toolchain: &'a Toolchain,
    words: &'static Words,
}

/// Asks to resolve conflicts in lines that both sides have written.
#[derive(Debug, Clone, Template)]
#[template(path = "conflict.md", escape = "none")]
pub struct ConflictTpl<'a> {
    state: &'a ConflictState,
}

/// Rules that every agent gets, whatever it is asked: added to its own system prompt.
#[derive(Debug, Clone, Template)]
#[template(path = "ground_rules.md", escape = "none")]
pub struct GroundRules<'a> {
    toolchain: &'a Toolchain,
    words: &'static Words,
}

impl<'a> GroundRules<'a> {
    /// For this toolchain, and a project in this language.
    pub fn new(toolchain: &'a Toolchain, language: Language) -> Self {
        Self { toolchain, words: Words::in_language(language) }
    }
}

impl<'a> TypesTpl<'a> {
    /// A prompt for this task.
    pub fn new(spec: &'a StackSpec, toolchain: &'a Toolchain) -> Self {
        Self { spec, toolchain, markers: markers(toolchain), words: Words::of(&spec.impl_path) }
    }
}

impl<'a> TypesFixTpl<'a> {
    /// A prompt for these holes.
    pub fn new(found: &'a TypeHolesFound, spec: &StackSpec, toolchain: &'a Toolchain) -> Self {
        let constructors = code_list(&found.original_types.constructors, ", ");
        let (markers, words) = (markers(toolchain), Words::of(&spec.impl_path));
        Self { found, spec: spec.clone(), toolchain, constructors, markers, words }
    }
}

impl<'a> TypeAdversaryTpl<'a> {
    /// A prompt for these types, which are in that file, with what is known of each of them.
    pub fn new(types: &'a TypesAgentOutput, impl_path: &CratePath, constraints: Vec<String>, told_by: String) -> Self {
        let constructors = code_list(&types.constructors, ", ");
        let words = Words::of(impl_path);
        Self { types, impl_path: impl_path.clone(), constructors, constraints, told_by, words }
    }
}

impl<'a> TestsTpl<'a> {
    /// A prompt for this contract.
    pub fn new(context: &'a TestsTemplateCtx, toolchain: &'a Toolchain) -> Self {
        let constructors = code_list(&context.constructors, ", ");
        Self { context, toolchain, constructors, words: Words::of(&context.test_path) }
    }
}

impl<'a> ImplTpl<'a> {
    /// A prompt for this contract.
    pub fn new(context: &'a ImplTemplateCtx, toolchain: &'a Toolchain) -> Self {
        let constructors = code_list(&context.constructors, ", ");
        Self { context, toolchain, constructors, words: Words::of(&context.impl_path) }
    }
}

impl<'a> FixTpl<'a> {
    /// A prompt for these failures.
    pub fn new(context: FixTemplateCtx, toolchain: &'a Toolchain) -> Self {
        let words = Words::of(&context.impl_path);
        Self { context, toolchain, words }
    }
}

impl<'a> MutationAdversaryTpl<'a> {
    /// A prompt for this code.
    pub fn new(context: &'a MutationTemplateCtx, toolchain: &'a Toolchain) -> Self {
        Self { context, toolchain, words: Words::of(&context.impl_path) }
    }
}

impl<'a> MutationFixTpl<'a> {
    /// A prompt for these survivors.
    pub fn new(context: MutationFixTemplateCtx, toolchain: &'a Toolchain) -> Self {
        let words = Words::of(&context.test_path);
        Self { context, toolchain, words }
    }
}

impl<'a> ConflictTpl<'a> {
    /// A prompt for these conflicts.
    pub fn new(state: &'a ConflictState) -> Self {
        Self { state }
    }
}

fn markers(toolchain: &Toolchain) -> String {
    code_list(&toolchain.source.stub_markers, " or ")
}

/// `` `a`, `b` ``
fn code_list(items: &[String], separator: &str) -> String {
    items.iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(separator)
}
