//! The service over loopback, as its clients use it.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../../crates/interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
#[path = "../../../../tests/help_is_whole.rs"]
mod help_is_whole;
mod program;

use interlocking::agents::ScriptedAgent;
use interlocking::runtime::service::Service;
use interlocking::sqlite::SqliteJournal;
use serde_json::{Value, json};
use service::graph::Correspondence;
use service::{Office, router};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

held!(Correspondence);

const SCRIPT: &str = r#"turn = [
    { times = "any", contains = ["What is wanted: say why"], output = { text = "The tide is late: the moon is." } },
    { times = "any", contains = ["Write a letter about the tide."], output = { text = "The tide is late." } },
]"#;

/// A process with the service: a server on a port of its own.
struct Server {
    service: Service,
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Server {
    async fn start(journal: &Path) -> Self {
        let service = Service::new(Arc::new(SqliteJournal::open(journal).unwrap()));
        let writer = Arc::new(ScriptedAgent::parse("writer.toml", SCRIPT).unwrap());
        let office = Office { service: service.clone(), writer };
        let unfinished = service.resume_unfinished(|_| office.run()).await.unwrap();
        assert!(unfinished.refused.is_empty(), "{unfinished:?}");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, router(office)).await.unwrap() });
        Self { service, address, serving }
    }

    async fn stop(self) {
        self.serving.abort();
        let _ = self.serving.await;
        self.service.drain(Duration::ZERO).await;
    }

    /// Sends a request; gives the status and the whole body. In HTTP/1.0 the body ends with the connection.
    async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, String) {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "{method} {path} HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    async fn json(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let (status, body) = self.call(method, path, body).await;
        (status, serde_json::from_str(&body).unwrap_or_else(|error| panic!("{body}: {error}")))
    }

    async fn start_run(&self, run: &str, about: &str) -> (u16, Value) {
        self.json("PUT", &format!("/runs/{run}"), Some(json!({ "about": about }))).await
    }

    /// Waits until the run asks a question.
    async fn question(&self, run: &str) -> Value {
        loop {
            let (status, mut open) = self.json("GET", &format!("/runs/{run}/questions"), None).await;
            assert_eq!(status, 200, "{open}");
            if let Some(question) = open.as_array_mut().unwrap().pop() {
                return question;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn answer(&self, run: &str, to: &Value, answer: Value) -> u16 {
        self.call("POST", &format!("/runs/{run}/answers"), Some(json!({ "to": to, "answer": answer }))).await.0
    }
}

#[tokio::test]
async fn a_run_is_started_watched_and_answered() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(place.path()).await;
    let (status, started) = server.start_run("letter-1", "the tide").await;
    assert_eq!((status, &started["state"]), (201, &json!("started")));
    let (status, again) = server.start_run("letter-1", "the tide").await;
    assert_eq!((status, &again["state"]), (200, &json!("running")));
    assert_eq!(server.start_run("letter-1", "the moon").await.0, 409);

    let first = server.question("letter-1").await;
    assert_eq!(first["question"]["text"], "The tide is late.");
    // All events from here on, until the run ends.
    let events = async { server.call("GET", "/runs/letter-1/events", None).await };
    let answers = async {
        assert_eq!(server.answer("letter-1", &first["by"], json!("yes")).await, 422);
        let wish = json!({ "approved": false, "wish": "say why" });
        assert_eq!(server.answer("letter-1", &first["by"], wish.clone()).await, 202);
        assert_eq!(server.answer("letter-1", &first["by"], wish).await, 409);
        let second = server.question("letter-1").await;
        assert_eq!(server.answer("letter-1", &second["by"], json!({ "approved": true })).await, 202);
    };
    let ((status, events), ()) = tokio::join!(events, answers);
    assert_eq!(status, 200);
    let last = events.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!((&last["event"], &last["outcome"]), (&json!("run_ended"), &json!("finished")));

    let (status, shown) = server.json("GET", "/runs/letter-1", None).await;
    assert_eq!((status, &shown["state"]), (200, &json!("finished")));
    assert_eq!(shown["output"], json!({ "text": "The tide is late: the moon is." }));
    assert_eq!(server.call("GET", "/runs/letter-1/events", None).await.0, 404);
    server.stop().await;
}

#[tokio::test]
async fn a_run_is_cancelled() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(place.path()).await;
    server.start_run("letter-1", "the tide").await;
    server.question("letter-1").await;
    assert_eq!(server.call("DELETE", "/runs/letter-1", None).await.0, 202);
    server.service.ended(&"letter-1".parse().unwrap()).await;
    let (_, shown) = server.json("GET", "/runs/letter-1", None).await;
    assert_eq!(shown["state"], "cancelled");
    server.stop().await;
}

/// The process ends before the person answers; the next process has the run, and the answer takes effect there.
#[tokio::test]
async fn a_run_goes_on_in_the_next_process() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(place.path()).await;
    server.start_run("letter-1", "the tide").await;
    let question = server.question("letter-1").await;
    server.stop().await;

    let server = Server::start(place.path()).await;
    assert_eq!(server.answer("letter-1", &question["by"], json!({ "approved": true })).await, 202);
    server.service.ended(&"letter-1".parse().unwrap()).await;
    let (_, shown) = server.json("GET", "/runs/letter-1", None).await;
    assert_eq!((&shown["state"], &shown["resumed"]), (&json!("finished"), &json!(1)));
    server.stop().await;
}

#[tokio::test]
async fn what_is_not_there_or_not_allowed_is_said() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(place.path()).await;
    for (method, path) in [("GET", "/runs/none"), ("GET", "/runs/none/questions"), ("DELETE", "/runs/none")] {
        let (status, said) = server.json(method, path, None).await;
        assert_eq!(status, 404, "{method} {path}");
        assert!(said["error"].as_str().unwrap().contains("none"), "{said}");
    }
    let by = json!({ "node": "approve", "visit": 1, "attempt": 1 });
    assert_eq!(server.answer("none", &by, json!({ "approved": true })).await, 404);
    let (status, said) = server.call("PUT", "/runs/Not_A_Name", Some(json!({ "about": "the tide" }))).await;
    assert_eq!(status, 400, "{said}");
    server.service.drain(Duration::ZERO).await;
    assert_eq!(server.start_run("letter-1", "the tide").await.0, 503);
    server.stop().await;
}
