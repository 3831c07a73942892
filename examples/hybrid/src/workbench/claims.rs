//! The contents of a project's files, with which agents' claims are compared: read as syntax, or from a language server.

use super::{Workbench, aside};
use crate::language::Language;
use crate::resolved::{ProjectAt, ResolvedCalls};
use crate::types::{CratePath, StackSpec};
use interlocking::code_intelligence::SymbolKind;
use interlocking::prelude::NodeError;
use interlocking::rust_source::{
    PropertyTest, PublicFunction, RefusedConstruct, SourceError, Sources, TestFile, TestFunction, hidden_functions,
    library_name, public_functions, test_functions,
};
use interlocking::workspaces::{self, FreshCheckout, NotText};
use interlocking::worktree::CommitId;
use std::collections::BTreeSet;
use std::path::Path;

/// The functions that an implementation has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined {
    /// By their names.
    pub functions: Vec<String>,
    /// The source of the answer.
    pub told_by: String,
}

impl Workbench {
    /// The public functions of the implementation file that an agent has written in a worktree.
    ///
    /// # Errors
    ///
    /// If the file cannot be examined; the inner error if what stands there is not source text.
    pub async fn functions(
        &self,
        worktree: &workspaces::Checkout<'_>,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, NodeError> {
        if Language::of_task(spec) == Language::Python {
            return self.functions_by_server(&worktree.examine().await?, spec).await;
        }
        self.functions_of(worktree.text(spec.impl_path.in_repository()).await?, spec).await
    }

