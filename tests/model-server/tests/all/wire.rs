//! Requests to the server without an agent program.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer as it arrived.
pub(crate) struct Answer {
    /// `None` if no answer came.
    pub(crate) status: Option<u16>,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether the body ended in good order.
    pub(crate) whole: bool,
    /// Whether the server still kept the connection open when the time was over.
    pub(crate) open: bool,
}

/// Posts a body and reads until the server closes the connection, at most for `patience`.
pub(crate) async fn post(address: SocketAddr, path: &str, body: &str, patience: Duration) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: model\r\nconnection: close\r\nx-api-key: k\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let read = async {
        let mut buffer = [0; 65536];
        // A connection that breaks counts as ended.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            bytes.extend_from_slice(&buffer[..count]);
        }
    };
    let open = tokio::time::timeout(patience, read).await.is_err();
    let text = String::from_utf8(bytes).unwrap();
    let (head, rest) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let (body, whole) = unchunked(rest);
    let status = head.split(' ').nth(1).map(|code| code.parse().unwrap());
    Answer { status, head: head.to_lowercase(), body, whole, open }
}

/// The content of a chunked body, and whether the last chunk is there.
fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    (body, false)
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The data of a stream's events as JSON; data that is no JSON is given as a string.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| Value::String(data.to_owned()))).collect()
    }
}
