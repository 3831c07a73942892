//! The fallback to syntax, and how callers see it.

use crate::project::{calls, stack, symbol};
use interlocking_code_intelligence::{Provider, RustSyntax, ServerProgram, Unavailable, start_or_syntax};
use std::path::Path;

/// HY-166, TC-13: if no server answers, the syntax does, in the same form, and says why.
#[tokio::test]
async fn the_syntax_answers_where_no_server_does() {
    let project = stack();
    let syntax = || RustSyntax::new(project.path(), "stack", "src/lib.rs");
    let missing = ServerProgram::rust_analyzer().at("no-such-language-server");
    let code = start_or_syntax(missing, project.path(), syntax()).await;
    let Provider::Syntax { because: Some(because) } = code.provider() else { panic!("{:?}", code.provider()) };
    assert!(matches!(because, Unavailable::NotInstalled { .. }));
    assert_eq!(
        code.provider().to_string(),
        "the syntax alone, because rust-analyzer is not installed, or no-such-language-server does not run: run `rustup component add rust-analyzer`"
    );
    for (property, expected) in [
        ("prop_pop", vec!["pop@20", "push@12"]),
        ("prop_height", vec!["height@24", "push@12"]),
        ("prop_nothing", vec![]),
        ("prop_twice", vec!["twice@29"]),
    ] {
        assert_eq!(calls(&*code, "tests/properties.rs", property).await, expected, "{property}");
    }
    let push = symbol(&*code, "src/lib.rs", "Stack::push").await;
    assert_eq!((push.position.line, push.position.column, push.lines.clone()), (12, 12, 12..=18));
    assert_eq!(code.hover(Path::new("src/lib.rs"), push.position).await.unwrap(), None, "types are not told");
    let found = code.outgoing_calls(Path::new("src/lib.rs"), &push).await.unwrap();
    assert_eq!(
        found.unclear,
        ["`Stack::push` is not a test, and the syntax alone does not show what other functions call"]
    );
}
