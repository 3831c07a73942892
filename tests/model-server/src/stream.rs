//! Sends an answer, with the faults that the script asks for.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};

use crate::dialect::Event;
use crate::reaction::Fault;

/// The time for hyper to write what is already sent before the connection breaks: hyper drops what it has not
/// written by then.
const FLUSH: Duration = Duration::from_millis(20);

/// The body of every answer.
pub(crate) type Body = Channel<Bytes, io::Error>;

/// The pieces of a body, and how to send them.
pub(crate) struct Delivery {
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) pace: Duration,
    pub(crate) fault: Option<Fault>,
}

impl Delivery {
    /// A body that is sent as a whole, without a fault.
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        Self { pieces: vec![body.into()], pace: Duration::ZERO, fault: None }
    }

    /// The body. A task of its own sends it until it is complete or the client stops reading.
    pub(crate) fn start(self) -> Body {
        let (sender, body) = Channel::new(1);
        tokio::spawn(self.send(sender));
        body
    }

    async fn send(self, mut sender: Sender<Bytes, io::Error>) {
        for (index, piece) in self.pieces.into_iter().enumerate() {
            if index > 0 && !self.pace.is_zero() {
                tokio::time::sleep(self.pace).await;
            }
            match self.fault {
                Some(Fault::Stall(after)) if index >= after => return stall(sender).await,
                Some(Fault::Truncate(after)) if index >= after => return,
                Some(Fault::Drop(after)) if index >= after => {
                    tokio::time::sleep(FLUSH).await;
                    return sender.abort(io::ErrorKind::ConnectionReset.into());
                }
                _ => {}
            }
            if sender.send_data(piece).await.is_err() {
                return; // The program went away.
            }
        }
    }
}

/// Keeps the connection open until the server ends. (The server sees only when it sends that the program has closed
/// the connection.)
async fn stall(sender: Sender<Bytes, io::Error>) {
    let _open = sender;
    std::future::pending::<()>().await;
}

/// The bytes of an event.
pub(crate) fn event_bytes(event: &Event, garbled: bool) -> Bytes {
    let name = event.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    let data = if garbled { "{\"type\": \"garbled, and not clo" } else { &event.data };
    Bytes::from(format!("{name}data: {data}\n\n"))
}
