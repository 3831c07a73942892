//! One request and its answer.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::dialect::{Dialect, Speech};
use crate::reaction::{Answer, Fault, Reaction};
use crate::request::Request;
use crate::server::State;
use crate::stream::{Body, Delivery, event_bytes};

/// Answers a request; an error ends the connection.
pub(crate) async fn answer(state: Arc<State>, incoming: hyper::Request<Incoming>) -> io::Result<Response<Body>> {
    let (head, body) = incoming.into_parts();
    let bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let path = head.uri.path_and_query().map_or_else(|| head.uri.path().to_owned(), ToString::to_string);
    let dialect = match Dialect::of_path(head.uri.path()) {
        Some(dialect) if head.method == Method::POST => dialect,
        _ => return Ok(other(&state, &head.method, head.uri.path())),
    };
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let body = match serde_json::from_slice(&bytes) {
        Ok(body) => body,
        Err(error) => {
            let text = format!("the request is no JSON: {error}");
            state.note(format!("{} {path}: {text}", head.method));
            return Ok(reply(400, &[], &dialect.error(400, &text)));
        }
    };
    if dialect.streams_a_list(&path) {
        let text = "without `alt=sse` the stream would be a list, which this server does not send";
        state.note(format!("{} {path}: {text}", head.method));
        return Ok(reply(400, &[], &dialect.error(400, text)));
    }
    let request = state.numbered(|number| Request::new(number, dialect, path, headers.collect(), body));
    let reaction = state.react(request.clone());
    tokio::time::sleep(reaction.delay).await;
    respond(&request, reaction)
}

fn respond(request: &Request, reaction: Reaction) -> io::Result<Response<Body>> {
    match &reaction.answer {
        Answer::Hangup => Err(io::ErrorKind::ConnectionAborted.into()),
        Answer::Status { status, headers, raw: Some((content_type, body)), .. } => {
            let mut headers = headers.clone();
            headers.push((CONTENT_TYPE.to_string(), content_type.clone()));
            Ok(response(*status, &headers, Delivery::whole(body.clone())))
        }
        Answer::Status { status, headers, message, raw: None } => {
            Ok(reply(*status, headers, &request.dialect.error(*status, message)))
        }
        Answer::Message { blocks, usage, end } => {
            let speech = Speech { request, blocks, usage: *usage, end };
            let (content_type, pieces) = if request.streams() {
                let garbled = |index| reaction.fault == Some(Fault::Garble(index));
                let events = request.dialect.events(&speech);
                let bytes = events.iter().enumerate().map(|(index, event)| event_bytes(event, garbled(index)));
                ("text/event-stream; charset=utf-8", bytes.collect())
            } else {
                let whole = request.dialect.whole(&speech).to_string();
                ("application/json", halves(whole, reaction.fault))
            };
            let delivery =
                Delivery { pieces, pace: reaction.pace, fault: reaction.fault.map(|fault| fault_of(fault, request)) };
            Ok(response(200, &[(CONTENT_TYPE.to_string(), content_type.to_owned())], delivery))
        }
    }
}

/// Cuts a body that is sent as a whole in two: a fault lets only the first half pass.
fn halves(whole: String, fault: Option<Fault>) -> Vec<Bytes> {
    let bytes = Bytes::from(whole);
    match fault {
        None => vec![bytes],
        Some(Fault::Garble(_)) => vec![bytes.slice(..bytes.len() / 2)],
        Some(_) => vec![bytes.slice(..bytes.len() / 2), bytes.slice(bytes.len() / 2..)],
    }
}

fn fault_of(fault: Fault, request: &Request) -> Fault {
    if request.streams() {
        return fault;
    }
    match fault {
        Fault::Stall(_) => Fault::Stall(0),
        Fault::Truncate(_) => Fault::Truncate(1),
        Fault::Drop(_) => Fault::Drop(1),
        Fault::Garble(_) => fault,
    }
}

/// Answers the requests of programs other than those for an answer of the model.
fn other(state: &State, method: &Method, path: &str) -> Response<Body> {
    if path.ends_with("/count_tokens") {
        return reply(200, &[], &json!({ "input_tokens": 100 }));
    }
    if path.ends_with(":countTokens") {
        return reply(200, &[], &json!({ "totalTokens": 100 }));
    }
    if *method == Method::GET && path.ends_with("/models") {
        return reply(200, &[], &json!({ "object": "list", "data": [], "models": [] }));
    }
    state.note(format!("{method} {path}"));
    reply(
        404,
        &[],
        &json!({ "error": { "type": "not_found_error", "message": format!("{method} {path} is not served") } }),
    )
}

fn reply(status: u16, headers: &[(String, String)], body: &Value) -> Response<Body> {
    let content_type = (CONTENT_TYPE.to_string(), "application/json".to_owned());
    let headers: Vec<_> = headers.iter().cloned().chain([content_type]).collect();
    response(status, &headers, Delivery::whole(body.to_string()))
}

fn response(status: u16, headers: &[(String, String)], delivery: Delivery) -> Response<Body> {
    let mut response = Response::new(delivery.start());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
