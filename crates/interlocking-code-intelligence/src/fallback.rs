//! A language server if one starts, otherwise the syntax.

use crate::intelligence::{CodeIntelligence, Provider};
use crate::rust_syntax::RustSyntax;
use crate::server::{LanguageServer, ServerProgram};
use std::path::Path;

/// Starts a language server for the project at `root`. If the server does not start, `syntax` answers in its place, and its
/// [provider](CodeIntelligence::provider) states the reason. That is also logged as a warning, as facts that the syntax cannot
/// determine are not checked.
pub async fn start_or_syntax(program: ServerProgram, root: &Path, syntax: RustSyntax) -> Box<dyn CodeIntelligence> {
    match LanguageServer::start(program, root).await {
        Ok(server) => Box::new(server),
        Err(because) => {
            tracing::warn!(%because, "no language server could be started, so code is examined by its syntax alone");
            Box::new(syntax.answering_for(Provider::Syntax { because: Some(because) }))
        }
    }
}
