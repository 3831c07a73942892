//! Projects that only a language server can read: their functions, and which of their tests' claims hold.

use super::Workbench;
use super::claims::source;
use crate::language::Language;
use crate::types::{CratePath, FunctionSpec, PropertyWritten, StackSpec};
use crate::verdicts::{VerifiedClaims, verify_claims_by_server};
use interlocking::code_intelligence::{Position, Symbol, SymbolKind, is_python_stub};
use interlocking::prelude::NodeError;
use interlocking::rust_source::{MAX_BYTES, PublicFunction, SourceError};
use interlocking::workspaces::FreshCheckout;
use std::collections::BTreeSet;
use std::iter;

impl Workbench {
    /// The public functions of an implementation file that only a language server reads: those whose names do not begin with an
    /// underscore.
    pub(super) async fn functions_by_server(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Result<Vec<PublicFunction>, SourceError>, NodeError> {
        let text = match source(&spec.impl_path, checked_out.text(spec.impl_path.in_repository()).await?) {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(error) = too_long(&spec.impl_path, &text) {
            return Ok(Err(error));
        }
        let (symbols, _) = self.project_at(checked_out.commit(), spec).await?.symbols().await?;
        let markers = &self.toolchain().source.stub_markers;
        let all = symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function);
        let names: BTreeSet<&str> = all.map(|symbol| symbol.name.as_str()).collect();
        let is_inside_another =
            |symbol: &Symbol| symbol.name.rsplit_once('.').is_some_and(|(around, _)| names.contains(around));
        let functions = symbols.iter().filter(|symbol| {
            let is_public = symbol.name.split('.').all(|part| !part.starts_with('_'));
            symbol.kind == SymbolKind::Function && is_public && !is_inside_another(symbol)
        });
        let starts: Vec<usize> = iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect();
        let function = |symbol: &Symbol| {
            // From its own line on: an agent decides how many functions the file has, and how many lines are before each.
            let Position { line, column } = symbol.position;
            let before = line.saturating_sub(1);
            let own = starts.get(before as usize).map_or("", |start| &text[*start..]);
            let lines = 1..=symbol.lines.end().saturating_sub(before);
            let moved = Symbol { position: Position { line: 1, column }, lines, ..symbol.clone() };
            PublicFunction {
                name: symbol.name.clone(),
                line: line as usize,
                column: column as usize,
                is_stub: Some(is_python_stub(own, &moved, markers)),
            }
        };
        Ok(Ok(functions.map(function).collect()))
    }

    /// The claims of the tests' agent, compared with the language server's answers alone; none if the files are read as syntax.
    ///
    /// # Errors
    ///
    /// If the server cannot be asked.
    pub async fn claims_by_server(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        functions: &[FunctionSpec],
        claimed: &[PropertyWritten],
    ) -> Result<Option<VerifiedClaims>, NodeError> {
        if Language::of_task(spec) == Language::Rust {
            return Ok(None);
        }
        let names = claimed.iter().map(|property| property.name.clone()).collect();
        let answers = self.project_at(checked_out.commit(), spec).await?.server_answers(names).await?;
        Ok(Some(verify_claims_by_server(functions, claimed, &answers)))
    }
}

/// What is wrong with a file that is longer than what the language server is given.
pub(super) fn too_long(path: &CratePath, text: &str) -> Option<SourceError> {
    let reason = || format!("too long: it has {} bytes, and at most {MAX_BYTES} are read; divide it", text.len());
    (text.len() > MAX_BYTES).then(|| SourceError { path: path.to_string(), line: 1, column: 1, reason: reason() })
}
