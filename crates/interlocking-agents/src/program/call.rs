//! A complete call of a program that speaks a line-based protocol, from its start to the end of its process tree.

use std::io;

use tokio::time::Instant;

use super::invocation::Invocation;
use super::limits::{CallLimits, StopTimeouts};
use super::lines::Line;
use super::running::{Ended, Running};
use crate::agent::TurnContext;
use crate::agent::error::AgentErrorKind;

/// The caller's side of a line-based protocol: handles the lines that a program prints and supplies what is written to it.
pub trait LineProtocol: Send {
    /// Handles a line of the program's standard output. Secrets are redacted.
    fn on_line(&mut self, line: Line<'_>) -> LineOutcome;

    /// The message for standard input that makes the program abort its work, report its usage and end. `None` if the program
    /// reacts to SIGTERM only. Called at most once.
    fn interruption(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Whether the program is running something, such as a command, whose end it will report. Meanwhile the program may be
    /// silent: [`CallLimits::idle`] does not apply.
    fn is_working(&self) -> bool {
        false
    }
}

/// What a line of output means for the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineOutcome {
    /// The line shows progress: it restarts the idle timeout.
    Progress,
    /// The line shows no progress: the idle timeout keeps running.
    NoProgress,
    /// The line shows progress, and these bytes are to be written to standard input.
    Answer(Vec<u8>),
    /// The program's answer is complete. Standard input is closed; the program ends by itself or is stopped. Lines are read until
    /// then.
    Done,
    /// The program does something that it must not do, such as work in another session. It is stopped at once and its output
    /// ignored.
    Stop,
}

/// A call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// How the program ended.
    pub ended: Ended,
    /// Why the program was stopped before its answer was complete: [`Cancelled`](AgentErrorKind::Cancelled),
    /// [`TimedOut`](AgentErrorKind::TimedOut), [`NoFirstEvent`](AgentErrorKind::NoFirstEvent) or [`Idle`](AgentErrorKind::Idle).
    /// `None` if the program ended by itself, or after [`LineOutcome::Done`] or [`LineOutcome::Stop`].
    pub stop_reason: Option<AgentErrorKind>,
}

/// Starts a program, writes its input and passes its output lines to `protocol`. Stops the program when its answer is complete,
/// the turn is interrupted, or a limit is exceeded: first by the protocol's own [interruption](LineProtocol::interruption), then
/// as [`StopTimeouts`] says. The program's remaining descendants are always ended, also when the future is dropped.
///
/// # Errors
///
/// The program could not be started, or its output could not be read.
pub async fn run_protocol(
    invocation: Invocation,
    protocol: &mut (impl LineProtocol + ?Sized),
    context: &TurnContext<'_>,
    limits: &CallLimits,
    timeouts: &StopTimeouts,
) -> Result<Call, AgentErrorKind> {
    let running = tokio::select! {
        biased;
        () = context.interrupted() => return Err(AgentErrorKind::Cancelled),
        started = invocation.start() => started?,
    };
    let deadlines = Deadlines { begun: Instant::now(), last_event: None, limits };
    let mut exchange = Exchange { running, protocol };
    let outcome = exchange.read_until_done(context, deadlines).await.map_err(broken)?;
    let may_end_itself = match &outcome {
        Outcome::Done => {
            exchange.running.close_input();
            true
        }
        Outcome::Stop => false,
        Outcome::Cut(reason) => {
            tracing::debug!(%reason, "stopping a program");
            exchange.protocol.interruption().is_some_and(|message| exchange.running.write(message).is_ok())
        }
    };
    if !may_end_itself
        || !matches!(tokio::time::timeout(timeouts.interrupt, exchange.read_until_end()).await, Ok(Ok(true)))
    {
        exchange.running.stop(timeouts).await.map_err(broken)?;
    }
    let ended = exchange.running.end().await.map_err(broken)?;
    let stop_reason = match outcome {
        Outcome::Done | Outcome::Stop => None,
        Outcome::Cut(reason) => Some(reason),
    };
    Ok(Call { ended, stop_reason })
}

/// Why reading the program's answer stopped.
enum Outcome {
    /// The answer is complete, or the program has closed its output.
    Done,
    /// The program must be stopped at once.
    Stop,
    /// The turn was interrupted or a limit was exceeded.
    Cut(AgentErrorKind),
}

struct Exchange<'a, D: ?Sized> {
    running: Running,
    protocol: &'a mut D,
}

