//! Requests to a server and their answers: JSON-RPC over the server's standard input and output.

use super::messages::{Incoming, ResponseError, ServerStatus};
use crate::error::CodeError;
use interlocking_agents::program::{Line, Running, StopTimeouts};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot, watch};

/// The longest message, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 64 * 1024 * 1024;

/// How long a server that has closed its input or output has to end.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(20);

/// The readiness that a server reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The server is reading the project.
    Busy,
    /// The server has read the project. The text is its warning about what it could not read.
    Ready(Option<String>),
    /// The server cannot read the project, for this reason.
    Broken(String),
}

/// The connection to a running server. The server ends when the connection is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    program: String,
    timeout: Duration,
    next_id: AtomicU64,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    readiness: watch::Receiver<Readiness>,
    /// Why the server has ended, once it has.
    ended: Arc<Mutex<Option<String>>>,
}

struct Outgoing {
    message: Value,
    reply: Option<(u64, oneshot::Sender<Result<Value, ResponseError>>)>,
}

impl Connection {
    /// `temporary` is the server's temporary directory, which is removed when the server has ended.
    pub(super) fn new(program: String, timeout: Duration, running: Running, temporary: TempDir) -> Self {
        let (outgoing, requests) = mpsc::unbounded_channel();
        let (told, readiness) = watch::channel(Readiness::Busy);
        let ended = Arc::new(Mutex::new(None));
        let actor = Actor { running, frame: Frame::default(), requests, waiting: HashMap::new(), told };
        let ending = ended.clone();
        tokio::spawn(async move {
            actor.run(ending).await;
            drop(temporary);
        });
        Self { program, timeout, next_id: AtomicU64::new(1), outgoing, readiness, ended }
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// Waits until the server's readiness is not [`Readiness::Busy`], and returns it.
    pub(super) async fn readiness(&self) -> Result<Readiness, CodeError> {
        let mut readiness = self.readiness.clone();
        match readiness.wait_for(|it| *it != Readiness::Busy).await {
            Ok(readiness) => Ok(readiness.clone()),
            Err(_) => Err(self.has_ended()),
        }
    }

    /// Sends a request and waits for the answer. While the server asks for the request again, it is sent again.
    pub(super) async fn request(&self, method: &'static str, params: Value) -> Result<Value, CodeError> {
        let program = || self.program.clone();
        let answered = async {
            loop {
                match self.send(method, &params).await {
                    Ok(Err(error)) if error.is_for_now() => tokio::time::sleep(PAUSE).await,
                    Ok(Err(ResponseError { message, .. })) => {
                        return Err(CodeError::Refused { program: program(), method, message });
                    }
                    Ok(Ok(result)) => return Ok(result),
                    Err(_) => return Err(self.has_ended()),
                }
            }
        };
        let late = |_| Err(CodeError::TimedOut { program: program(), method, after: self.timeout });
        tokio::time::timeout(self.timeout, answered).await.unwrap_or_else(late)
    }

    fn send(&self, method: &str, params: &Value) -> oneshot::Receiver<Result<Value, ResponseError>> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        // If the actor has ended, the answer's channel is closed too.
        drop(self.outgoing.send(Outgoing { message, reply: Some((id, reply)) }));
        answer
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: Value) -> Result<(), CodeError> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.outgoing.send(Outgoing { message, reply: None }).map_err(|_| self.has_ended())
    }

    fn has_ended(&self) -> CodeError {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        CodeError::Ended { program: self.program.clone(), reason: ended.unwrap_or_default() }
    }
}

/// Why the connection is over.
enum Over {
    /// The server has closed its output, or has ended.
    Ended,
    /// The server violates the protocol.
    Broken(String),
}

/// Communicates with the server in a task of its own, until the [`Connection`] is dropped or the server ends.
struct Actor {
    running: Running,
    frame: Frame,
    requests: mpsc::UnboundedReceiver<Outgoing>,
    waiting: HashMap<u64, oneshot::Sender<Result<Value, ResponseError>>>,
    told: watch::Sender<Readiness>,
}

impl Actor {
    async fn run(mut self, ended: Arc<Mutex<Option<String>>>) {
        let reason = loop {
            let Self { running, frame, requests, .. } = &mut self;
            let done = tokio::select! {
                message = frame.next_message(running) => match message {
                    Ok(Some(message)) => self.take(message),
                    Ok(None) => Err(Over::Ended),
                    Err(error) => Err(Over::Broken(error.to_string())),
                },
                request = requests.recv() => match request {
                    Some(request) => self.send(request),
                    None => {
                        // Fails if the system cannot wait for it, of which nobody could be told.
                        let _ = self.running.stop(&StopTimeouts::AT_ONCE).await;
                        return;
                    }
                },
            };
            if let Err(over) = done {
                break over;
            }
        };
        let reason = match reason {
            Over::Broken(reason) => reason,
            Over::Ended => end(self.running).await,
        };
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        // Set before the channels close, which wakes the callers that wait for answers.
    }

