//! Drives one run's frontier: starts what is due, waits for what comes of it, and hands that on to be absorbed.

pub(crate) mod end;
pub(crate) mod standing;
pub(crate) mod background_returns;
pub(crate) mod absorb;
pub(crate) mod background;
pub(crate) mod mailbox;
pub(crate) mod start;
pub(crate) mod wait;

use crate::context::services::UntypedServices;
use crate::driver::background::Background;
use crate::driver::end::End;
use crate::driver::standing::{Begun, StandingReport};
use crate::execution::chain::{Chained, CurrentNode};
use crate::execution::shared::Shared;
use crate::execution::{completions::Completed, tasks::RunningTasks};
use crate::execution::{
    interruption::{Interruption, Stop, failure},
    perform::is_watched,
};
use crate::journal::record_writer::RecordWriter;
use crate::journal::replay::keeps_waiting;
use crate::journal::{Encoded, JournalError, LetterBody, NodeOutcome, Posted};
use crate::run::claims::Executor;
use crate::run::outcome::Outcome;
use interlocking_core::context::Effects;
use interlocking_core::failure::FailureKind;
use interlocking_core::frontier::{Execution, Frontier, Solo};
use interlocking_core::graph::{Done, Graph};
use interlocking_core::net::{Features, NodeIndex};
use interlocking_core::route::Step;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// One run under way.
pub(crate) struct Driver<G: Graph> {
    pub(crate) shared: Arc<Shared<G>>,
    pub(crate) frontier: Frontier<'static, G::Token>,
    /// What a run has that is recorded.
    pub(crate) recorded: Option<Box<Recorded<G>>>,
    /// Where its chain stands, if it is one now.
    pub(crate) current_node: CurrentNode,
    /// Executions that run as tasks of their own: others run beside them, or there is a journal.
    pub(crate) tasks: RunningTasks<G>,
    /// Whether chains may go on by themselves: nothing is recorded, and no node is watched or observed.
    pub(crate) relays: bool,
    /// Whether any node is observed.
    pub(crate) observes: bool,
    /// Advisory nodes and observers, once there is something for them.
    pub(crate) background: Option<Box<Background<G>>>,
    /// Whether it was said that only people can take the run further.
    pub(crate) said_waiting: bool,
    /// Whether the run has come to an end, of whatever sort.
    pub(crate) has_ended: bool,
    /// Whether others come to the driver while a node runs: people and the children of maps, which may park executions or halt the
    /// run, and observers, which are to be shown what they have not seen.
    pub(crate) listens: bool,
}

/// What a driver has where there is a journal.
pub(crate) struct Recorded<G: Graph> {
    /// Writes the run's records.
    pub(crate) record_writer: Arc<RecordWriter>,
    /// The run is this driver's, and that of what it leaves behind, while this lives.
    pub(crate) executor: Executor,
    /// By place: the payload that arrived last.
    pub(crate) arrived: Vec<Option<Encoded>>,
    /// The messages that wait for a safe point: the event node, and what it gets.
    pub(crate) mailbox: VecDeque<(NodeIndex, G::Token)>,
    /// Outcomes of map and human nodes that came while a message waited.
    pub(crate) held: VecDeque<Completed<G>>,
    /// The number of the last letter that was taken up.
    pub(crate) letters: u64,
    /// The next letter.
    pub(crate) next_letter: Option<NextLetter>,
}

type NextLetter = Pin<Box<dyn Future<Output = Result<Posted, JournalError>> + Send>>;

/// What an execution that counts asks for.
pub(crate) type Accepted<G> = (Step<<G as Graph>::Token>, Effects);

/// What a driver comes to.
pub(crate) enum Next<G: Graph> {
    /// An execution that is alone, and from which a chain goes on by itself.
    Chain(Execution, G::Token),
    /// Any other execution that is alone.
    Alone(Execution, G::Token),
    /// It has to wait.
    Wait,
    /// The exit.
    Ended(G::Output),
}

impl<G: Graph> Driver<G> {
    pub(crate) fn new(
        shared: Shared<G>,
        frontier: Frontier<'static, G::Token>,
        recorded: Option<Box<Recorded<G>>>,
    ) -> Self {
        let Features { maps, observes, workspaces, .. } = G::net().features();
        Self {
            shared: Arc::new(shared),
            frontier,
            current_node: CurrentNode::nowhere(),
            tasks: RunningTasks::default(),
            relays: recorded.is_none() && !workspaces && !observes,
            observes,
            listens: recorded.is_some() || maps || observes,
            recorded,
            background: None,
            said_waiting: false,
            has_ended: false,
        }
    }

