//! How a driver waits: for executions that complete, for advisory nodes and observers, for letters, and for what stops the run.

use crate::cancel::CancelToken;
use crate::context::services::UntypedServices;
use crate::driver::{Driver, Recorded, end::End};
use crate::event::EventKind;
use crate::journal::rules::keeps_waiting;
use crate::journal::{JournalError, Posted};
use crate::limits::allowance::Stopped;
use crate::limits::budget::BudgetExceeded;
use crate::mutex::Mutex;
use crate::tree::Halt;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

/// What a driver that waits is woken by.
enum Woken {
    Completed,
    Background(crate::driver::background::Returned),
    Letter(Result<Posted, JournalError>),
    Parked,
    Cancelled,
    Over,
    Halted,
}

/// What other runs, people and child runs tell a driver.
enum Told {
    /// An execution was parked, or goes on.
    Parked,
    /// The whole tree of runs stops.
    Halted,
}

/// Waits until others tell a driver something.
async fn told(untyped: &UntypedServices) -> Told {
    let mut halted = std::pin::pin!(untyped.settings.tree().halted.cancelled());
    let mut parked = std::pin::pin!(untyped.idle().changed.notified());
    std::future::poll_fn(|context| {
        if halted.as_mut().poll(context).is_ready() {
            return Poll::Ready(Told::Halted);
        }
        parked.as_mut().poll(context).map(|()| Told::Parked)
    })
    .await
}

/// A future that ends a wait when it resolves.
pub(crate) type Over<'over> = Pin<Box<dyn Future<Output = ()> + Send + 'over>>;

/// What waiting came to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// Something has happened.
    ForSomething,
    /// The future that ends the wait has resolved.
    UntilOver,
}

impl Driver {
    /// Waits until something happens; an error if it is what ends the run.
    pub(crate) async fn wait(&mut self) -> Result<(), End> {
        let may_be_parked = self.listens || self.shared.untyped().parked() > 0;
        if may_be_parked && self.look_for_parked()? {
            Box::pin(self.wait_for_people()).await?;
        }
        self.wait_for_any(None).await.map(drop)
    }

    /// Waits for whatever comes next, or until `over` resolves. Handles letters, and what advisory nodes and observers return; what
    /// completes is left for the caller. Not to be dropped half-way: a letter or a return that is being handled would be lost.
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
            // Boxed, and made only where they are needed: a run that waits holds these in memory.
            let mut cancelled = shared.cancel().map(|cancel| Box::pin(cancel.cancelled()));
            let mut told = self.listens.then(|| Box::pin(told(untyped)));
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
                told.as_mut().map_or(Poll::Pending, |told| told.as_mut().poll(context)).map(|told| match told {
                    Told::Halted => Woken::Halted,
                    Told::Parked => Woken::Parked,
                })
            })
            .await
        };
        match woken {
            Woken::Completed | Woken::Parked => {}
            Woken::Over => return Ok(Waited::UntilOver),
            Woken::Background(returned) => Box::pin(self.take_returned(returned)).await?,
            Woken::Letter(posted) => {
                self.recorded.iter_mut().for_each(|recorded| recorded.next_letter = None);
                let posted = posted.map_err(|error| self.journal_failed(error))?;
                Box::pin(self.take_letter(posted)).await?;
            }
            Woken::Cancelled => return Err(self.stopped()),
            Woken::Halted => return Err(End::Halted(untyped.settings.tree().halted_by().unwrap_or(Halt::Suspended))),
        }
        Ok(Waited::ForSomething)
    }

    /// Awaits `done`, and handles meanwhile what a driver handles while it waits; an error if that ends the run. Executions that
    /// complete meanwhile are held for later.
    pub(crate) async fn meanwhile<T: Send>(&mut self, done: impl Future<Output = T> + Send) -> Result<T, End> {
        let result = Mutex::new(None);
        let keep = async {
            let done = done.await;
            *result.lock() = Some(done);
        };
        let mut over: Over<'_> = Box::pin(keep);
        // Most futures are ready at once: then nothing else is handled before.
        let mut is_over = std::future::poll_fn(|context| Poll::Ready(over.as_mut().poll(context).is_ready())).await;
        while !is_over {
            is_over = self.wait_for_any(Some(&mut over)).await? == Waited::UntilOver;
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

    /// How a run ends whose token was cancelled.
    pub(crate) fn stopped(&self) -> End {
        if !self.shared.cancel().is_some_and(CancelToken::is_suspended) {
            return End::Cancelled;
        }
        if self.shared.untyped().settings.is_left_behind() {
            return End::LeftBehind;
        }
        match self.shared.untyped().settings.stopped() {
            // The wall time is used up, which is why the run was suspended.
            Some(stopped @ Stopped::Budget(BudgetExceeded::WallTime { .. })) => End::Halted(Halt::Stopped(stopped)),
            _ => End::Halted(Halt::Suspended),
        }
    }

    /// Finds out whether only people can take the run further. A child tells its parent. In the root that is an error where a budget
    /// is used up, and true where nobody was told yet.
    fn look_for_parked(&mut self) -> Result<bool, End> {
        let waits = self.is_parked();
        let untyped = self.shared.untyped();
        let told = std::mem::replace(&mut self.said_waiting, waits);
        if let Some(child_slot) = untyped.settings.child_slot() {
            child_slot.set_waiting(waits);
            return Ok(false);
        }
        match untyped.settings.tree().held_back_by().filter(|_| waits) {
            Some(stopped) => Err(End::Halted(Halt::Stopped(stopped))),
            None => Ok(waits && !told),
        }
    }

    /// Says that only people can take the run further, or ends it as waiting, unless a letter is on its way to a run of the tree.
    async fn wait_for_people(&mut self) -> Result<(), End> {
        let is_written_to = self.is_written_to().await.map_err(|error| self.journal_failed(error))?;
        // The run that takes the letter up wakes this one.
        self.said_waiting = !is_written_to && self.is_parked();
        let untyped = self.untyped();
        match self.said_waiting {
            true if untyped.settings.options().awaits_people => untyped.tell(EventKind::Waiting),
            true => return Err(End::Halted(Halt::Waiting(untyped.settings.tree().questions()))),
            false => {}
        }
        Ok(())
    }

    /// Whether all executions are parked.
    fn is_parked(&self) -> bool {
        let untyped = self.shared.untyped();
        let (running, idle) = (self.frontier.running(), untyped.idle());
        // A message that waits for an execution which is held back is not next, nor one whose handler waits for a turn that does not
        // come: these go on in another process.
        let mail_is_next = self.has_mail()
            && !self.handling().is_some_and(|it| idle.is_parked(it))
            && !self.frontier.executions().any(|it| keeps_waiting(self.net(), it.node));
        // Outcomes that are held while a message waits are absorbed once that is handled.
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
                // The task of one that was answered, or to which items were added, may not have been polled since.
                let goes_on = || untyped.is_answered(execution) || takes_items(execution);
                is_held(execution) || idle.is_parked(execution) && !goes_on()
            })
    }

    /// Whether the journal has a letter that a run of the tree has not received, or receives while this looks: one run may have
    /// written to another just before it began to wait.
    async fn is_written_to(&mut self) -> Result<bool, JournalError> {
        let Some(Recorded { record_writer, letters, .. }) = self.recorded.as_deref() else { return Ok(false) };
        let untyped = self.shared.untyped();
        let read = untyped.settings.tree().read();
        let own = (untyped.run(), letters);
        for (run, letter) in read.iter().map(|(run, letter)| (run, letter)).chain([own]) {
            if !record_writer.journal.letters(run, *letter).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(read != untyped.settings.tree().read())
    }
}
