//! Pyright.

use crate::project::{calls, node_program, started, symbol, write};
use interlocking_code_intelligence::{CodeIntelligence, Provider, ServerProgram};
use std::path::Path;

const STACK: &str = "class Stack:\n    \"\"\"A stack, größer als nichts.\"\"\"\n\n    def __init__(self) -> None:\n        self.items: list[int] = []\n\n    \
    def push(self, value: int) -> None:\n        self.items.append(value)\n\n\ndef größe(stack: Stack) -> int:\n    return len(stack.items)\n";
const TESTS: &str = "from stack import Stack, größe\n\n\ndef filled(values: list[int]) -> Stack:\n    stack = Stack()\n    for value in values:\n        \
    stack.push(value)\n    return stack\n\n\ndef test_größe() -> None:\n    \"push(1)\"\n    assert größe(filled([1, 2])) == 2\n";

/// TC-25: another language, with another server, which counts columns differently.
#[tokio::test(flavor = "multi_thread")]
async fn symbols_calls_and_types_of_python_are_known() {
    let project = tempfile::tempdir().unwrap();
    write(&project, "stack.py", STACK);
    write(&project, "test_stack.py", TESTS);
    let program = ServerProgram::pyright(node_program("pyright-langserver"));
    let Some(code) = started(program, &project).await else { return };
    assert!(
        matches!(code.provider(), Provider::LanguageServer { name, .. } if name == "Pyright"),
        "{:?}",
        code.provider()
    );
    let push = symbol(&code, "stack.py", "Stack.push").await;
    assert_eq!((push.position.line, push.position.column), (7, 9));
    assert_eq!(calls(&code, "test_stack.py", "test_größe").await, ["Stack@1", "filled@4", "größe@11", "push@7"]);
    let size = symbol(&code, "stack.py", "größe").await;
    let said = code.hover(Path::new("stack.py"), size.position).await.unwrap().unwrap();
    assert!(said.contains("größe(stack: Stack) -> int"), "{said}");
}
