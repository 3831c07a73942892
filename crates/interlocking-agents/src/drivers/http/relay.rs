//! A proxy between the HTTP crate and the provider, which limits the size of answers.
//!
//! The HTTP crate reads an event or the body of an error completely, however long it is, before this crate can inspect
//! it. So it is configured with a proxy: a server on loopback that lives as long as one call, in the call's own task.
//! The proxy sends the request to the provider and forwards the answer, event by event, as long as it stays within the
//! [bounds](super::bounds).
//!
//! Other processes on this machine that find the port are refused: a request needs a secret that was generated for this
//! call. The proxy uses TLS to the provider. Between the HTTP crate and the proxy, the key and the prompt stay on the
//! machine, where only the superuser can intercept them.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use futures_util::stream::{self, FuturesUnordered, Stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use reqwest::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION,
    TRANSFER_ENCODING,
};
use reqwest::{StatusCode, Url};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

use super::bounds::{Events, beginning_of_error};
use super::failure::{self, Failure};
use crate::agent::error::AgentErrorKind;
use crate::program::Redactor;

/// The maximum number of simultaneous connections: one is from the HTTP crate; others are from strangers, whose requests
/// have to be read before they are refused.
const MOST_CONNECTIONS: usize = 16;

/// Headers that apply to a single connection and are not forwarded.
const OF_A_CONNECTION: [HeaderName; 5] = [CONNECTION, CONTENT_LENGTH, HOST, PROXY_AUTHORIZATION, TRANSFER_ENCODING];

/// A proxy to a provider.
pub(super) struct Relay<'call> {
    provider: &'call reqwest::Client,
    base_url: &'call Url,
    listener: TcpListener,
    address: Url,
    /// The secret that a request must contain.
    secret: HeaderValue,
    redactor: Redactor,
    failed: Failed,
}

/// Why forwarding stopped, if it did.
type Failed = Arc<Mutex<Option<Failure>>>;

/// The error for the HTTP crate, which does not learn why its connection ends.
#[derive(Debug, thiserror::Error)]
#[error("the relay has ended the connection")]
struct Ended;

type Passed = Response<UnsyncBoxBody<Bytes, Ended>>;

impl<'call> Relay<'call> {
    /// Opens a relay that sends requests to `provider` at `base_url`. `redactor` removes the key from errors.
    pub(super) async fn open(
        provider: &'call reqwest::Client,
        base_url: &'call Url,
        redactor: Redactor,
    ) -> Result<Self, AgentErrorKind> {
        let failed = |error: &dyn std::error::Error| {
            AgentErrorKind::configuration(format!(
                "nothing can listen on 127.0.0.1, which calls over HTTP need: {error}"
            ))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        let address = Url::parse(&format!("http://{address}")).map_err(|error| failed(&error))?;
        let secret = Uuid::new_v4().simple().to_string();
        let secret = HeaderValue::from_str(&secret).map_err(|error| failed(&error))?;
        Ok(Self { provider, base_url, listener, address, secret, redactor, failed: Failed::default() })
    }

    /// The proxy configuration for a client.
    pub(super) fn proxy(&self) -> reqwest::Result<reqwest::Proxy> {
        Ok(reqwest::Proxy::all(self.address.clone())?.custom_http_auth(self.secret.clone()))
    }

    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Forwards requests until it is dropped.
    pub(super) async fn serve(&self) -> Infallible {
        let mut connections = FuturesUnordered::new();
        loop {
            tokio::select! {
                Ok((stream, _)) = self.listener.accept(), if connections.len() < MOST_CONNECTIONS => {
                    connections.push(self.connection(stream));
                }
                Some(()) = connections.next() => {}
                else => std::future::pending().await,
            }
        }
    }

    /// The real cause if a client's connection ended.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn connection(&self, stream: TcpStream) {
        let service = service_fn(|request| self.pass(request));
        // The client reports connection errors.
        let _ = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
    }

