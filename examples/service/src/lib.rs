//! Runs behind HTTP. A run's name is in its address, so a request that is sent twice starts one run.
//!
//! | | |
//! |---|---|
//! | `PUT /runs/ID` | starts a run with the body as its entry value: 201; 200 if a run with that value exists |
//! | `GET /runs/ID` | what it has done, with its `output` once it has finished |
//! | `GET /runs/ID/events` | its events from this moment on, as server-sent events, until it is no longer executed here |
//! | `GET /runs/ID/questions` | its open questions to people |
//! | `POST /runs/ID/answers` | `{"to": BY, "answer": …}`: an answer to the question that says `"by": BY` |
//! | `DELETE /runs/ID` | ends it for good |

mod error;
pub mod graph;

use crate::error::Refused;
use crate::graph::{Assignment, Correspondence};
use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse;
use axum::response::{IntoResponse, Sse};
use axum::routing::{get, post, put};
use futures_util::{Stream, StreamExt};
use interlocking::agents::Agent;
use interlocking::prelude::*;
use interlocking::runtime::Budgets;
use interlocking::runtime::journal::account::account;
use interlocking::runtime::journal::answer::open_questions;
use interlocking::runtime::journal::stop::Stop;
use interlocking::runtime::journal::{By, JournalError};
use interlocking::runtime::service::{Service, Started};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// State shared by all requests: the runs, and the agent that writes letters.
#[derive(Clone)]
pub struct Office {
    /// The runs.
    pub service: Service,
    /// The writer.
    pub writer: Arc<dyn Agent>,
}

impl Office {
    /// Makes a run, to be started or resumed.
    pub fn run(&self) -> Run<Correspondence> {
        run(self.writer.clone())
    }
}

/// A run whose letter is written by `writer`, in ten calls at most.
pub fn run(writer: Arc<dyn Agent>) -> Run<Correspondence> {
    Run::new(Correspondence::default()).with_agent("write", writer).with_budgets(Budgets::unlimited().with_calls(10))
}

/// The requests of the service.
pub fn router(office: Office) -> Router {
    Router::new()
        .route("/runs/{id}", put(start).get(show).delete(cancel))
        .route("/runs/{id}/events", get(watch))
        .route("/runs/{id}/questions", get(questions))
        .route("/runs/{id}/answers", post(answer))
        .with_state(office)
}

async fn start(
    State(office): State<Office>,
    Path(id): Path<RunId>,
    Json(assignment): Json<Assignment>,
) -> Result<impl IntoResponse, Refused> {
    let started = office.service.start(&id, office.run(), assignment).await?;
    let (status, state) = match started {
        Started::New => (StatusCode::CREATED, "started"),
        Started::Resumed => (StatusCode::OK, "resumed"),
        Started::Running => (StatusCode::OK, "running"),
        Started::Ended(ended) => (StatusCode::OK, ended),
        _ => (StatusCode::OK, "known"),
    };
    Ok((status, Json(json!({ "run": id, "state": state }))))
}

async fn show(State(office): State<Office>, Path(id): Path<RunId>) -> Result<Json<Value>, Refused> {
    let mut shown = serde_json::to_value(account(&**office.service.journal(), &id).await?)?;
    let report = office.service.report(&id, office.run()).await?;
    shown["output"] = serde_json::to_value(report.and_then(|report| report.outcome.finished()))?;
    Ok(Json(shown))
}

async fn watch(
    State(office): State<Office>,
    Path(id): Path<RunId>,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, axum::Error>>>, Refused> {
    let events = office.service.events(&id).ok_or(Refused::NotExecutedHere)?;
    let events = events.map(|event| sse::Event::default().json_data(event));
    Ok(Sse::new(events).keep_alive(sse::KeepAlive::default()))
}

async fn questions(State(office): State<Office>, Path(id): Path<RunId>) -> Result<Json<Value>, Refused> {
    let journal = office.service.journal();
    if journal.load(&id).await?.is_empty() {
        return Err(JournalError::NoRun { run: id, place: "the journal".to_owned() }.into());
    }
    Ok(Json(serde_json::to_value(open_questions(&**journal, &id).await?)?))
}

#[derive(Deserialize)]
struct Given {
    to: By,
    answer: Value,
}

async fn answer(
    State(office): State<Office>,
    Path(id): Path<RunId>,
    Json(given): Json<Given>,
) -> Result<StatusCode, Refused> {
    office.service.answer(&id, &given.to, &given.answer).await?;
    Ok(StatusCode::ACCEPTED)
}

async fn cancel(State(office): State<Office>, Path(id): Path<RunId>) -> Result<(StatusCode, Json<Stop>), Refused> {
    let stop = office.service.cancel(&id).await?;
    let status = if matches!(stop, Stop::Asked { .. }) { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(stop)))
}
