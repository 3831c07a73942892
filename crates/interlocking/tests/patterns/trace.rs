//! Records which node worked from when to when, in virtual time.

use crate::support::{Log, finished, pass, timed};
use interlocking::graph::Graph;
use interlocking::prelude::*;
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal};
use serde::Serialize;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// A handler that works for so many milliseconds, and passes its input on.
#[derive(Clone)]
pub(crate) struct Does(pub(crate) Trace, pub(crate) u64);

/// Implements the handler [`Does`] for each node: `does!(shop::pack => shop::send)`.
macro_rules! does {
    ($($node:path => $target:ty),+ $(,)?) => { $(
        impl LogicHandler<$node> for crate::trace::Does {
            async fn run(&self, input: <$node as Node>::Input, cx: &mut Cx<'_, $node>) -> Route<$node> {
                self.0.works(cx.node(), self.1).await;
                goto!(cx, $target, input)
            }
        }
    )+ };
}

/// The work of a run, in the order in which it was begun.
#[derive(Clone)]
pub(crate) struct Trace {
    since: Instant,
    spans: Arc<Mutex<Vec<Span>>>,
}

struct Span {
    who: String,
    from: u128,
    /// `None` while the work lasts.
    to: Option<u128>,
    is_cancelled: bool,
}

/// Work in progress; it ends when this is dropped.
struct Work {
    trace: Trace,
    nth: usize,
    is_done: bool,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), spans: Arc::default() }
    }

    /// A logic node that works for so many milliseconds.
    pub(crate) fn does(&self, milliseconds: u64) -> LogicNode<Does> {
        LogicNode(Does(self.clone(), milliseconds))
    }

    /// Works for so many milliseconds, under the name `who`.
    pub(crate) async fn works(&self, who: impl Into<String>, milliseconds: u64) {
        let mut work = self.begins(who.into());
        pass(milliseconds).await;
        work.is_done = true;
    }

    fn begins(&self, who: String) -> Work {
        let mut spans = self.spans.lock().unwrap();
        spans.push(Span { who, from: self.since.elapsed().as_millis(), to: None, is_cancelled: false });
        Work { trace: self.clone(), nth: spans.len() - 1, is_done: false }
    }

    /// The work as text: `knead 0–10, bake 10–15`, and `slow 0–5 cancelled` for work that was
    /// stopped.
    pub(crate) fn told(&self) -> String {
        let spans = self.spans.lock().unwrap();
        let told = spans.iter().map(|Span { who, from, to, is_cancelled }| match (to, is_cancelled) {
            (Some(to), false) => format!("{who} {from}–{to}"),
            (Some(to), true) => format!("{who} {from}–{to} cancelled"),
            (None, _) => format!("{who} {from}–"),
        });
        told.collect::<Vec<_>>().join(", ")
    }

    /// Whether no two pieces of work overlapped.
    pub(crate) fn is_one_at_a_time(&self) -> bool {
        let mut spans: Vec<_> = self.spans.lock().unwrap().iter().map(|span| (span.from, span.to.unwrap())).collect();
        spans.sort_unstable();
        spans.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut spans = self.trace.spans.lock().unwrap();
        let span = &mut spans[self.nth];
        span.to = Some(self.trace.since.elapsed().as_millis());
        span.is_cancelled = !self.is_done;
    }
}

/// Runs a graph to its end; gives its output and its trace.
pub(crate) async fn played<G: Graph>(trace: &Trace, graph: G, entry: G::Entry) -> (G::Output, String)
where
    G::Output: std::fmt::Debug,
{
    let output = finished(timed(graph).start(entry).await.unwrap());
    // A node that is cancelled at the very end is dropped only when the runtime polls it.
    pass(0).await;
    (output, trace.told())
}

/// The same with messages: each is sent at a millisecond, to a node, with a body.
pub(crate) async fn played_with<G: Graph>(
    trace: &Trace,
    graph: G,
    entry: G::Entry,
    messages: &[(u64, &str, impl Serialize)],
) -> (G::Output, String)
where
    G::Output: std::fmt::Debug,
{
    let (journal, log) = (Arc::new(MemoryJournal::new()), Log::new());
    let run = timed(graph).with_journal(journal.clone()).with_events(log.sink());
    let (report, ()) = tokio::join!(run.start(entry), async {
        let mut now = 0;
        for (at, node, message) in messages {
            pass(at - now).await;
            now = *at;
            send(&journal, node, message).await;
        }
    });
    (finished(report.unwrap()), trace.told())
}

/// Sends a message to an event node of the run.
pub(crate) async fn send(journal: &MemoryJournal, node: &str, message: &impl Serialize) {
    let message = serde_json::to_string(message).unwrap().into();
    let body = LetterBody::Message { node: node.to_owned(), message };
    journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
}
