//! How a node or a run fails.

use crate::frontier::{Limit, Violation};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The error that a handler returns: anything that `?` converts.
///
/// An error of any type converts into it, and so does a text:
///
/// ```
/// use interlocking::prelude::*;
///
/// fn port(text: &str) -> Result<u16, NodeError> {
///     let port = text.parse()?;
///     if port < 1024 {
///         return Err(format!("port {port} is the system's").into());
///     }
///     Ok(port)
/// }
///
/// assert_eq!(port("80").unwrap_err().to_string(), "port 80 is the system's");
/// assert_eq!(port("http").unwrap_err().to_string(), "invalid digit found in string");
/// ```
pub type NodeError = Box<dyn Error + Send + Sync + 'static>;

/// Why a run failed: where, what, and the chain of causes.
///
/// A graph whose output can be made from a failure (`impl From<Failure> for Output`) can return a failure to its caller
/// in place of a result.
///
/// A failure that leads to another node, instead of ending the run:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Motd {
///     #[node(entry, input = String, goto(exit), failed(apologise))]
///     read: LogicNode<Read>,
///     #[node(input = Failure, goto(exit))]
///     apologise: LogicNode<Apologise>,
/// }
///
/// struct Read;
/// impl LogicHandler<motd::read> for Read {
///     async fn run(&self, path: String, cx: &mut Cx<'_, motd::read>) -> Route<motd::read> {
///         goto!(cx, motd::exit, std::fs::read_to_string(path)?)
///     }
/// }
///
/// struct Apologise;
/// impl LogicHandler<motd::apologise> for Apologise {
///     async fn run(&self, failure: Failure, cx: &mut Cx<'_, motd::apologise>) -> Route<motd::apologise> {
///         goto!(cx, motd::exit, format!("`{}` has nothing to say today", failure.node))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let motd = Motd { read: LogicNode(Read), apologise: LogicNode(Apologise) };
/// let report = Run::new(motd).start("no/such/file".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("`read` has nothing to say today"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The node that failed.
    pub node: String,
    /// Its visit, 1-based; 0 if it was never entered.
    pub visit: u32,
    /// Its attempt within the visit, 1-based; 0 if it was never entered.
    pub attempt: u32,
    /// What sort of failure.
    pub kind: FailureKind,
    /// What happened, in words.
    pub message: String,
    /// The messages of its causes, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

/// What sort of failure ended a run.
///
/// A program that decides by the sort of failure what to do about a failed run:
///
/// ```
/// use interlocking::prelude::*;
///
/// /// Whether the same again may come to something else.
/// fn is_worth_a_retry(failure: &Failure) -> bool {
///     match failure.kind {
///         FailureKind::Timeout { .. } | FailureKind::Agent | FailureKind::Journal => true,
///         FailureKind::Panic | FailureKind::Configuration | FailureKind::Exhausted(_) => false,
///         _ => failure.causes.iter().any(|cause| cause.contains("connection")),
///     }
/// }
///
/// assert!(is_worth_a_retry(&Failure::new("search", 1, 1, FailureKind::Timeout { limit_ms: 90_000 }, "")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The handler returned an error.
    Handler,
    /// The handler panicked.
    Panic,
    /// The node took longer than its `timeout`.
    Timeout {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// The node was entered more often than its table allows, and no exhausted route is declared.
    Exhausted(Limit),
    /// The node chose one of its edges more often than its table allows, and that edge has no exhausted route.
    EdgeExhausted {
        /// The place where the edge leads: a node, or `join.slot`.
        to: String,
        /// How often it may be taken in a run.
        times: u32,
        /// The shortest loop that the edge closes, by the names of its nodes: from the node back to it. Empty where no
        /// path leads back.
        cycle: Vec<String>,
    },
    /// The agent gave no valid answer.
    Agent,
    /// The run was not given what the node needs.
    Configuration,
    /// The node's workspace could not be opened, was changed though it is read-only, or is not what an agent was
    /// given.
    Workspace,
    /// The journal refused the outcome.
    Journal,
    /// A child run failed whose result its node needed.
    Child(Box<ChildFailure>),
    /// The step violated a rule of runs.
    Unsound(Violation),
}

/// How a child run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChildFailure {
    /// One of its nodes failed.
    Failed(Box<Failure>),
    /// It alone was cancelled, not its parent.
    Cancelled,
    /// It would be nested deeper than its node's `depth` says.
    TooDeep {
        /// The node's `depth`.
        limit: u32,
    },
    /// It could not be started, or resumed.
    NotStarted {
        /// Why.
        reason: String,
    },
}

/// A value that travels along an exhausted route, because the node it was sent to may not be entered again, or the edge
/// it was sent along may not be taken again.
///
/// The target of `exhausted(…)` takes a payload that implements `From<Exhausted<Input>>`, where `Input` is the type
/// that the node, or the target of the edge, takes.
///
/// A text that is written at most twice; the run then ends with the text as it is:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = Text)]
/// struct Reviews {
///     #[node(entry, input = String, goto(review), visits = 2, exhausted(exit))]
///     write: LogicNode<Write>,
///     #[node(input = String, goto(write, exit))]
///     review: LogicNode<Review>,
/// }
///
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct Text {
///     text: String,
///     is_approved: bool,
/// }
///
/// impl From<Exhausted<String>> for Text {
///     fn from(exhausted: Exhausted<String>) -> Self {
///         Self { text: exhausted.input, is_approved: false }
///     }
/// }
/// # struct Write;
/// # impl LogicHandler<reviews::write> for Write {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, reviews::write>) -> Route<reviews::write> {
/// #         goto!(cx, reviews::review, text + "!")
/// #     }
/// # }
///
/// struct Review;
/// impl LogicHandler<reviews::review> for Review {
///     async fn run(&self, text: String, cx: &mut Cx<'_, reviews::review>) -> Route<reviews::review> {
///         if text.contains('!') { goto!(cx, reviews::write, text) } else { goto!(cx, reviews::exit, Text { text, is_approved: true }) }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Reviews { write: LogicNode(Write), review: LogicNode(Review) }).start("Tea".to_owned()).await?;
/// assert_eq!(report.outcome.finished(), Some(Text { text: "Tea!!".to_owned(), is_approved: false }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted<I> {
    /// The node whose bound was reached, or whose edge has spent its budget.
    pub node: &'static str,
    /// The target of the edge whose budget is spent: a node, or `join.slot`. `None` where the bound is the node's own.
    pub edge: Option<&'static str>,
    /// The bound.
    pub limit: Limit,
    /// The value that the node, or the edge's target, would have received.
    pub input: I,
}