    /// Does what is left once no more nodes are started.
    pub(crate) async fn wind_up(&mut self, end: Result<G::Output, End>) -> Outcome<G::Output> {
        let end = match end {
            Ok(output) => self.conclude(output).await,
            Err(end) => Err(end),
        };
        self.tasks.shutdown().await;
        if let Some(background) = &mut self.background {
            background.shutdown().await;
        }
        if G::net().features().maps
            && let Some(tree) = self.untyped().settings.known_tree()
        {
            // Children are stopped with their map node, and record what they have cost a moment later.
            tree.childless(self.untyped().run()).await;
        }
        self.has_ended = true;
        self.finish(end).await
    }

    pub(crate) fn shared(&self) -> Arc<Shared<G>> {
        self.shared.clone()
    }

    pub(crate) fn untyped(&self) -> &UntypedServices {
        &self.shared.services.untyped
    }

    /// Writes the run's records; `None` where there is no journal.
    #[inline]
    pub(crate) fn record_writer(&self) -> Option<&Arc<RecordWriter>> {
        self.recorded.as_ref().map(|recorded| &recorded.record_writer)
    }

    /// Whether a message waits.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| !recorded.mailbox.is_empty())
    }

    /// What works beside the graph.
    pub(crate) fn background(&mut self) -> &mut Background<G> {
        self.background.get_or_insert_with(|| Box::new(Background::new(G::net())))
    }

    /// Whether anything works beside the graph.
    pub(crate) fn is_background_busy(&self) -> bool {
        self.background.as_ref().is_some_and(|background| background.is_busy())
    }

    /// Shows an outcome to whoever observes its node.
    pub(crate) fn observe(&mut self, outcome: NodeOutcome) {
        if self.observes {
            let shared = self.shared.clone();
            self.background().observe(&shared, outcome);
        }
    }

    /// Begins again what had begun before.
    pub(crate) async fn begin(&mut self, begun: Box<Begun<G>>) -> Result<(), End> {
        let begun = *begun;
        if let Some((by, messages)) = &begun.posted {
            self.post(by, messages).await.map_err(|error| self.journal_failed(error))?;
        }
        if let Some(failure) = begun.doomed {
            return Err(End::failed(failure));
        }
        for StandingReport { execution, report } in begun.reports {
            self.background().reports.add(execution, report);
        }
        for outcome in begun.observed {
            self.observe(outcome);
        }
        let started = self.shared.services.untyped.now();
        for (execution, token) in begun.in_flight {
            self.shared.services.untyped.emit_started(execution, started);
            self.tasks.start(&self.shared, execution, &mut Some(token), started);
        }
        for (execution, token) in begun.advisory {
            let shared = self.shared.clone();
            self.background().start(&shared, execution, token);
        }
        // What has come meanwhile is taken up before anybody says that the run waits for it.
        if let Some(Recorded { record_writer, letters, .. }) = self.recorded.as_deref() {
            let (record_writer, letters) = (record_writer.clone(), *letters);
            let letters = record_writer.journal.letters(self.shared.services.untyped.run(), letters).await;
            for posted in letters.map_err(|error| self.journal_failed(error))? {
                let is_void = posted.number <= begun.retried_after && posted.letter.body == LetterBody::Cancel;
                match &mut self.recorded {
                    Some(recorded) if is_void => recorded.letters = posted.number,
                    _ => self.take_letter(posted).await?,
                }
            }
        }
        Ok(())
    }

    /// What a chain needs that begins with an execution, where one may: it is alone, and nobody watches it.
    pub(crate) fn solo(&mut self, execution: Execution) -> Option<(&Shared<G>, &CurrentNode, Solo<'_>)> {
        let solo = self.may_chain(execution).then(|| self.frontier.solo(execution))??;
        Some((&self.shared, &self.current_node, solo))
    }

    /// Whether a chain may begin with an execution that is alone.
    pub(crate) fn may_chain(&self, execution: Execution) -> bool {
        self.relays && !is_watched(&self.shared.services, execution)
    }

    /// Takes in where a chain ended, and goes as far as it can without waiting.
    pub(crate) fn take_in(&mut self, chained: Chained<G>) -> Result<Next<G>, End> {
        let Chained { execution, result, now, took } = chained;
        self.absorb_unrecorded(execution, result, now, took)?;
        self.advance()
    }

    /// Goes as far as it can without waiting.
    pub(crate) fn advance(&mut self) -> Result<Next<G>, End> {
        if self.listens {
            return Ok(Next::Wait);
        }
        if let Some((execution, input)) = self.start_due()? {
            return Ok(self.alone(execution, input));
        }
        if self.frontier.running() == 0 {
            return Ok(self.at_end()?.map_or(Next::Wait, Next::Ended));
        }
        Ok(Next::Wait)
    }

    /// Goes on to the end, or to a node from which a chain may go on by itself.
    pub(crate) async fn drive(&mut self, next: Next<G>) -> Result<Next<G>, End> {
        if let Next::Alone(execution, input) = next {
            self.run_here(execution, input).await?;
        }
        loop {
            if self.has_mail() {
                Box::pin(self.handle_messages()).await?;
            }
            if !self.has_mail()
                && let Some((execution, input)) = self.start_due()?
            {
                match self.alone(execution, input) {
                    Next::Alone(execution, input) => self.run_here(execution, input).await?,
                    chain => return Ok(chain),
                }
                continue;
            }
            // While something runs, the run neither has come to its exit nor is stuck.
            if self.frontier.running() == 0 {
                if let Some(output) = self.at_end()? {
                    return Ok(Next::Ended(output));
                }
                if self.has_mail() {
                    continue;
                }
            }
            if self.recorded.is_none() {
                if !self.absorb_completed()? {
                    self.wait().await?;
                }
                continue;
            }
            match self.next_completed() {
                None => self.wait().await?,
                Some(completed) => Box::pin(self.absorb_recorded(completed)).await?,
            }
        }
    }

    /// What a run comes to in which nothing runs; `None` if a message still waits.
    fn at_end(&mut self) -> Result<Option<G::Output>, End> {
        if let Some(output) = self.frontier.take_exit().and_then(G::leave) {
            return Ok(Some(output));
        }
        match self.frontier.stuck() {
            Some(violation) if !self.has_mail() => Err(self.unsound(None, violation)),
            _ => Ok(None),
        }
    }

    /// Takes in what has completed already, where there is no journal, until something is due or nothing runs; false if
    /// nothing has completed.
    fn absorb_completed(&mut self) -> Result<bool, End> {
        let mut any = false;
        while let Some(Completed { execution, result, now }) = self.tasks.next() {
            any = true;
            let took = now.since(self.tasks.started(execution.node));
            match result {
                // Looked at here already: it would be moved as a part of something larger each time.
                Some(Ok(Done { route: Ok(step), effects })) if self.frontier.is_current(execution) => {
                    self.accept(execution, step, effects, now, took)?;
                }
                result => {
                    let result = self.settled(execution, result);
                    self.absorb_unrecorded(execution, result, now, took)?;
                }
            }
            if self.frontier.has_due() || self.frontier.running() == 0 {
                break;
            }
        }
        Ok(any)
    }

    /// What is to be taken in next: first what was held while a message waited, if none waits any more.
    fn next_completed(&mut self) -> Option<Completed<G>> {
        let free = self.recorded.as_mut().filter(|recorded| recorded.mailbox.is_empty());
        free.and_then(|recorded| recorded.held.pop_front()).or_else(|| self.tasks.next())
    }

    /// Takes in what has completed, where there is a journal.
    async fn absorb_recorded(&mut self, completed: Completed<G>) -> Result<(), End> {
        if let Some(recorded) = &mut self.recorded
            && !recorded.mailbox.is_empty()
            && !keeps_waiting(G::net(), completed.execution.node)
        {
            recorded.held.push_back(completed);
            return Ok(());
        }
        let Completed { execution, result, now } = completed;
        let took = now.since(self.tasks.started(execution.node));
        let result = self.settled(execution, result);
        self.absorb(execution, result, now, took).await
    }

    /// What came of a task.
    fn settled(&self, execution: Execution, result: Option<Result<Done<G>, Interruption>>) -> Result<Done<G>, Stop> {
        match result {
            Some(Ok(done)) => Ok(done),
            Some(Err(interruption)) => Err(interruption.into_stop(&self.shared.services, execution)),
            None => Err(self.lost(execution)),
        }
    }

    /// Why a task ended without an outcome. One that was stopped may too, but the frontier discarded that before.
    #[cold]
    fn lost(&self, execution: Execution) -> Stop {
        let message = "in the drop of a value that its handler held".to_owned();
        Stop::Failed(Box::new(failure(&self.shared.services, execution, FailureKind::Panic, message, Vec::new())))
    }
}

impl<G: Graph> Drop for Driver<G> {
    fn drop(&mut self) {
        if !self.has_ended
            && self.untyped().settings.depth() == 0
            && let Some(tree) = self.untyped().settings.known_tree()
        {
            tree.abandon(self.untyped().settings.journal.as_ref());
        }
    }
}
