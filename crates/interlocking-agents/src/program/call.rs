//! The whole of a call: a program that speaks in lines, from its start to the end of its tree.

use std::io;

use tokio::time::Instant;

use super::invocation::Invocation;
use super::limits::{CallLimits, StopOrder};
use super::lines::Line;
use super::running::{Ended, Running};
use crate::agent::TurnContext;
use crate::agent::error::AgentErrorKind;

/// What a program says, line by line, and what is said to it.
pub trait LineProtocol: Send {
    /// Takes a line of the program's standard output, without secrets.
    fn on_line(&mut self, line: Line<'_>) -> LineOutcome;

    /// What is written to standard input so that the program breaks off what it does, says what it used up, and ends; none if it
    /// understands SIGTERM alone. Asked once.
    fn interruption(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Whether the program works on something of its own, such as a command, of which it will say the end. Then it may be
    /// silent.
    fn is_working(&self) -> bool {
        false
    }
}

/// What a line meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineOutcome {
    /// It is a sign of life.
    Sign,
    /// It is none: whoever says only this is silent.
    Nothing,
    /// It is a sign of life, and this is to be written to standard input.
    Answer(Vec<u8>),
    /// Everything was said. Standard input is closed, the program ends by itself or is stopped. Lines are read until then.
    Done,
    /// It works where it must not, as in another session: it is stopped at once, and not listened to any more.
    Stop,
}

/// A call that came to an end.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// How the program ended.
    pub ended: Ended,
    /// Why it was stopped before everything was said: [`Cancelled`](AgentErrorKind::Cancelled),
    /// [`TimedOut`](AgentErrorKind::TimedOut), [`NoFirstEvent`](AgentErrorKind::NoFirstEvent) or [`Idle`](AgentErrorKind::Idle).
    /// None if it ended by itself, or after [`LineOutcome::Done`] or [`LineOutcome::Stop`].
    pub cut: Option<AgentErrorKind>,
}

/// Starts a program, writes its input, gives its lines to `protocol`, and stops it when it is done, interrupted, or over one of
/// its limits: with the protocol's own [interruption](LineProtocol::interruption), then as [`StopOrder`] says. Whatever it left behind
/// is ended in any case, and when the future is dropped.
///
/// # Errors
///
/// It could not be started, or the system refused to read from it.
pub async fn run_protocol(
    invocation: Invocation,
    protocol: &mut (impl LineProtocol + ?Sized),
    context: &TurnContext<'_>,
    limits: &CallLimits,
    order: &StopOrder,
) -> Result<Call, AgentErrorKind> {
    let watch = Watch { begun: Instant::now(), sign: None, limits };
    let running = tokio::select! {
        biased;
        () = context.interrupted() => return Err(AgentErrorKind::Cancelled),
        started = invocation.start() => started?,
    };
    let mut exchange = Exchange { running, protocol };
    let heard = exchange.until_said(context, watch).await.map_err(broken)?;
    let asked = match &heard {
        Heard::All => {
            exchange.running.close_input();
            true
        }
        Heard::Stop => false,
        Heard::Cut(reason) => {
            tracing::debug!(%reason, "stopping a program");
            exchange.protocol.interruption().is_some_and(|asking| exchange.running.write(asking).is_ok())
        }
    };
    if !asked || !matches!(tokio::time::timeout(order.interrupt, exchange.until_over()).await, Ok(Ok(true))) {
        exchange.running.stop(order).await.map_err(broken)?;
    }
    let ended = exchange.running.end().await.map_err(broken)?;
    let cut = match heard {
        Heard::All | Heard::Stop => None,
        Heard::Cut(reason) => Some(reason),
    };
    Ok(Call { ended, cut })
}

/// Why a program is not listened to any more.
enum Heard {
    /// Everything was said, or nothing more will be.
    All,
    /// It is to be stopped at once.
    Stop,
    /// It was cut short.
    Cut(AgentErrorKind),
}

struct Exchange<'a, D: ?Sized> {
    running: Running,
    protocol: &'a mut D,
}

impl<D: LineProtocol + ?Sized> Exchange<'_, D> {
    /// Until everything was said, or nothing more is to be heard.
    async fn until_said(&mut self, context: &TurnContext<'_>, mut watch: Watch<'_>) -> io::Result<Heard> {
        loop {
            let (due, reason) = watch.due(self.protocol.is_working());
            let line = tokio::select! {
                biased;
                () = context.interrupted() => return Ok(Heard::Cut(AgentErrorKind::Cancelled)),
                () = at(due) => return Ok(reason.map_or(Heard::All, Heard::Cut)),
                line = self.running.next_line() => line?,
            };
            let Some(line) = line else { return Ok(Heard::All) };
            match self.protocol.on_line(line) {
                LineOutcome::Nothing => {}
                LineOutcome::Sign => watch.sign = Some(Instant::now()),
                LineOutcome::Answer(answer) => {
                    watch.sign = Some(Instant::now());
                    // Whether it could be written shows in what the program says next, or in its end.
                    let _ = self.running.write(answer);
                }
                LineOutcome::Done => return Ok(Heard::All),
                LineOutcome::Stop => return Ok(Heard::Stop),
            }
        }
    }

    /// Hears what is still said, until the program has ended. False if it is to be stopped.
    async fn until_over(&mut self) -> io::Result<bool> {
        while let Some(line) = self.running.next_line().await? {
            match self.protocol.on_line(line) {
                LineOutcome::Done => self.running.close_input(),
                LineOutcome::Stop => return Ok(false),
                LineOutcome::Nothing | LineOutcome::Sign | LineOutcome::Answer(_) => {}
            }
        }
        self.running.wait().await.map(|()| true)
    }
}

/// When a call has taken too long.
struct Watch<'a> {
    begun: Instant,
    /// The last sign of life.
    sign: Option<Instant>,
    limits: &'a CallLimits,
}

impl Watch<'_> {
    /// What is due next, and what that means.
    fn due(&self, is_working: bool) -> (Option<Instant>, Option<AgentErrorKind>) {
        let whole = self.limits.whole.map(|limit| (self.begun + limit, AgentErrorKind::TimedOut { limit }));
        let silence = match self.sign {
            None => {
                let first = self.limits.first_event.map(|limit| (limit, AgentErrorKind::NoFirstEvent { limit }));
                let idle = self.limits.idle.map(|limit| (limit, AgentErrorKind::Idle { limit, nudges: 0 }));
                first.or(idle).map(|(limit, kind)| (self.begun + limit, kind))
            }
            Some(_) if is_working => None,
            Some(sign) => self.limits.idle.map(|limit| (sign + limit, AgentErrorKind::Idle { limit, nudges: 0 })),
        };
        let next = [whole, silence].into_iter().flatten().min_by_key(|(due, _)| *due);
        next.map_or((None, None), |(due, kind)| (Some(due), Some(kind)))
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn broken(error: io::Error) -> AgentErrorKind {
    AgentErrorKind::Other { message: format!("the agent's program cannot be followed: {error}"), transient: true }
}
