//! Measures the time of language servers: for the start, the first question, the same question again, and after a change of a
//! file. Compares them with the syntax, which answers less.
//!
//! ```console
//! cargo bench --profile dev -p interlocking-code-intelligence --bench servers
//! ```
//!
//! Nearly all of the time is the servers' own, so no optimisation is needed here. A server that is not installed is left out.

#![expect(clippy::print_stdout, reason = "a benchmark's table is for people")]

#[path = "../tests/all/project.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "it is the tests', who use all of it")]
mod project;

use interlocking_code_intelligence::{CodeIntelligence, LanguageServer, RustSyntax, ServerProgram, Unavailable};
use project::{PROPERTIES, node_program, stack, write};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How often each server is started and each question is asked, if it can be; the result is the median.
const TIMES: usize = 5;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{:<16} {:>10} {:>16} {:>12} {:>15}", "", "start", "first question", "asked again", "after a change");
    let rust = Case { tests: "tests/properties.rs", property: "prop_pop", text: PROPERTIES };
    rust.measure("rust-analyzer", stack, |at| LanguageServer::start(ServerProgram::rust_analyzer(), at)).await?;
    let pyright = node_program("pyright-langserver");
    let python = Case { tests: "test_stack.py", property: "test_pop", text: PYTHON_TESTS };
    python.measure("Pyright", python_project, |at| LanguageServer::start(ServerProgram::pyright(&pyright), at)).await?;
    let syntax = |at: PathBuf| async move { Ok(RustSyntax::new(at, "stack", "src/lib.rs")) };
    rust.measure("the syntax", stack, syntax).await
}

const PYTHON: &str = "class Stack:\n    def __init__(self) -> None:\n        self.items: list[int] = []\n\n    \
    def push(self, value: int) -> None:\n        self.items.append(value)\n\n    \
    def pop(self) -> int:\n        return self.items.pop()\n";
const PYTHON_TESTS: &str = "from stack import Stack\n\n\ndef test_pop() -> None:\n    stack = Stack()\n    stack.push(1)\n    assert stack.pop() == 1\n";

fn python_project() -> TempDir {
    let directory = stack();
    write(&directory, "stack.py", PYTHON);
    write(&directory, "test_stack.py", PYTHON_TESTS);
    directory
}

/// The question: which functions a property calls.
struct Case {
    tests: &'static str,
    property: &'static str,
    text: &'static str,
}

impl Case {
    async fn measure<C: CodeIntelligence, F: Future<Output = Result<C, Unavailable>>>(
        &self,
        name: &str,
        project: impl Fn() -> TempDir,
        start: impl Fn(PathBuf) -> F,
    ) -> Result<(), Box<dyn Error>> {
        let mut taken: [Vec<Duration>; 4] = Default::default();
        for round in 0..TIMES {
            let project = project();
            let began = Instant::now();
            let code = match start(project.path().to_owned()).await {
                Ok(code) => code,
                Err(Unavailable::NotInstalled { .. } | Unavailable::Incomplete { .. }) if round == 0 => {
                    println!("{name:<16} not installed");
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            taken[0].push(began.elapsed());
            taken[1].push(self.ask(&code).await?);
            taken[2].push(self.ask(&code).await?);
            let comment = if self.tests.ends_with(".py") { "#" } else { "//" };
            write(&project, self.tests, &format!("{comment} {round}\n{}", self.text));
            let began = Instant::now();
            code.files_changed(&[PathBuf::from(self.tests)]).await?;
            self.ask(&code).await?;
            taken[3].push(began.elapsed());
        }
        let [start, first, again, changed] = taken.map(|mut times| {
            times.sort();
            format!("{:.1} ms", times[TIMES / 2].as_secs_f64() * 1000.0)
        });
        println!("{name:<16} {start:>10} {first:>16} {again:>12} {changed:>15}");
        Ok(())
    }

    async fn ask(&self, code: &impl CodeIntelligence) -> Result<Duration, Box<dyn Error>> {
        let began = Instant::now();
        let file = Path::new(self.tests);
        let symbols = code.document_symbols(file).await?;
        let property = symbols.iter().find(|symbol| symbol.name == self.property).ok_or("the property is not there")?;
        let called = code.outgoing_calls(file, property).await?.calls;
        let took = began.elapsed();
        if !called.iter().any(|call| call.name == "pop") {
            return Err(format!("{called:?} lack `pop`").into());
        }
        Ok(took)
    }
}
