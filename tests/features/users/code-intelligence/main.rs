//! The symbols of a file by its syntax.

use interlocking::code_intelligence::{CodeIntelligence, RustSyntax};
use std::path::Path;

fn main() {
    let code = RustSyntax::new(".", "user", "main.rs");
    drop(code.document_symbols(Path::new("main.rs")));
}
