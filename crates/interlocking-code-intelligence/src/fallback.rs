//! A language server if one starts, otherwise the syntax.

use crate::intelligence::CodeIntelligence;
use crate::rust_syntax::RustSyntax;
use crate::server::{LanguageServer, ServerProgram};
use std::path::Path;

/// Starts a language server for the project at `root`. If the server does not start, `syntax` answers
/// [in its place](RustSyntax::instead_of_server).
pub async fn start_or_syntax(program: ServerProgram, root: &Path, syntax: RustSyntax) -> Box<dyn CodeIntelligence> {
    match LanguageServer::start(program, root).await {
        Ok(server) => Box::new(server),
        Err(because) => Box::new(syntax.instead_of_server(because)),
    }
}
