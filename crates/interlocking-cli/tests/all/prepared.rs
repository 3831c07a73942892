//! What a program prepares for a run lasts from its setup to the run's end, or until the run is abandoned.

use crate::review::{Review, Topic};
use crate::support::{Ink, call, writer};
use clap::Args;
use interlocking::cli::{Cli, CommandError, Ending, Exit, Prepared, RunSession, Start};
use interlocking::prelude::*;
use interlocking::runtime::Report;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// The options of a new run.
#[derive(Args)]
struct New {
    /// Where it happens
    #[arg(long, value_name = "SHORE")]
    shore: String,
}

type Notes = Arc<Mutex<Vec<String>>>;

/// What is kept for a run.
struct Shore {
    name: String,
    notes: Notes,
}

impl Shore {
    fn note(&self, what: &str) {
        self.notes.lock().unwrap().push(format!("{}: {what}", self.name));
    }

    fn prepared(self, ink: &Ink) -> Prepared<Review> {
        Prepared::new(Run::new(Review::default()).with_agent("draft", writer(ink)), self)
    }
}

impl RunSession<Review> for Shore {
    async fn conclude(self, report: Report<String>) -> Result<Ending, CommandError> {
        self.note(report.outcome.name());
        if self.name.ends_with("Atlantis") {
            return Err(CommandError::new("the shore is gone"));
        }
        Ok(Ending { summary: Some(format!("so it was, {}", self.name)), ..Ending::of(&report)? })
    }

    async fn abandon(self) -> Result<(), CommandError> {
        self.note("abandoned");
        Err(CommandError::new("the shore is not tidy"))
    }
}

#[tokio::test]
async fn what_is_set_up_is_what_the_ending_has() {
    let notes = Notes::default();
    let (for_new, for_resumed) = (notes.clone(), notes.clone());
    let set_up = move |ink: Ink, start: Start| {
        let prepared = Shore { name: format!("{} again", start.run), notes: for_resumed.clone() }.prepared(&ink);
        async move { Ok(prepared) }
    };
    let cli = Cli::new("review", set_up).with_new_runs(move |ink: Ink, new: New, start: Start| {
        let name = format!("{} at {}", start.run, new.shore);
        let prepared = Shore { name, notes: for_new.clone() }.prepared(&ink);
        async move {
            if new.shore.is_empty() {
                Err(CommandError::new("there is no shore"))
            } else {
                Ok((Topic("tides".to_owned()), prepared))
            }
        }
    });
    let place = tempfile::tempdir().unwrap();
    let run = |words: &'static [&'static str]| call(&cli, &place, words, None);

    let waits = run(&["run", "--run-id", "r1", "--shore", "Brest"]).await;
    assert_eq!(waits.exit, Exit::Waiting.code(), "{waits:?}");
    assert!(waits.stderr.ends_with("\nso it was, r1 at Brest\n"), "{}", waits.stderr);
    assert_eq!(run(&["answer", "r1", r#"{"approved": true}"#]).await.exit, 0);
    let resumed = run(&["resume", "r1"]).await;
    assert_eq!((resumed.exit, resumed.stdout.as_str()), (0, "\"The tide rises.\"\n"), "{resumed:?}");
    let only_new = run(&["resume", "r1", "--shore", "Brest"]).await;
    assert_eq!(only_new.exit, 2);
    assert!(only_new.stderr.starts_with("error: unexpected argument '--shore' found\n"), "{}", only_new.stderr);

    // A run that was executed was not refused, whatever happens after it.
    let sunk = run(&["run", "--run-id", "r0", "--shore", "Atlantis"]).await;
    assert_eq!(sunk.exit, Exit::Failed.code(), "{sunk:?}");
    assert!(sunk.stderr.ends_with("error: the shore is gone\n"), "{}", sunk.stderr);

    // The run does not start, or cannot be watched.
    let taken = run(&["run", "--run-id", "r1", "--shore", "Sark"]).await;
    assert_ne!(taken.exit, 0);
    assert!(taken.stderr.contains("the shore is not tidy\n"), "{}", taken.stderr);
    let unwatched = run(&["run", "--run-id", "r2", "--shore", "Jersey", "--events", "/nowhere/at/all", "--json"]).await;
    assert_eq!(unwatched.exit, 2, "{unwatched:?}");
    let errors: Vec<Value> = unwatched.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((errors.len(), &errors[0]["error"]["what"]), (2, &Value::from("the shore is not tidy")));
    assert_eq!(run(&["run", "--run-id", "r3", "--shore", ""]).await.stderr, "error: there is no shore\n");

    let told = notes.lock().unwrap().clone();
    assert_eq!(
        told,
        [
            "r1 at Brest: waiting",
            "r1 again: finished",
            "r0 at Atlantis: waiting",
            "r1 at Sark: abandoned",
            "r2 at Jersey: abandoned"
        ]
    );
}
