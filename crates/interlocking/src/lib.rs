//! Graphs of coding agents whose routes the compiler checks.
//!
//! `#[derive(Graph)]` turns a struct of annotated fields into a routing table. Handlers choose the next node with a typed
//! [`goto!`]. A [`Run`](runtime::Run) executes the graph. The `README.md` of the repository has a first example, which is
//! compiled with this crate.
//!
//! # Map
//!
//! | you want to | look at |
//! |---|---|
//! | write a graph | [`prelude`], then the [attributes](derive@Graph); `docs/book/src/graph.md` in the repository has the language on one page |
//! | know what a handler can read from its run and do in it | [`context::Cx`] |
//! | run it, watch it, stop it | [`runtime::Run`], [`runtime::event`], [`runtime::CancelToken`] |
//! | know how it ended | [`runtime::Outcome`], [`failure::Failure`] |
//! | execute many runs in one process: start them by name, watch, answer, drain | [`runtime::service::Service`]; `docs/book/src/service.md` in the repository |
//! | limit what it uses, and how long it retries when a provider fails | [`runtime::Budgets`], [`runtime::Backoff`]; `docs/book/src/budgets.md` in the repository |
//! | let an agent do a node's work | [`runtime::llm::LLMHandler`], [`agents`] |
//! | ask a model directly, without an agent program | `agents::HttpModel`, with feature `http`; `docs/book/src/http.md` in the repository |
//! | give a program the operator's commands: run, resume, show, answer, fork … | `cli::Cli`, with feature `cli`; `docs/book/src/cli.md` in the repository |
//! | the same over a git repository, with worktrees, landing and an account of the results | `cli::repository`, with feature `cli-repository` |
//! | draw it | [`draw::mermaid`], [`draw::dot`] |
//! | read its table | [`table::Table`], through [`graph::Graph::net`] |
//! | know which properties are proved of a graph that compiles | `docs/book/src/soundness.md` in the repository |
//! | check a table made at run time | `soundness::check`, with feature `soundness` |
//! | execute it with an engine of your own | [`frontier::Frontier`] |
//! | let an agent follow a protocol from a file | `envoy::Protocol`, with feature `envoy`; `docs/book/src/envoy.md` in the repository |
//! | read a file that a person or an agent wrote, and report each mistake with its position | `document::Document`, with feature `document` |
//! | keep runs after their process has ended | `sqlite::SqliteJournal`, with feature `sqlite`; `docs/book/src/journal.md` in the repository |
//! | confine an agent to its workspace, without access to others | [`runtime::isolation`], [`sandbox`] |
//! | test that it takes every route of its table | `testing::Enumerator`, with feature `testing`; `docs/book/src/testing.md` in the repository |
//! | build and test what an agent wrote, and know which tests fail and how | `toolchain::Runner`, with feature `toolchain`; `docs/book/src/verdicts.md` in the repository |
//! | check the Rust source that an agent wrote: interfaces, stubs, denied code, changed bodies, properties | `rust_source`, with feature `rust-source` |
//! | find out what a function really calls, without relying on an agent | `code_intelligence::LanguageServer`, with feature `code-intelligence` |
//! | give each node a worktree of its own, commit, merge, land | [`workspaces`]; `docs/book/src/workspaces.md` in the repository |
//! | use worktrees without any graph | [`worktree`] |
//!
//! # Features
//!
//! | feature | what it adds | default |
//! |---|---|---|
//! | `runtime` | the executor, agents, and the nodes that need it: LLM, map, human, advisory, observer | yes |
//! | `askama` | askama templates as prompts | yes |
//! | `workspaces` | worktrees and clones of a git repository as the workspaces of runs | yes |
//! | `worktree` | git worktrees, without any graph | yes |
//! | `sqlite` | the durable journal | no |
//! | `cli` | the operator's command line, for any graph, with `sqlite` | no |
//! | `cli-repository` | the same for graphs over a git repository: its options, its directories, stored settings of a run and an account of its results | no |
//! | `document` | TOML, JSON and YAML files, and YAML blocks of Markdown files, as trees that report mistakes with their positions | no |
//! | `envoy` | workflow protocols from YAML files, for agents' prompts; the debug logs' cleanup and the variants gate are features of `interlocking-envoy` itself | no |
//! | `http` | agents that ask a model over HTTP, for nodes that need no tools; `docs/book/src/http.md` in the repository says what it costs | no |
//! | `testing` | for tests: an enumerator that drives a graph through every route of its table | no |
//! | `toolchain` | commands that build and test what agents wrote, in a sandbox, with verdicts test by test | no |
//! | `rust-source` | checks of Rust source on its syntax tree | no |
//! | `code-intelligence` | symbols, calls and types of source code, by a language server in a sandbox or by the syntax | no |
//! | `soundness` | the derive's check for soundness as a function, for tables made at run time | no |
//!
//! Without any feature, this is the derive, the table and the frontier: twelve crates, including this one.

pub use interlocking_core::{agent_calls, context, draw, failure, frontier, graph, kind, net, route, run_id, table};
#[doc(inline)]
pub use interlocking_core::{fork, goto};

