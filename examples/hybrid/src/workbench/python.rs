//! Projects that only a language server can read: their functions, and which of their tests' claims hold.

use super::{WorkError, Workbench, read};
use crate::language::Language;
use crate::types::{FunctionSpec, PropertyWritten, StackSpec};
use crate::verdicts::{VerifiedClaims, verify_claims_by_server};
use interlocking::code_intelligence::{Symbol, SymbolKind, is_python_stub};
use interlocking::rust_source::PublicFunction;
use interlocking::workspaces::FreshCheckout;

impl Workbench {
    /// The public functions of an implementation file that only a language server reads: those whose names do not begin with an
    /// underscore.
    pub(super) async fn functions_by_server(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
    ) -> Result<Vec<PublicFunction>, WorkError> {
        let text = read(checked_out, &spec.impl_path).await?.unwrap_or_default();
        let symbols = self.project_at(checked_out.commit(), spec).await?.symbols(spec).await?;
        let markers = &self.toolchain().source.stub_markers;
        let is_inside_another = |symbol: &Symbol| {
            let around = symbol.name.rsplit_once('.').map(|(around, _)| around);
            around.is_some_and(|around| {
                symbols.iter().any(|other| other.kind == SymbolKind::Function && other.name == around)
            })
        };
        let functions = symbols.iter().filter(|symbol| {
            let is_public = symbol.name.split('.').all(|part| !part.starts_with('_'));
            symbol.kind == SymbolKind::Function && is_public && !is_inside_another(symbol)
        });
        let function = |symbol: &Symbol| PublicFunction {
            name: symbol.name.clone(),
            line: symbol.position.line as usize,
            column: symbol.position.column as usize,
            is_stub: Some(is_python_stub(&text, symbol, markers)),
        };
        Ok(functions.map(function).collect())
    }

    /// The claims of the tests' agent, compared with the language server's answers alone; none if the files are read as syntax.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if the server cannot be asked.
    pub async fn claims_by_server(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        functions: &[FunctionSpec],
        claimed: &[PropertyWritten],
    ) -> Result<Option<VerifiedClaims>, WorkError> {
        if Language::of_task(spec) == Language::Rust {
            return Ok(None);
        }
        let names = claimed.iter().map(|property| property.name.as_str());
        let answers = self.project_at(checked_out.commit(), spec).await?.server_answers(spec, names).await?;
        Ok(Some(verify_claims_by_server(functions, claimed, &answers)))
    }
}