    /// The public functions of the implementation file in a checkout.
    ///
    /// # Errors
    ///
    /// If the file cannot be examined; the inner error if what stands there is not source text.
    pub async fn functions_in(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, NodeError> {
        if Language::of_task(spec) == Language::Python {
            return self.functions_by_server(checked_out, spec).await;
        }
        self.functions_of(checked_out.text(spec.impl_path.in_repository()).await?, spec).await
    }

    async fn functions_of(
        &self,
        read: Result<Option<String>, NotText>,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, NodeError> {
        let text = match source(&spec.impl_path, read) {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        let (path, markers) = (spec.impl_path.clone(), self.markers.clone());
        aside(move || public_functions(path.as_str(), &text, &markers)).await
    }

    /// The functions that the implementation file in a checkout defines with bodies that are not stubs: those among the symbols
    /// that a language server lists, if there is one (HY-159).
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn defined_in(&self, checked_out: &FreshCheckout, spec: &StackSpec) -> Result<Defined, NodeError> {
        let written = self.functions_in(checked_out, spec).await?.unwrap_or_default();
        let finished = written.into_iter().filter(|function| function.is_stub != Some(true));
        let mut functions: Vec<String> = finished.map(|function| function.name).collect();
        let told_by = match self.project_at(checked_out.commit(), spec).await?.symbols().await {
            Ok((symbols, told_by)) => {
                let listed = || symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function);
                functions.retain(|function| listed().any(|symbol| is_of(&symbol.name, function)));
                told_by
            }
            Err(error) => format!("the syntax alone, because {error}"),
        };
        Ok(Defined { functions, told_by })
    }

    /// The constructs of the implementation file in a checkout that can define functions that are not visible in the text.
    ///
    /// # Errors
    ///
    /// If the file cannot be read; the inner error if it is not Rust.
    pub async fn hidden_in(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Result<Vec<RefusedConstruct>, SourceError>, NodeError> {
        if Language::of_task(spec) == Language::Python {
            return Ok(Ok(Vec::new()));
        }
        let text = checked_out.text(spec.impl_path.in_repository()).await??.unwrap_or_default();
        let (path, markers) = (spec.impl_path.clone(), self.markers.clone());
        let allowed = self.toolchain().source.allow.clone();
        aside(move || hidden_functions(path.as_str(), &text, &markers, &allowed)).await
    }

    /// The tests of the test file in a commit that a test run includes, with the modules that they are in; none for a file that
    /// is not in its language.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn tests_at(&self, commit: CommitId, spec: &StackSpec) -> Result<BTreeSet<String>, NodeError> {
        let path = spec.test_path.clone();
        let bytes = self.file_at(commit, path.as_str()).await?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(match Language::of_task(spec) {
            Language::Rust => {
                let is_run =
                    |test: &TestFunction| !test.attributes.iter().any(|it| it.name.as_deref() == Some("ignore"));
                let tests = aside(move || test_functions(path.as_str(), &text)).await?.unwrap_or_default();
                tests.into_iter().filter(is_run).map(|test| test.name).collect()
            }
            Language::Python => {
                let prefix = self.toolchain().source.property_prefix.as_str();
                let functions = text.lines().filter_map(|line| line.trim_start().strip_prefix("def "));
                let names = functions.filter_map(|function| function.split('(').next());
                names.filter(|name| name.starts_with(prefix)).map(str::to_owned).collect()
            }
        })
    }

    /// The properties of the test file in a checkout, and the functions of the implementation that they call.
    ///
    /// # Errors
    ///
    /// If a file cannot be read; the inner error if it is not Rust.
    pub async fn test_file(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Result<TestFile, SourceError>, NodeError> {
        if Language::of_task(spec) == Language::Python {
            return Ok(Ok(TestFile::default()));
        }
        let implementation = checked_out.text(spec.impl_path.in_repository()).await??.unwrap_or_default();
        let tests = checked_out.text(spec.test_path.in_repository()).await??.unwrap_or_default();
        let library = self.library_at(checked_out.commit(), spec).await?;
        let (path, tests_path) = (spec.impl_path.clone(), spec.test_path.clone());
        let prefix = self.toolchain().source.property_prefix.clone();
        aside(move || {
            TestFile::read(Sources {
                library: &library,
                implementation: (path.as_str(), &implementation),
                tests: (tests_path.as_str(), &tests),
                prefix: &prefix,
            })
        })
        .await
    }

    /// The calls of these properties of the test file in a checkout, from a language server.
    ///
    /// # Errors
    ///
    /// If the files cannot be read or copied.
    pub async fn resolve(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        properties: impl Iterator<Item = &PropertyTest>,
    ) -> Result<ResolvedCalls, NodeError> {
        Ok(self.project_at(checked_out.commit(), spec).await?.resolve(properties).await)
    }

    /// The project's files in a commit, and their analyser: a language server, started once a run, or the syntax alone.
    ///
    /// # Errors
    ///
    /// If the files cannot be copied.
    pub async fn project_at<'a>(&'a self, commit: CommitId, spec: &'a StackSpec) -> Result<ProjectAt<'a>, NodeError> {
        let library = self.library_at(commit, spec).await?;
        self.resolver.at(&self.repository, commit, (spec, library)).await
    }

    /// The functions that mutants of a commit may change, private ones too, and the source of the list (HY-164).
    ///
    /// # Errors
    ///
    /// If the files cannot be copied.
    pub async fn mutation_targets(
        &self,
        commit: CommitId,
        spec: &StackSpec,
    ) -> Result<(Vec<String>, String), NodeError> {
        Ok(self.project_at(commit, spec).await?.functions().await)
    }

    /// The name by which tests import the implementation of a commit.
    async fn library_at(&self, commit: CommitId, spec: &StackSpec) -> Result<String, NodeError> {
        for directory in Path::new(spec.impl_path.as_str()).ancestors().skip(1) {
            let manifest = self.file_at(commit, &directory.join("Cargo.toml").to_string_lossy()).await?;
            if let Some(name) = manifest.and_then(|bytes| library_name(&String::from_utf8_lossy(&bytes))) {
                return Ok(name);
            }
        }
        Ok(spec.module_name.split("::").next().unwrap_or_default().to_owned())
    }
}

/// The text of a source file, empty if there is none. Whoever wrote what is no text can correct it.
pub(super) fn source(path: &CratePath, read: Result<Option<String>, NotText>) -> Result<String, SourceError> {
    let refused = |NotText { reason, .. }| SourceError { path: path.to_string(), line: 1, column: 1, reason };
    Ok(read.map_err(refused)?.unwrap_or_default())
}

/// Whether a symbol is this function. A symbol's name begins with the modules that it is written in, and methods can be written in
/// another module than their type.
fn is_of(symbol: &str, function: &str) -> bool {
    symbol.strip_suffix(function).is_some_and(|modules| modules.is_empty() || modules.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HY-159: methods of a public type in a private module of the file are implemented.
    #[test]
    fn a_method_is_found_in_whatever_module_it_is_written() {
        for (symbol, function, expected) in [
            ("BoundedStack::push", "BoundedStack::push", true),
            ("imp::BoundedStack::push", "BoundedStack::push", true),
            ("imp::MyBoundedStack::push", "BoundedStack::push", false),
            ("BoundedStack::push", "BoundedStack::pop", false),
        ] {
            assert_eq!(is_of(symbol, function), expected, "{symbol}");
        }
    }
}
