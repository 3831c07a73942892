//! How an answer gets onto the wire, with all that may go wrong on the way.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};

use crate::dialect::Event;
use crate::reaction::Fault;

/// Time for what was said before a connection breaks to be written: hyper throws away what it has not.
const FLUSH: Duration = Duration::from_millis(20);

/// The body of every answer.
pub(crate) type Body = Channel<Bytes, io::Error>;

/// What is sent, piece by piece.
pub(crate) struct Delivery {
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) pace: Duration,
    pub(crate) fault: Option<Fault>,
}

impl Delivery {
    /// A body that comes as a whole, without a fault.
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        Self { pieces: vec![body.into()], pace: Duration::ZERO, fault: None }
    }

    /// The body, which sends itself on a task of its own until it is sent or nobody wants it any more.
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

/// Keeps the connection open until the server ends. (That the program closed it shows only when something is sent.)
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
