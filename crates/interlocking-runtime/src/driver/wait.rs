//! How a driver waits: for completed executions, for advisory nodes and observers, for letters, and for what stops the run.

use crate::cancel::CancelToken;
use crate::context::services::UntypedServices;
use crate::driver::{Driver, Recorded, end::End};
use crate::event::EventKind;
use crate::journal::rules::keeps_waiting;
use crate::journal::{JournalError, Posted};
use crate::mutex::Mutex;
use crate::tree::Halt;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

/// What wakes a driver that waits.
enum Woken {
    Completed,
    Background(crate::driver::background::Returned),
    Letter(Result<Posted, JournalError>),
    Parked,
    Cancelled,
    Over,
    Halted,
}

/// A change that other runs, people and child runs signal to a driver.
enum Signal {
    /// An execution was parked, or continues.
    Parked,
    /// The whole tree of runs halts.
    Halted,
}

/// Waits until the set of parked executions changes or the tree halts.
async fn signalled(untyped: &UntypedServices) -> Signal {
    let mut halted = std::pin::pin!(untyped.settings.tree().halted.cancelled());
    let mut parked = std::pin::pin!(untyped.idle().changed.notified());
    std::future::poll_fn(|context| {
        if halted.as_mut().poll(context).is_ready() {
            return Poll::Ready(Signal::Halted);
        }
        parked.as_mut().poll(context).map(|()| Signal::Parked)
    })
    .await
}

/// A future that ends a wait when it resolves.
pub(crate) type Over<'over> = Pin<Box<dyn Future<Output = ()> + Send + 'over>>;

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// Something happened.
    Woken,
    /// The future that ends the wait resolved.
    Over,
}

impl Driver {
    /// Waits until something happens; an error if that ends the run.
    pub(crate) async fn wait(&mut self) -> Result<(), End> {
        let may_be_parked = self.accepts_signals || self.shared.untyped().parked() > 0;
        if may_be_parked && self.check_parked()? {
            Box::pin(self.wait_for_people()).await?;
        }
        self.wait_for_any(None).await.map(drop)
    }

    /// Waits for the next thing that happens, or until `over` resolves. Handles letters, and what advisory nodes and observers
    /// return; completed executions are left for the caller. Must not be dropped before it resolves: a letter or a result that
    /// is being handled would be lost.
    pub(crate) async fn wait_for_any(&mut self, mut over: Option<&mut Over<'_>>) -> Result<Waited, End> {
        let shared = self.shared.clone();
        let untyped = shared.untyped();
        if let Some(Recorded { record_writer, letters, next_letter, .. }) = self.recorded.as_deref_mut()
            && next_letter.is_none()
        {
            let (journal, run, after) = (record_writer.journal.clone(), untyped.run().clone(), *letters);
            *next_letter = Some(Box::pin(async move { journal.next_letter(&run, after).await }));
        }
        let woken = {
            // Boxed, and created only where they are needed, because a run that waits holds them in memory.
            let mut cancelled = shared.cancel().map(|cancel| Box::pin(cancel.cancelled()));
            let mut signal = self.accepts_signals.then(|| Box::pin(signalled(untyped)));
            let Self { tasks, background, recorded, .. } = self;
            std::future::poll_fn(|context| {
                if tasks.poll_completed(context).is_ready() {
                    return Poll::Ready(Woken::Completed);
                }
                if let Some(background) = background
                    && let Poll::Ready(returned) = background.poll_returned(context)
                {
                    return Poll::Ready(Woken::Background(returned));
                }
                if let Some(Recorded { next_letter: Some(letter), .. }) = recorded.as_deref_mut()
                    && let Poll::Ready(posted) = letter.as_mut().poll(context)
                {
                    return Poll::Ready(Woken::Letter(posted));
                }
                if let Some(cancelled) = &mut cancelled
                    && cancelled.as_mut().poll(context).is_ready()
                {
                    return Poll::Ready(Woken::Cancelled);
                }
                if let Some(over) = &mut over
                    && over.as_mut().poll(context).is_ready()
                {
                    return Poll::Ready(Woken::Over);
                }
                signal.as_mut().map_or(Poll::Pending, |signal| signal.as_mut().poll(context)).map(|it| match it {
                    Signal::Halted => Woken::Halted,
                    Signal::Parked => Woken::Parked,
                })
            })
            .await
        };
        match woken {
            Woken::Completed | Woken::Parked => {}
            Woken::Over => return Ok(Waited::Over),
            Woken::Background(returned) => Box::pin(self.handle_returned(returned)).await?,
            Woken::Letter(posted) => {
                self.recorded.iter_mut().for_each(|recorded| recorded.next_letter = None);
                let posted = posted.map_err(|error| self.journal_failed(error))?;
                Box::pin(self.take_letter(posted)).await?;
            }
            Woken::Cancelled => return Err(self.stopped()),
            Woken::Halted => return Err(End::Halted(untyped.settings.tree().halted_by().unwrap_or(Halt::Suspended))),
        }
        Ok(Waited::Woken)
    }

