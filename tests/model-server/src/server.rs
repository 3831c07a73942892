//! The server: a thread of its own that plays a script and keeps what it was sent.

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

/// A request and what became of it.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What was sent.
    pub request: Arc<Request>,
    /// The place, from 0, of the rule that answered it; none if no rule fitted.
    pub rule: Option<usize>,
}

/// What connections share.
pub(crate) struct State {
    script: Script,
    /// How many requests there were; each change wakes those who wait for one.
    count: watch::Sender<usize>,
    recorded: Mutex<Vec<Recorded>>,
    notes: Mutex<Vec<String>>,
}

impl ModelServer {
    /// Starts a server for this script, at a port that is free.
    ///
    /// # Errors
    ///
    /// If loopback cannot be listened on.
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

    /// Where it is: `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests for an answer of the model so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.recorded().into_iter().map(|recorded| recorded.request).collect()
    }

    /// The same with the rules that answered them.
    pub fn recorded(&self) -> Vec<Recorded> {
        locked(&self.state.recorded).clone()
    }

    /// The requests that no rule fitted.
    pub fn unmatched(&self) -> Vec<Arc<Request>> {
        self.recorded()
            .into_iter()
            .filter(|recorded| recorded.rule.is_none())
            .map(|recorded| recorded.request)
            .collect()
    }

    /// What was asked for that this server does not know: method and path.
    pub fn notes(&self) -> Vec<String> {
        locked(&self.state.notes).clone()
    }

    /// The first request for which this holds, as soon as it has come.
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

    /// Holds that every request was fitted by a rule.
    ///
    /// # Panics
    ///
    /// If one was not; with all of them, and the rules.
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
            // What goes wrong with a connection is the program's to tell.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl State {
    /// Makes a request with its number.
    pub(crate) fn numbered(&self, make: impl FnOnce(usize) -> Request) -> Arc<Request> {
        let mut number = 0;
        self.count.send_modify(|count| {
            number = *count;
            *count += 1;
        });
        Arc::new(make(number))
    }

    /// What the script says to a request, which is kept.
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

/// What is locked is whole at every unlock, so a panic elsewhere does not spoil it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
