//! Servers that send more than can be held in memory, or that never end.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use allocation_counter::measure;
use interlocking_agents::{AgentError, AgentErrorKind, HttpModel, HttpProvider, HttpSettings};

use crate::common::{PROVIDERS, fresh, key, run};

const MIB: u64 = 1 << 20;

const SSE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// A server that reads one request, sends `head`, and then `piece` for ever, or until the connection is closed. Joining
/// it returns how many bytes that were.
struct Endless {
    base_url: String,
    serving: JoinHandle<u64>,
}

impl Endless {
    fn new(head: impl Into<Vec<u8>>, piece: impl Into<Vec<u8>>, every: Option<Duration>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (head, piece) = (head.into(), piece.into());
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            hear(&mut stream);
            stream.write_all(&head).unwrap();
            let mut said = 0;
            // A test that fails must end as well.
            while said < 2048 * MIB && stream.write_all(&piece).is_ok() {
                said += piece.len() as u64;
                every.into_iter().for_each(std::thread::sleep);
            }
            said
        });
        Self { base_url, serving }
    }

    /// The outcome of a call, how many bytes it held at once, and how many were sent.
    #[expect(clippy::print_stdout, reason = "what was held is in docs/book/src/http.md")]
    fn call(self, provider: HttpProvider, limit: impl Fn(&mut HttpSettings)) -> (AgentError, u64, u64) {
        let mut settings = HttpSettings { base_url: Some(self.base_url), ..HttpSettings::new(provider, "model-x") };
        limit(&mut settings);
        let model = HttpModel::new(settings).with_key(key());
        let mut error = None;
        // Everything runs on this thread, which is the one that is measured.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let held = measure(|| error = Some(runtime.block_on(run(&model, fresh("?"))).unwrap_err())).bytes_max;
        // Closes the connection.
        drop((runtime, model));
        let (error, said) = (error.unwrap(), self.serving.join().unwrap());
        println!("{provider}: {} KiB said, {} KiB held: {error}", said >> 10, held >> 10);
        (error, held, said)
    }
}

/// Reads a request, whose body is JSON and ends with a brace.
fn hear(stream: &mut TcpStream) {
    let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
    while !heard.ends_with(b"}") {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "no request");
        heard.extend_from_slice(&buffer[..count]);
    }
}

fn as_it_is(_: &mut HttpSettings) {}

#[test]
fn an_event_without_an_end_is_not_held() {
    for provider in PROVIDERS {
        for head in ["data: {\"x\":\"", "event: message\ndata: \"", ": ", "\n"] {
            let server = Endless::new(format!("{SSE}{head}"), vec![b'x'; 1 << 16], None);
            let (error, held, _) = server.call(provider, as_it_is);
            let message = "an event of the provider's answer is longer than 16777216 bytes: \
                           look whether `base_url` is the provider's";
            let expected = AgentErrorKind::Other { message: message.to_owned(), transient: false };
            assert_eq!(*error.kind, expected, "{provider} {head:?}");
            assert_eq!(error.usage.unpriced_calls, 1, "it may have begun");
            assert!(held < 64 * MIB, "{provider} {head:?}: {held} bytes");
        }
    }
}

#[test]
fn events_without_an_end_are_not_read_for_ever() {
    let comment = [b": ", &[b'x'; 1 << 16][..], b"\n\n"].concat();
    let (error, held, said) = Endless::new(SSE, comment, None).call(HttpProvider::Anthropic, as_it_is);
    assert!(error.to_string().contains("the provider's answer is longer than 268435456 bytes"), "{error}");
    assert!(held < 16 * MIB, "{held} bytes");
    assert!(said < 300 * MIB, "{said} bytes");
}

/// The status of the error still counts.
#[test]
fn the_body_of_an_error_without_an_end_is_not_held() {
    for provider in PROVIDERS {
        let words = "400: an error of more than 1048576 bytes, which begins: xxx";
        let is_expected = |status: u16, kind: &AgentErrorKind| match status {
            400 => matches!(kind, AgentErrorKind::Refused { reason } if reason.starts_with(words)),
            429 => matches!(kind, AgentErrorKind::RateLimited { .. }),
            _ => matches!(kind, AgentErrorKind::Overloaded),
        };
        for status in [400, 429, 500] {
            let head = format!("HTTP/1.1 {status} No\r\ncontent-type: application/json\r\n\r\n");
            let (error, held, said) = Endless::new(head, vec![b'x'; 1 << 16], None).call(provider, as_it_is);
            assert!(is_expected(status, &error.kind), "{provider} {status}: {error:?}");
            assert_eq!(error.usage.unpriced_calls, 0);
            assert!(held < 16 * MIB, "{provider} {status}: {held} bytes");
            assert!(said < 64 * MIB, "{said} bytes");
        }
    }
}

#[test]
fn a_header_without_an_end_is_not_held() {
    for head in ["HTTP/1.1 200 OK\r\nx: ", "HTTP/1.1 "] {
        let (error, held, said) = Endless::new(head, vec![b'x'; 1 << 16], None).call(HttpProvider::OpenAi, as_it_is);
        assert!(matches!(*error.kind, AgentErrorKind::Connection { .. }), "{error:?}");
        assert!(held < 16 * MIB, "{held} bytes");
        assert!(said < 64 * MIB, "{said} bytes");
    }
    let (error, held, _) = Endless::new("HTTP/1.1 200 OK\r\n", "x: y\r\n", None).call(HttpProvider::OpenAi, as_it_is);
    assert!(matches!(*error.kind, AgentErrorKind::Connection { .. }), "{error:?}");
    assert!(held < 16 * MIB, "{held} bytes");
}

/// An event that never ends counts as silence, and so does the body of an error.
#[test]
fn who_says_a_byte_now_and_then_is_silent() {
    let limit = Duration::from_millis(300);
    let limited = |settings: &mut HttpSettings| {
        (settings.first_event_limit, settings.idle_limit) = (Some(limit), Some(limit));
    };
    let error = "HTTP/1.1 500 No\r\ncontent-type: application/json\r\n\r\n".to_owned();
    for (head, expected) in [
        (format!("{SSE}data: "), AgentErrorKind::NoFirstEvent { limit }),
        (format!("{SSE}: x\n\ndata: "), AgentErrorKind::Idle { limit, nudges: 0 }),
        (error, AgentErrorKind::NoFirstEvent { limit }),
    ] {
        let server = Endless::new(head, "x", Some(Duration::from_millis(5)));
        let (error, _, _) = server.call(HttpProvider::Anthropic, limited);
        assert_eq!(*error.kind, expected);
    }
}

/// Compression is not requested, and compressed answers are not decompressed.
#[test]
fn what_is_packed_is_not_unpacked() {
    for encoding in ["gzip", "br", "zstd", "deflate"] {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: {encoding}\r\n\r\n");
        let (error, held, said) = Endless::new(head, vec![0x1f; 1 << 16], None).call(HttpProvider::OpenAi, as_it_is);
        let words = format!(
            "the provider's answer cannot be understood: it is encoded (\"{encoding}\"), which it was not asked to be"
        );
        assert!(error.to_string().contains(&words), "{error}");
        assert!(held < 16 * MIB, "{held} bytes");
        assert!(said < 64 * MIB, "{said} bytes");
    }
}