impl<D: LineProtocol + ?Sized> Exchange<'_, D> {
    /// Passes lines to the protocol until the answer is complete, the output ends, or the program must be stopped.
    async fn read_until_done(
        &mut self,
        context: &TurnContext<'_>,
        mut deadlines: Deadlines<'_>,
    ) -> io::Result<Outcome> {
        loop {
            let (due, reason) = deadlines.next(self.protocol.is_working());
            let line = tokio::select! {
                biased;
                () = context.interrupted() => return Ok(Outcome::Cut(AgentErrorKind::Cancelled)),
                () = sleep_until(due) => return Ok(reason.map_or(Outcome::Done, Outcome::Cut)),
                line = self.running.next_line() => line?,
            };
            let Some(line) = line else { return Ok(Outcome::Done) };
            match self.protocol.on_line(line) {
                LineOutcome::NoProgress => {}
                LineOutcome::Progress => deadlines.last_event = Some(Instant::now()),
                LineOutcome::Answer(answer) => {
                    deadlines.last_event = Some(Instant::now());
                    // If the write fails, the program's next lines or its exit status show why.
                    let _ = self.running.write(answer);
                }
                LineOutcome::Done => return Ok(Outcome::Done),
                LineOutcome::Stop => return Ok(Outcome::Stop),
            }
        }
    }

    /// Passes the remaining lines to the protocol until the program has ended. Returns false if the program must be stopped.
    async fn read_until_end(&mut self) -> io::Result<bool> {
        while let Some(line) = self.running.next_line().await? {
            match self.protocol.on_line(line) {
                LineOutcome::Done => self.running.close_input(),
                LineOutcome::Stop => return Ok(false),
                LineOutcome::NoProgress | LineOutcome::Progress | LineOutcome::Answer(_) => {}
            }
        }
        self.running.wait().await.map(|()| true)
    }
}

/// When a call exceeds its limits.
struct Deadlines<'a> {
    begun: Instant,
    /// When the program last showed progress.
    last_event: Option<Instant>,
    limits: &'a CallLimits,
}

impl Deadlines<'_> {
    /// The next deadline, and the error for exceeding it.
    fn next(&self, is_working: bool) -> (Option<Instant>, Option<AgentErrorKind>) {
        let total = self.limits.total.map(|limit| (self.begun + limit, AgentErrorKind::TimedOut { limit }));
        let silence = match self.last_event {
            None => {
                let first = self.limits.first_event.map(|limit| (limit, AgentErrorKind::NoFirstEvent { limit }));
                let idle = self.limits.idle.map(|limit| (limit, AgentErrorKind::Idle { limit, nudges: 0 }));
                first.or(idle).map(|(limit, kind)| (self.begun + limit, kind))
            }
            Some(_) if is_working => None,
            Some(last) => self.limits.idle.map(|limit| (last + limit, AgentErrorKind::Idle { limit, nudges: 0 })),
        };
        let next = [total, silence].into_iter().flatten().min_by_key(|(due, _)| *due);
        next.map_or((None, None), |(due, kind)| (Some(due), Some(kind)))
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn broken(error: io::Error) -> AgentErrorKind {
    AgentErrorKind::Other { message: format!("the agent's program cannot be followed: {error}"), transient: true }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;
    use crate::conversation::activity::Activity;
    use crate::conversation::interrupt::Interrupt;
    use crate::drivers::event_meter::EventMeter;
    use crate::program::Environment;
    use crate::program::starter::on_starter;
    use crate::sessions::Sessions;
    use crate::sessions::session::{SessionOp, Slug};

    struct Silent;

    impl LineProtocol for Silent {
        fn on_line(&mut self, _line: Line<'_>) -> LineOutcome {
            LineOutcome::NoProgress
        }
    }

    /// Programs start one after the other.
    #[tokio::test]
    async fn the_time_before_the_start_does_not_count() {
        let hold = Sessions::new().hold(&SessionOp::StartFresh(Slug::new("test").unwrap()), None).unwrap();
        let (interrupt, idle, activity) = (Interrupt::new(), Interrupt::new(), Activity::new());
        let (events, meter) = (|_| {}, EventMeter::default());
        let context = TurnContext {
            hold: &hold,
            events: &events,
            interrupt: &interrupt,
            idle: &idle,
            activity: &activity,
            meter: &meter,
        };
        let invocation = Invocation { arguments: vec!["0".into()], ..Invocation::new("sleep", Environment::minimal()) };
        let limit = Duration::from_secs(300);
        let limits = CallLimits { total: Some(limit), ..CallLimits::NONE };
        let (release, held) = std::sync::mpsc::channel();
        let blocking = tokio::spawn(on_starter(move || held.recv()));
        tokio::task::yield_now().await;
        let (mut protocol, timeouts) = (Silent, StopTimeouts::AT_ONCE);
        let mut call = pin!(run_protocol(invocation, &mut protocol, &context, &limits, &timeouts));
        assert!(call.as_mut().now_or_never().is_none());
        tokio::time::pause();
        tokio::time::advance(2 * limit).await;
        tokio::time::resume();
        release.send(()).unwrap();
        let call = call.await.unwrap();
        assert_eq!((call.ended.exit, call.stop_reason), (Some(0), None));
        blocking.await.unwrap().unwrap().unwrap();
    }
}
