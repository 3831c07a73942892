//! Servers that are missing, do not start, or violate their protocol.

use crate::project::{is_not_here, stack, started, symbol, write};
use interlocking_code_intelligence::{
    CodeError, CodeIntelligence, LanguageServer, Position, ServerProgram, Symbol, SymbolKind, Unavailable,
};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A scripted server.
fn script(directory: &TempDir, text: &str) -> PathBuf {
    write(directory, "server", &format!("#!/bin/sh\n{text}\n"));
    let path = directory.path().join("server");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The server's reaction to the first request, and its next action.
fn answering(result: &str, then: &str) -> String {
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    format!("head -c 30 > /dev/null\nprintf 'Content-Length: {}\\r\\n\\r\\n%s' '{answer}'\n{then}", answer.len())
}

/// Reads until a request about a file arrives. The client sends the file first (`didOpen`), and there is no line end between that
/// message and the header of the request.
const ASKED_OF_A_FILE: &str = r#"while read -r line; do case $line in *didOpen*Content-Length*) break ;; esac; done"#;

async fn start(project: &TempDir, program: &Path) -> Result<LanguageServer, Unavailable> {
    let program = ServerProgram::pyright(program).with_timeouts(Duration::from_secs(20), Duration::from_secs(1));
    LanguageServer::start(program, project.path()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_start_says_why() {
    let (project, programs) = (stack(), tempfile::tempdir().unwrap());
    let path = script(&programs, "echo 'no such component' >&2; exit 1");
    let stand_in = ServerProgram::rust_analyzer().at(&path);
    let missing = LanguageServer::start(stand_in, project.path()).await.unwrap_err();
    let expected = format!(
        "rust-analyzer is not installed, or {} does not run: run `rustup component add rust-analyzer`",
        path.display()
    );
    assert_eq!(missing.to_string(), expected);
    let ended = start(&project, &path).await.unwrap_err();
    assert_eq!(ended.to_string(), "Pyright did not start: Pyright has ended: no such component");
    for (text, expected) in [
        ("echo hello; echo; sleep 9", "Pyright did not start: Pyright has ended: it wrote a header without a length"),
        (
            "printf 'Content-Length: 5\\r\\n\\r\\nhello'; sleep 9",
            "Pyright did not start: Pyright has ended: it wrote no message: expected value at line 1 column 1",
        ),
        (
            "printf 'Content-Length: 99999999999\\r\\n\\r\\n'; sleep 9",
            "Pyright did not start: Pyright has ended: it wrote a message that is too long",
        ),
        ("sleep 9", "Pyright did not start: Pyright did not answer initialize within 1 s"),
    ] {
        let error = start(&project, &script(&programs, text)).await.unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let error = start(&project, &script(&programs, &answering("{}", "sleep 9"))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Pyright did not start: Pyright answered initialize with a message that violates its protocol: missing field `capabilities`"
    );
}

/// In the same sandbox as the server: a stand-in for the server may run what the project names.
#[tokio::test(flavor = "multi_thread")]
async fn whether_a_server_runs_is_tried_in_its_sandbox_and_not_for_ever() {
    let (project, programs) = (stack(), tempfile::tempdir().unwrap());
    let mark = programs.path().join("mark");
    let server = |text: &str| {
        let program = ServerProgram::rust_analyzer().at(script(&programs, text));
        LanguageServer::start(program.with_timeouts(Duration::from_secs(1), Duration::from_secs(1)), project.path())
    };
    let error = server(&format!("touch {}", mark.display())).await.unwrap_err();
    assert!(matches!(error, Unavailable::NotInstalled { .. }) && !mark.exists(), "{error}");
    let error = server("sleep 600").await.unwrap_err();
    let path = programs.path().join("server");
    assert_eq!(error.to_string(), format!("rust-analyzer did not start: {} did not end within 1 s", path.display()));
}

/// Without the standard library rust-analyzer resolves nothing, and would report no calls.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_the_standard_library_is_incomplete() {
    let (project, programs) = (stack(), tempfile::tempdir().unwrap());
    let message = "Failed to read Cargo metadata with dependencies for sysroot of `/work/Cargo.toml`: no matching package named `object` found";
    let status = format!(
        r#"{{"jsonrpc":"2.0","method":"experimental/serverStatus","params":{{"health":"warning","quiescent":true,"message":"{message}"}}}}"#
    );
    let then = format!("printf 'Content-Length: {}\\r\\n\\r\\n%s' '{status}'; sleep 9", status.len());
    let text = format!("test \"$1\" = --version && exit 0\n{}", answering(r#"{"capabilities":{}}"#, &then));
    let program = ServerProgram::rust_analyzer().at(script(&programs, &text));
    let error = LanguageServer::start(program, project.path()).await.unwrap_err();
    if is_not_here(&error) {
        return;
    }
    assert_eq!(
        error.to_string(),
        "rust-analyzer lacks the packages that the standard library depends on: run `RUSTC_BOOTSTRAP=1 cargo fetch --manifest-path \
         $(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.toml`"
    );
}

/// rust-analyzer starts, but cannot read the project.
#[tokio::test(flavor = "multi_thread")]
async fn a_project_that_cannot_be_read_is_no_project() {
    let project = stack();
    write(&project, "Cargo.toml", "[package\n");
    let error = LanguageServer::start(ServerProgram::rust_analyzer(), project.path()).await.unwrap_err();
    if is_not_here(&error) {
        return;
    }
    let Unavailable::NotStarted { reason, .. } = &error else { panic!("{error}") };
    assert!(reason.contains("Cargo.toml") && reason.contains("expected"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_wrong_later_is_told_of() {
    let (project, programs) = (stack(), tempfile::tempdir().unwrap());
    let capable = r#"{"capabilities":{}}"#;
    let file = Path::new("src/lib.rs");
    let then = format!("{ASKED_OF_A_FILE}; echo 'out of memory' >&2");
    let code = start(&project, &script(&programs, &answering(capable, &then))).await.unwrap();
    let error = code.document_symbols(file).await.unwrap_err();
    assert_eq!(error.to_string(), "Pyright has ended: out of memory");
    let code = start(&project, &script(&programs, &answering(capable, "exec >&-; sleep 600"))).await.unwrap();
    let error = loop {
        match code.document_symbols(file).await.unwrap_err() {
            // Until it is stopped, as it has not ended a second later.
            CodeError::TimedOut { .. } => {}
            error => break error,
        }
    };
    assert_eq!(error.to_string(), "Pyright has ended: it closed its input or output, did not end, and was stopped");
    let code = start(&project, &script(&programs, &answering(capable, "sleep 9"))).await.unwrap();
    let error = code.document_symbols(file).await.unwrap_err();
    assert_eq!(error.to_string(), "Pyright did not answer textDocument/documentSymbol within 1 s");
    assert!(matches!(error, CodeError::TimedOut { .. }));
    let refused = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"not now"}}"#;
    let then = format!("printf 'Content-Length: {}\\r\\n\\r\\n%s' '{refused}'; sleep 9", refused.len());
    let then = format!("{ASKED_OF_A_FILE}; {then}");
    let code = start(&project, &script(&programs, &answering(capable, &then))).await.unwrap();
    let error = code.document_symbols(file).await.unwrap_err();
    assert_eq!(error.to_string(), "Pyright refused textDocument/documentSymbol: not now");
}

/// A server that is still writing when it is no longer needed leaves no temporary directory behind.
#[tokio::test]
async fn the_temporary_directory_goes_after_the_server() {
    let (project, programs) = (stack(), tempfile::tempdir().unwrap());
    // A symbol's name tells of the directory: the server cannot write to the project.
    let at = r#"{"line":0,"character":0}"#;
    let range = format!(r#"{{"start":{at},"end":{at}}}"#);
    let symbol = format!(r#"{{"name":"'"$TMPDIR"'","kind":12,"range":{range},"selectionRange":{range}}}"#);
    let answer = format!(r#"answer='{{"jsonrpc":"2.0","id":2,"result":[{symbol}]}}'"#);
    let says = r#"printf 'Content-Length: %s\r\n\r\n%s' "${#answer}" "$answer""#;
    let busy = r#"n=0; while :; do : > "$TMPDIR/$n"; n=$((n + 1)); done"#;
    let then = format!("{ASKED_OF_A_FILE}; {answer}; {says}; {busy}");
    let code = start(&project, &script(&programs, &answering(r#"{"capabilities":{}}"#, &then))).await.unwrap();
    let temporary = PathBuf::from(&code.document_symbols(Path::new("src/lib.rs")).await.unwrap()[0].name);
    let until = |file: PathBuf, exists: bool| {
        let reached = async move {
            while file.exists() != exists {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), reached)
    };
    until(temporary.join("2000"), true).await.unwrap();
    drop(code);
    assert!(temporary.exists(), "the server has not been stopped yet");
    until(temporary, false).await.unwrap();
}

/// A server is asked once for the symbols of a text, and again if it says that files have changed while it was answering. This one
/// says so at first, and numbers its answers.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_is_asked_about_once() {
    let (project, programs) = (stack(), tempfile::tempdir().unwrap());
    let line = r#"{\"line\":0,\"character\":0}"#;
    let range = format!(r#"{{\"start\":{line},\"end\":{line}}}"#);
    let symbol = format!(r#"{{\"name\":\"$asked\",\"kind\":12,\"range\":{range},\"selectionRange\":{range}}}"#);
    let refused = r#"{\"id\":$id,\"error\":{\"code\":-32801,\"message\":\"content modified\"}}"#;
    let answer = format!("if test -z \"$asked\"; then asked=0; say \"{refused}\"; else answer \"[{symbol}]\"; fi");
    let symbols = format!("*'/documentSymbol\"'*) {answer}; asked=$((asked + 1)) ;;\n    *'\"id\":'*)");
    let server = answering_all("").replace("*'\"id\":'*)", &symbols);
    let code = started(ServerProgram::pyright(script(&programs, &server)), &project).await.unwrap();
    let file = Path::new("many.py");
    for (text, expected) in [("a", "1"), ("a", "1"), ("b", "2"), ("b", "2"), ("a", "3")] {
        write(&project, "many.py", text);
        let found = code.document_symbols(file).await.unwrap();
        assert_eq!(found.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), [expected], "{text}");
        code.outgoing_calls(file, &found[0]).await.unwrap();
    }
}

/// A server that reads whole messages, and knows nothing but a function's calls, which this command of the shell writes.
fn answering_all(calls: &str) -> String {
    let answers = r#"
test "$1" = --version && exit 0
say() { printf 'Content-Length: %s\r\n\r\n%s' "${#1}" "$1"; }
answer() { say "{\"id\":$id,\"result\":$1}"; }
while read -r header && read -r blank; do
    length=${header#*: }
    body=$(head -c "${length%?}")
    case $body in *'/didOpen"'*) continue ;; esac
    id=${body#*\"id\":}
    id=${id%%,*}
    case $body in
    *'"method":"initialize"'*) answer '{"capabilities":{"positionEncoding":"utf-8"}}' ;;
    *'"method":"initialized"'*)
        say '{"method":"experimental/serverStatus","params":{"health":"ok","quiescent":true}}' ;;
    *'/prepareCallHierarchy"'*) answer '[{}]' ;;
    *'/outgoingCalls"'*) answer "[$(CALLS)]" ;;
    *'"id":'*) answer null ;;
    esac
done"#;
    answers.replace("CALLS", calls)
}

/// The text that tells of calls that were not looked up.
fn not_looked_up(line: u32) -> String {
    format!(
        "`many` makes more than 500 calls, with those of the functions that it calls: what `many` calls from line {line} on was not \
         looked up"
    )
}

/// An agent decides how many calls it writes. Each one that is asked about is unclear here.
#[tokio::test(flavor = "multi_thread")]
async fn a_function_with_very_many_calls_is_looked_up_in_part() {
    let (project, programs) = (stack(), tempfile::tempdir().unwrap());
    write(&project, "tests/many.rs", &format!("fn many() {{\n{}}}\n", "    other(); other();\n".repeat(10_000)));
    let program = ServerProgram::rust_analyzer().at(script(&programs, &answering_all("")));
    let Some(code) = started(program, &project).await else { return };
    let many = symbol(&code, "tests/many.rs", "many").await;
    let found = code.outgoing_calls(Path::new("tests/many.rs"), &many).await.unwrap();
    let (last, others) = found.unclear.split_last().unwrap();
    assert!(others.iter().all(|unclear| unclear.ends_with("cannot be resolved")));
    assert_eq!((others.len(), found.calls.len()), (500, 0));
    assert_eq!(*last, not_looked_up(252));
}

/// The same with a server that tells of all calls at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_hierarchy_with_very_many_calls_is_looked_up_in_part() {
    let (project, programs) = (stack(), tempfile::tempdir().unwrap());
    let at =
        |line: &str| format!(r#"{{"start":{{"line":{line},"character":0}},"end":{{"line":{line},"character":1}}}}"#);
    let call = format!(
        r#"{{"to":{{"name":"other","uri":"file:///other.py","selectionRange":{}}},"fromRanges":[{}]}}"#,
        at("%d"),
        at("%d")
    );
    let calls = format!(
        "seq 2000 | awk '{{ printf \"%s{}\", (NR > 1 ? \",\" : \"\"), $1, $1, $1, $1 }}'",
        call.replace('"', "\\\"")
    );
    write(&project, "many.py", "def many():\n    pass\n");
    let program = ServerProgram::pyright(script(&programs, &answering_all(&calls)));
    let code = started(program, &project).await.unwrap();
    let position = Position { line: 1, column: 5 };
    let many = Symbol { name: "many".to_owned(), kind: SymbolKind::Function, position, lines: 1..=2 };
    let found = code.outgoing_calls(Path::new("many.py"), &many).await.unwrap();
    assert_eq!((found.calls.len(), found.unclear), (500, vec![not_looked_up(502)]));
}