    fn send(&mut self, Outgoing { message, reply }: Outgoing) -> Result<(), Over> {
        if let Some((id, reply)) = reply {
            self.waiting.retain(|_, reply| !reply.is_closed());
            self.waiting.insert(id, reply);
        }
        self.write(&message)
    }

    fn write(&mut self, message: &Value) -> Result<(), Over> {
        let body = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.running.write(framed).map_err(|_| Over::Ended)
    }

    fn take(&mut self, message: Vec<u8>) -> Result<(), Over> {
        let message: Incoming =
            serde_json::from_slice(&message).map_err(|error| Over::Broken(format!("it wrote no message: {error}")))?;
        match (message.method, message.id) {
            (Some(method), Some(id)) => {
                let answer = match &method[..] {
                    // `null` for each section that the server asks for: it then uses its own defaults.
                    "workspace/configuration" => {
                        let sections = message.params["items"].as_array().map_or(0, Vec::len);
                        json!({ "jsonrpc": "2.0", "id": id, "result": vec![Value::Null; sections] })
                    }
                    "client/registerCapability" | "client/unregisterCapability" | "window/workDoneProgress/create" => {
                        json!({ "jsonrpc": "2.0", "id": id, "result": null })
                    }
                    _ => {
                        let error = json!({ "code": -32601, "message": format!("{method} is not offered") });
                        json!({ "jsonrpc": "2.0", "id": id, "error": error })
                    }
                };
                self.write(&answer)?;
            }
            (Some(method), None) if method == "experimental/serverStatus" => {
                if let Ok(status) = serde_json::from_value::<ServerStatus>(message.params)
                    && status.quiescent
                {
                    self.told.send_replace(if status.health == "error" {
                        let words = format!("{} {}", status.message.unwrap_or_default(), self.running.stderr_tail());
                        Readiness::Broken(words.trim().to_owned())
                    } else {
                        Readiness::Ready(status.message.filter(|_| status.health == "warning"))
                    });
                }
            }
            (None, Some(id)) => {
                if let Some(reply) = id.as_u64().and_then(|id| self.waiting.remove(&id)) {
                    let result = message.error.map_or(Ok(message.result), Err);
                    // Fails if the caller no longer waits.
                    drop(reply.send(result));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Waits until a server has ended, and returns its last words. One that has closed its input or output and does not end is stopped.
async fn end(mut running: Running) -> String {
    let is_ending = tokio::time::timeout(END_TIMEOUT, running.wait()).await.is_ok();
    if !is_ending && let Err(error) = running.stop(&StopTimeouts::DEFAULT).await {
        return error.to_string();
    }
    match running.end().await {
        Ok(end) if !end.stderr.is_empty() => end.stderr,
        Ok(_) if is_ending => "it says nothing".to_owned(),
        Ok(_) => "it closed its input or output, did not end, and was stopped".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// The state of reading a message.
#[derive(Default)]
struct Frame {
    /// The length of the body, once the header has stated it.
    length: Option<usize>,
    /// Whether the header has been read to the end.
    is_body: bool,
}

impl Frame {
    /// The next message; `None` at the end of the output. Cancel-safe: nothing is lost if this future is dropped.
    async fn next_message(&mut self, running: &mut Running) -> io::Result<Option<Vec<u8>>> {
        while !self.is_body {
            match running.next_line().await? {
                None => return Ok(None),
                Some(Line::TooLong { .. }) => return Err(invalid("it wrote a header that is too long")),
                Some(Line::Whole(line)) => self.take_header(line)?,
            }
        }
        let message = running.read_exact(self.length.unwrap_or_default()).await?;
        *self = Self::default();
        Ok(message)
    }

    fn take_header(&mut self, line: &[u8]) -> io::Result<()> {
        let line = str::from_utf8(line).map_err(|_| invalid("it wrote a header that is no text"))?.trim();
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                let length = value.trim().parse().map_err(|_| invalid("it wrote a header without a length"))?;
                if length > LONGEST_MESSAGE {
                    return Err(invalid("it wrote a message that is too long"));
                }
                self.length = Some(length);
            }
            _ if !line.is_empty() => {}
            _ if self.length.is_none() => return Err(invalid("it wrote a header without a length")),
            _ => self.is_body = true,
        }
        Ok(())
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}