/// A node took longer than its `timeout`. This value travels along the node's `timed_out(…)` route.
///
/// The target of `timed_out(…)` takes a payload that implements `From<TimedOut>`; the target of `failed(…)` takes a
/// payload that implements `From<Failure>`.
///
/// A search that counts as empty when it takes too long:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = Found)]
/// struct Search {
///     #[node(entry, input = String, goto(exit), timeout = "20ms", timed_out(exit))]
///     look: LogicNode<Look>,
/// }
///
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct Found(Vec<String>);
///
/// impl From<TimedOut> for Found {
///     fn from(_: TimedOut) -> Self {
///         Self(Vec::new())
///     }
/// }
///
/// struct Look;
/// impl LogicHandler<search::look> for Look {
///     async fn run(&self, what: String, cx: &mut Cx<'_, search::look>) -> Route<search::look> {
///         // A server that never answers.
///         std::future::pending::<()>().await;
///         goto!(cx, search::exit, Found(vec![what]))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Search { look: LogicNode(Look) }).start("keys".to_owned()).await?;
/// assert_eq!(report.outcome.finished(), Some(Found(Vec::new())));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedOut {
    /// The node.
    pub node: String,
    /// Its visit, 1-based.
    pub visit: u32,
    /// Its attempt within the visit, 1-based.
    pub attempt: u32,
    /// The limit, in milliseconds.
    pub limit_ms: u64,
}

impl FailureKind {
    /// Whether a node's `failed(…)` route takes a failure of this kind: the node's handler, agent, workspace or child
    /// run failed, or the node took too long.
    ///
    /// The other kinds are not the node's own failures: the graph or the journal cannot continue, or the run was not
    /// given what it needs.
    pub fn may_be_routed(&self) -> bool {
        use FailureKind::{Agent, Child, Handler, Panic, Timeout, Workspace};
        matches!(self, Handler | Panic | Timeout { .. } | Agent | Workspace | Child(_))
    }
}

impl TimedOut {
    /// The data of a failure by timeout.
    pub(crate) fn of(failure: Failure) -> Self {
        let Failure { node, visit, attempt, kind, .. } = failure;
        let limit_ms = if let FailureKind::Timeout { limit_ms } = kind { limit_ms } else { 0 };
        Self { node, visit, attempt, limit_ms }
    }
}

impl From<TimedOut> for Failure {
    fn from(timed_out: TimedOut) -> Self {
        let TimedOut { node, visit, attempt, limit_ms } = timed_out;
        Self::new(node, visit, attempt, FailureKind::Timeout { limit_ms }, took_too_long(limit_ms))
    }
}

fn took_too_long(limit_ms: u64) -> String {
    format!("took longer than its timeout of {:?}", Duration::from_millis(limit_ms))
}

impl Failure {
    /// A failure without causes. A run makes the failures of its nodes itself; other code makes one to test what it does about a
    /// failure.
    pub fn new(
        node: impl Into<String>,
        visit: u32,
        attempt: u32,
        kind: FailureKind,
        message: impl Into<String>,
    ) -> Self {
        Self { node: node.into(), visit, attempt, kind, message: message.into(), causes: Vec::new() }
    }

    /// The messages of `error`'s sources, nearest first.
    pub fn causes_of(error: &(dyn Error + 'static)) -> Vec<String> {
        std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string).collect()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node `{}` ", self.node)?;
        match self.attempt {
            0 | 1 if self.visit <= 1 => {}
            0 | 1 => write!(f, "(visit {}) ", self.visit)?,
            attempt => write!(f, "(visit {}, attempt {attempt}) ", self.visit)?,
        }
        match &self.kind {
            FailureKind::Panic => write!(f, "panicked: {}", self.message)?,
            FailureKind::Timeout { .. } | FailureKind::Exhausted(_) | FailureKind::EdgeExhausted { .. } => {
                f.write_str(&self.message)?;
            }
            _ => write!(f, "failed: {}", self.message)?,
        }
        self.causes.iter().try_for_each(|cause| write!(f, "\n  caused by: {cause}"))
    }
}

impl Error for Failure {}

impl fmt::Display for ChildFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::Cancelled => f.write_str("the child run was cancelled"),
            Self::TooDeep { limit } => {
                write!(f, "the child run would be nested more than {limit} deep, which `depth = {limit}` forbids")
            }
            Self::NotStarted { reason } => write!(f, "the child run did not start: {reason}"),
        }
    }
}

impl Error for ChildFailure {}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Failure::from(self.clone()), f)
    }
}

impl Limit {
    /// How often the bound allows it.
    pub fn number(self) -> u32 {
        let (Self::Visits(number) | Self::Attempts(number) | Self::Times(number)) = self;
        number
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visits(limit) => write!(f, "visits = {limit}"),
            Self::Attempts(limit) => write!(f, "attempts = {limit}"),
            Self::Times(limit) => write!(f, "times = {limit}"),
        }
    }
}