    async fn pass(&self, request: Request<Incoming>) -> Result<Passed, Ended> {
        if request.headers().get(PROXY_AUTHORIZATION) != Some(&self.secret) {
            let mut refused = Response::new(whole(Bytes::new()));
            *refused.status_mut() = StatusCode::PROXY_AUTHENTICATION_REQUIRED;
            return Ok(refused);
        }
        let mut url = self.base_url.clone();
        url.set_path(request.uri().path());
        url.set_query(request.uri().query());
        let (asked, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Ended)?.to_bytes();
        let request = self.provider.request(asked.method, url).headers(passed_on(asked.headers)).body(body);
        let mut answer = request.send().await.map_err(|error| ended(&self.failed, failure::transport(&error)))?;
        let status = answer.status();
        let mut headers = passed_on(std::mem::take(answer.headers_mut()));
        let body = if let Some(encoding) = headers.remove(CONTENT_ENCODING) {
            let reason = format!("it is encoded ({encoding:?}), which it was not asked to be");
            return Err(ended(&self.failed, failure::malformed(&reason)));
        } else if status.is_success() {
            let events = passed_events(answer, self.failed.clone());
            BodyExt::boxed_unsync(StreamBody::new(events))
        } else {
            let error = beginning_of_error(answer, &self.redactor).await;
            whole(error.map_err(|error| ended(&self.failed, failure::transport(&error)))?)
        };
        let mut passed = Response::new(body);
        (*passed.status_mut(), *passed.headers_mut()) = (status, headers);
        Ok(passed)
    }
}

/// Forwards the events of an answer as they arrive, each one complete.
fn passed_events(
    answer: reqwest::Response,
    failed: Failed,
) -> impl Stream<Item = Result<Frame<Bytes>, Ended>> + Send + 'static {
    stream::try_unfold(Events::of(answer), move |mut events| {
        let failed = failed.clone();
        async move {
            let next = events.next().await.map_err(|failure| ended(&failed, failure))?;
            Ok(next.map(|bytes| (Frame::data(bytes), events)))
        }
    })
}

fn whole(bytes: Bytes) -> UnsyncBoxBody<Bytes, Ended> {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed_unsync()
}

fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in OF_A_CONNECTION {
        headers.remove(name);
    }
    headers
}

/// Ends a connection with this failure; only the first failure is kept.
fn ended(failed: &Failed, failure: Failure) -> Ended {
    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    Ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// A request without the secret is refused, and the provider does not receive it.
    #[tokio::test]
    async fn a_stranger_is_refused() {
        let (client, provider) = (reqwest_client(), TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let base_url = Url::parse(&format!("http://{}/v1/", provider.local_addr().unwrap())).unwrap();
        let relay = Relay::open(&client, &base_url, Redactor::default()).await.unwrap();
        let address = relay.listener.local_addr().unwrap();
        let ask = |word: String| async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request =
                format!("POST http://provider/v1/x HTTP/1.1\r\nhost: provider\r\n{word}content-length: 0\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let guess = format!("proxy-authorization: {}\r\n", Uuid::new_v4().simple());
        tokio::select! {
            never = relay.serve() => match never {},
            _ = provider.accept() => panic!("the provider is asked"),
            () = async {
                for word in [String::new(), guess] {
                    let answer = ask(word).await;
                    assert!(answer.starts_with("HTTP/1.1 407 "), "{answer}");
                }
            } => {}
        }
        let word = format!("proxy-authorization: {}\r\n", relay.secret.to_str().unwrap());
        tokio::select! {
            never = relay.serve() => match never {},
            _ = ask(word) => panic!("nobody answers"),
            asked = async {
                let (mut stream, _) = provider.accept().await.unwrap();
                let mut asked = vec![0; 4096];
                let length = stream.read(&mut asked).await.unwrap();
                String::from_utf8_lossy(&asked[..length]).into_owned()
            } => {
                assert!(asked.starts_with("POST /v1/x HTTP/1.1\r\n"), "{asked}");
                assert!(!asked.contains("proxy-authorization"), "{asked}");
            }
        }
    }

    fn reqwest_client() -> reqwest::Client {
        let tls = super::super::client::tls(&Url::parse("http://x").unwrap()).unwrap();
        reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy().build().unwrap()
    }
}
