//! The server: a thread that plays a script and records the requests.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use crate::connection;
use crate::reaction::Reaction;
use crate::request::Request;
use crate::script::Script;

/// A model server on loopback. It runs on a thread of its own, so that neither a blocked test nor a paused clock stops it, and
/// ends, with all its connections, when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A request and the rule that answered it.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The request.
    pub request: Arc<Request>,
    /// The index, from 0, of the rule that answered the request; `None` if no rule matched.
    pub rule: Option<usize>,
}

/// The state that all connections share.
pub(crate) struct State {
    script: Script,
    /// The number of requests; each change wakes the tasks that wait for a request.
    count: watch::Sender<usize>,
    recorded: Mutex<Vec<Recorded>>,
    notes: Mutex<Vec<String>>,
}

impl ModelServer {
    /// Starts a server for this script on a free port.
    ///
    /// # Errors
    ///
    /// If the server cannot listen on loopback.
    pub fn start(script: Script) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (recorded, notes) = Default::default();
        let state = Arc::new(State { script, count: watch::Sender::new(0), recorded, notes });
        let (stop, stopped) = oneshot::channel();
        let shared = state.clone();
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, shared) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("model-server".to_owned()).spawn(serve)?;
        Ok(Self { address, state, stop: Some(stop), thread: Some(thread) })
    }

    /// The server's URL, `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests for an answer of the model so far, in order of arrival.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.recorded().into_iter().map(|recorded| recorded.request).collect()
    }

    /// The same requests, each with the rule that answered it.
    pub fn recorded(&self) -> Vec<Recorded> {
        locked(&self.state.recorded).clone()
    }

    /// The requests that no rule matched.
    pub fn unmatched(&self) -> Vec<Arc<Request>> {
        self.recorded()
            .into_iter()
            .filter(|recorded| recorded.rule.is_none())
            .map(|recorded| recorded.request)
            .collect()
    }

    /// Method and path of each request for something that this server does not know.
    pub fn notes(&self) -> Vec<String> {
        locked(&self.state.notes).clone()
    }

    /// Waits for the first request for which `matching` holds, and gives it.
    pub async fn received(&self, matching: impl Fn(&Request) -> bool) -> Arc<Request> {
        let mut count = self.state.count.subscribe();
        loop {
            count.borrow_and_update();
            if let Some(found) = self.requests().into_iter().find(|request| matching(request)) {
                return found;
            }
            // The sender lives as long as `self`.
            let _ = count.changed().await;
        }
    }

    /// Asserts that a rule matched every request.
    ///
    /// # Panics
    ///
    /// If no rule matched some request; the message lists those requests and the rules.
    #[track_caller]
    pub fn assert_all_matched(&self) {
        let unmatched: Vec<_> = self.unmatched().iter().map(|request| request.summary()).collect();
        assert!(
            unmatched.is_empty(),
            "no rule of the script fits:\n  {}\nthe rules:\n  {}",
            unmatched.join("\n  "),
            self.state.script.shown().join("\n  ")
        );
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: std::net::TcpListener, state: Arc<State>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let state = state.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| connection::answer(state.clone(), request));
            // An error of a connection is left to the program to report.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl State {
    /// Makes a request, given its number.
    pub(crate) fn numbered(&self, make: impl FnOnce(usize) -> Request) -> Arc<Request> {
        let mut number = 0;
        self.count.send_modify(|count| {
            number = *count;
            *count += 1;
        });
        Arc::new(make(number))
    }

    /// The script's reaction to a request. Records the request.
    pub(crate) fn react(&self, request: Arc<Request>) -> Reaction {
        let answer = self.script.react(&request);
        let rule = answer.as_ref().map(|(rule, _)| *rule);
        let reaction = answer.map(|(_, reaction)| reaction).unwrap_or_else(|| {
            Reaction::status(400, format!("no rule of the model server's script fits: {}", request.summary()))
        });
        locked(&self.recorded).push(Recorded { request, rule });
        self.count.send_modify(|_| {});
        reaction
    }

    pub(crate) fn note(&self, text: String) {
        locked(&self.notes).push(text);
    }
}

/// A value behind these locks is consistent at every unlock, so a panic elsewhere does not corrupt it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