/// Derives a graph from a struct whose fields are its nodes.
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Newsroom {
///     #[node(entry, input = String, goto(review))]
///     write: LogicNode<Write>,
///     #[node(input = String, goto(write, exit), visits = 3)]
///     review: LogicNode<Review>,
/// }
///
/// struct Write;
/// impl LogicHandler<newsroom::write> for Write {
///     async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
///         goto!(cx, newsroom::review, format!("{draft}."))
///     }
/// }
///
/// struct Review;
/// impl LogicHandler<newsroom::review> for Review {
///     async fn run(&self, text: String, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
///         if text.ends_with("...") { goto!(cx, newsroom::exit, text) } else { goto!(cx, newsroom::write, text) }
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     println!("{}", interlocking::draw::mermaid(Newsroom::net().table()));
///
///     let newsroom = Newsroom { write: LogicNode(Write), review: LogicNode(Review) };
///     let report = Run::new(newsroom).start("It rains".to_owned()).await?;
///     assert_eq!(report.outcome.finished().as_deref(), Some("It rains..."));
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use interlocking_macros::Graph;

/// Gives an enum of exits a closed set of labels, one for each variant. A label says in the journal what kind of message an
/// outcome is.
///
/// ```
/// use interlocking::context::{LabelType, Severity};
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = u32)]
/// struct Module {
///     #[node(entry, input = u32, goto(write_tests), visits = 2)]
///     scaffold: LogicNode<Scaffold>,
///     #[node(input = u32, goto(scaffold, exit))]
///     write_tests: LogicNode<WriteTests>,
/// }
///
/// #[derive(Labels)]
/// #[labels(node = module::write_tests)]
/// enum TestsExit {
///     #[label(info)]
///     Written { files: u32 },
///     #[label(blocker, route_hint = module::scaffold)]
///     BlockedDependency { on: u32 },
/// }
///
/// struct WriteTests;
/// impl LogicHandler<module::write_tests> for WriteTests {
///     async fn run(&self, files: u32, cx: &mut Cx<'_, module::write_tests>) -> Route<module::write_tests> {
///         let exit = if files > 0 { TestsExit::Written { files } } else { TestsExit::BlockedDependency { on: 1 } };
///         cx.label(&exit);
///         match exit {
///             TestsExit::Written { files } => goto!(cx, module::exit, files),
///             TestsExit::BlockedDependency { on } => goto!(cx, module::scaffold, on),
///         }
///     }
/// }
/// # struct Scaffold;
/// # impl LogicHandler<module::scaffold> for Scaffold {
/// #     async fn run(&self, files: u32, cx: &mut Cx<'_, module::scaffold>) -> Route<module::scaffold> {
/// #         goto!(cx, module::write_tests, files)
/// #     }
/// # }
///
/// let label = TestsExit::BlockedDependency { on: 1 }.label();
/// assert_eq!(label, TestsExitLabel::BlockedDependency);
/// assert_eq!((label.name(), label.severity()), ("BLOCKED_DEPENDENCY", Severity::Blocker));
/// assert_eq!(label.route_hint(), Some("scaffold"));
/// ```
#[doc(inline)]
pub use interlocking_macros::Labels;

#[cfg(feature = "runtime")]
pub use interlocking_agents as agents;
#[cfg(feature = "cli")]
pub use interlocking_cli as cli;
#[cfg(feature = "code-intelligence")]
pub use interlocking_code_intelligence as code_intelligence;
#[cfg(feature = "document")]
pub use interlocking_document as document;
#[cfg(feature = "envoy")]
pub use interlocking_envoy as envoy;
#[cfg(feature = "runtime")]
pub use interlocking_runtime as runtime;
#[cfg(feature = "rust-source")]
pub use interlocking_rust_source as rust_source;
#[cfg(feature = "runtime")]
pub use interlocking_sandbox as sandbox;
#[cfg(feature = "soundness")]
pub use interlocking_soundness as soundness;
#[cfg(feature = "sqlite")]
pub use interlocking_sqlite as sqlite;
#[cfg(feature = "testing")]
pub use interlocking_testing as testing;
#[cfg(feature = "toolchain")]
pub use interlocking_toolchain as toolchain;
#[cfg(feature = "workspaces")]
pub use interlocking_workspaces as workspaces;
#[cfg(feature = "worktree")]
pub use interlocking_worktree as worktree;

pub mod prelude;

/// The names that derived code uses. Not part of the public interface.
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[cfg(all(doctest, feature = "askama", feature = "runtime", feature = "workspaces"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(all(doctest, feature = "askama", feature = "runtime"))]
// The pattern, with compiled examples of code before and after it (PRG-09).
#[doc = include_str!("../../../docs/book/src/handlers.md")]
struct Handlers;

#[cfg(all(doctest, feature = "runtime"))]
#[doc = include_str!("../../../docs/book/src/sessions.md")]
struct Sessions;

#[cfg(all(doctest, feature = "runtime"))]
#[doc = include_str!("../../../docs/book/src/graph.md")]
struct GraphOnOnePage;

#[cfg(all(doctest, feature = "askama", feature = "cli"))]
#[doc = include_str!("../../../docs/book/src/tutorial.md")]
struct Tutorial;

#[cfg(all(doctest, feature = "runtime"))]
#[doc = include_str!("../../../docs/book/src/budgets.md")]
struct Budgets;

#[cfg(all(doctest, feature = "runtime"))]
#[doc = include_str!("../../../docs/book/src/service.md")]
struct ServicePage;

#[cfg(all(doctest, feature = "askama", feature = "testing"))]
#[doc = include_str!("../../../docs/book/src/testing.md")]
struct Testing;

#[cfg(all(doctest, feature = "envoy"))]
#[doc = include_str!("../../../docs/book/src/envoy.md")]
struct Envoy;