    /// Awaits `done`, and handles what a driver handles while it waits; an error if that ends the run. In a run with a journal,
    /// executions that complete before `done` resolves are held for later.
    pub(crate) async fn wait_for<T: Send>(&mut self, done: impl Future<Output = T> + Send) -> Result<T, End> {
        let result = Mutex::new(None);
        let keep = async {
            let done = done.await;
            *result.lock() = Some(done);
        };
        let mut over: Over<'_> = Box::pin(keep);
        // Most futures are ready at once, and then nothing else is handled first.
        let mut is_over = std::future::poll_fn(|context| Poll::Ready(over.as_mut().poll(context).is_ready())).await;
        while !is_over {
            is_over = self.wait_for_any(Some(&mut over)).await? == Waited::Over;
            while let Some(completed) = self.tasks.next() {
                if let Some(recorded) = &mut self.recorded {
                    recorded.held.push_back(completed);
                }
            }
        }
        drop(over);
        let done = result.into_inner();
        done.ok_or_else(|| unreachable!("it is over once it is there"))
    }

    /// The end of a run whose token was cancelled.
    pub(crate) fn stopped(&self) -> End {
        if !self.shared.cancel().is_some_and(CancelToken::is_suspended) {
            return End::Cancelled;
        }
        if self.shared.untyped().settings.is_stopped_with_map_node() {
            return End::ChildStopped;
        }
        match self.shared.untyped().settings.stopped() {
            Some(stopped) if stopped.is_end_of_time() => End::Halted(Halt::Stopped(stopped)),
            _ => End::Halted(Halt::Suspended),
        }
    }

    /// Finds out whether only people can continue the run. A child run tells its parent, and the result is false. In the root
    /// run, if only people can continue it, the result is an error where a budget is used up, and true where this was not
    /// announced yet.
    fn check_parked(&mut self) -> Result<bool, End> {
        let waits = self.is_parked();
        let untyped = self.shared.untyped();
        let announced = std::mem::replace(&mut self.announced_waiting, waits);
        if let Some(child_slot) = untyped.settings.child_slot() {
            child_slot.set_waiting(waits);
            return Ok(false);
        }
        match untyped.settings.tree().held_back_by().filter(|_| waits) {
            Some(stopped) => Err(End::Halted(Halt::Stopped(stopped))),
            None => Ok(waits && !announced),
        }
    }

    /// Announces that only people can continue the run, or ends the run as waiting, unless a run of the tree has an unread
    /// letter.
    async fn wait_for_people(&mut self) -> Result<(), End> {
        let has_unread_letters = self.has_unread_letters().await.map_err(|error| self.journal_failed(error))?;
        // The run that takes the letter wakes this one.
        self.announced_waiting = !has_unread_letters && self.is_parked();
        let untyped = self.untyped();
        match self.announced_waiting {
            true if untyped.settings.options().awaits_people => untyped.emit_rare(EventKind::Waiting),
            true => return Err(End::Halted(Halt::Waiting(untyped.settings.tree().questions()))),
            false => {}
        }
        Ok(())
    }

    /// Whether all executions are parked.
    fn is_parked(&self) -> bool {
        let untyped = self.shared.untyped();
        let (running, idle) = (self.frontier.running(), untyped.idle());
        // A message is not handled next if it waits for an execution that is held back, or if its handler waits for a turn that
        // does not come: these continue in another process.
        let mail_is_next = self.has_mail()
            && !self.handling().is_some_and(|it| idle.is_parked(it))
            && !self.frontier.executions().any(|it| keeps_waiting(self.net(), it.node));
        // Outcomes that are held while a message waits are absorbed once the message is handled.
        let held = self.recorded.as_ref().map_or(0, |recorded| recorded.held.len());
        let is_held = |execution| {
            let mut held = self.recorded.iter().flat_map(|recorded| &recorded.held);
            held.any(|completed| completed.execution == execution)
        };
        let takes_items = |execution| untyped.has_untaken(execution) && !idle.is_held_back(execution);
        running > 0
            && idle.count() + held >= running
            && !mail_is_next
            && !self.background.as_ref().is_some_and(|background| background.goes_on(|it| idle.is_parked(it)))
            && self.frontier.executions().all(|execution| {
                // An execution that was answered, or to which items were added, stays parked until its task is polled.
                let goes_on = || untyped.is_answered(execution) || takes_items(execution);
                is_held(execution) || idle.is_parked(execution) && !goes_on()
            })
    }

    /// Whether the journal has a letter that a run of the tree has not received, or a run receives one during this check: one
    /// run may have written to another just before it began to wait.
    async fn has_unread_letters(&mut self) -> Result<bool, JournalError> {
        let Some(Recorded { record_writer, letters, .. }) = self.recorded.as_deref() else { return Ok(false) };
        let untyped = self.shared.untyped();
        let read = untyped.settings.tree().read_letters();
        let own = (untyped.run(), letters);
        for (run, letter) in read.iter().map(|(run, letter)| (run, letter)).chain([own]) {
            if !record_writer.journal.letters(run, *letter).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(read != untyped.settings.tree().read_letters())
    }
}
