//! Refusals name what, where and what to do, and change nothing.

use crate::support::{Program, call, damage, steady};
use expect_test::expect;
use interlocking::cli::{Cli, NoArguments, Start};
use interlocking::prelude::*;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::JournalError;
use std::time::Duration;

#[tokio::test]
async fn wrong_command_lines_are_refused() {
    let review = Program::new();
    let mut pages = String::new();
    for words in [
        &["list"][..],
        &["resume", "r1"],
        &["run", "--input", "7"],
        &["run"],
        &["run", "--input", "\"a\" \"b\""],
        &["run", "--input-file", "none.json"],
        &["run", "--run-id", "../x", "--input", "\"tides\""],
        &["run", "--max-time", "long", "--input", "\"tides\""],
        &["show", "r1", "--json"],
        &["fly"],
        &["show", "--nothing", "--json"],
    ] {
        pages += &review.call(words).await.page();
    }
    expect![[r#"
        exit 2
        ! error: there is no journal
        !   at: PLACE
        !   to do: start a run, or name the directory of a journal with --journal DIR or $INTERLOCKING_JOURNAL
        exit 2
        ! error: there is no journal
        !   at: PLACE
        !   to do: start a run, or name the directory of a journal with --journal DIR or $INTERLOCKING_JOURNAL
        exit 2
        ! error: this is not the JSON that is needed: invalid type: integer `7`, expected a string at line 1 column 1
        !   at: --input
        exit 2
        ! error: nothing was given to start with
        !   to do: give --input JSON or --input-file FILE, or pipe JSON into the program
        exit 2
        ! error: there is more than one JSON value: trailing characters at line 1 column 5
        !   at: --input
        exit 2
        ! error: No such file or directory (os error 2)
        !   at: none.json
        exit 2
        ! error: invalid value '../x' for '--run-id <ID>': "../x" is not a run id: only lower-case letters, digits and hyphens are allowed
        !
        ! For more information, try '--help'.
        exit 2
        ! error: invalid value 'long' for '--max-time <TIME>': expected number at 0
        !
        ! For more information, try '--help'.
        exit 2
        ! {"error":{"causes":[],"exit":2,"remedy":null,"what":"there is no run `r1` in the journal: list the runs there are","where":null}}
        exit 2
        ! error: unrecognized subcommand 'fly'
        !
        ! Usage: program <COMMAND>
        !
        ! For more information, try '--help'.
        exit 2
        ! {"error":{"causes":[],"exit":2,"remedy":null,"what":"unexpected argument '--nothing' found\n\n  tip: to pass '--nothing' as a value, use '-- --nothing'\n\nUsage: program show [OPTIONS] <RUN>\n\nFor more information, try '--help'.","where":null}}
    "#]].assert_eq(&pages);
}

/// Only `run` makes a journal. Nothing is made in a directory that has none, and its permissions stay.
#[tokio::test]
async fn a_directory_without_a_journal_is_left_as_it_was() {
    let review = Program::new();
    let directory = review.place.path().join("journal");
    std::fs::create_dir(&directory).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&directory, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let permissions = || std::fs::metadata(&directory).unwrap().permissions();
    let before = permissions();
    for words in [
        &["list"][..],
        &["show", "r1"],
        &["resume", "r1"],
        &["answer", "r1", "7"],
        &["fork", "r1"],
        &["cancel", "r1"],
        &["prune", "--keep-last", "0"],
    ] {
        let refused = review.call(words).await;
        assert_eq!((refused.exit, refused.stdout.as_str()), (2, ""), "{words:?}: {refused:?}");
        assert!(refused.stderr.starts_with("error: there is no journal\n"), "{words:?}: {refused:?}");
        assert_eq!((std::fs::read_dir(&directory).unwrap().count(), permissions()), (0, before.clone()), "{words:?}");
    }
    // A journal of which only the log is left is a damaged one.
    std::fs::write(directory.join("journal.db-wal"), "").unwrap();
    let told = review.call(&["list"]).await;
    assert_eq!(told.exit, 7, "{told:?}");
    assert!(told.stderr.contains("the database is gone, though its log is there"), "{told:?}");
}

/// A name that is taken, and a run that another process works on.
#[tokio::test]
async fn runs_of_others_are_left_alone() {
    let review = Program::new();
    review.waiting("r1").await;
    let journal = interlocking_sqlite::SqliteJournal::open(review.place.path().join("journal")).unwrap();
    let before = journal.load(&"r1".parse().unwrap()).await.unwrap().len();
    let taken = review.call(&["run", "--run-id", "r1", "--input", "\"x\"", "--quiet"]).await;
    expect![[r#"
        exit 2
        ! error: run `r1` has 4 records already, so record 0 is not its next: start the run under a new id, or resume it
    "#]]
    .assert_eq(&taken.page());

    let claim = journal.claim(&"r1".parse().unwrap()).await.unwrap();
    let held = review.call(&["resume", "r1", "--quiet"]).await;
    assert_eq!(held.exit, 7, "{held:?}");
    assert!(held.stderr.starts_with("error: run `r1` is being executed by process "), "{}", held.stderr);
    assert_eq!(review.call(&["list", "--json"]).await.json()[0]["state"], "running");
    let asked = review.call(&["cancel", "r1", "--json"]).await.json();
    assert_eq!(asked["stopped"], "asked");
    assert_eq!(review.call(&["cancel", "r1"]).await.exit, 0, "asking twice is asking once");
    assert_eq!(review.call(&["prune", "--keep-last", "0", "--unfinished"]).await.exit, 0);
    drop(claim);
    assert_eq!(journal.load(&"r1".parse().unwrap()).await.unwrap().len(), before, "nothing was recorded, or removed");
    // A dropped claim is released a moment later.
    while review.call(&["list", "--json"]).await.json()[0]["state"] == "running" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The next process that resumes the run finds the request.
    assert_eq!(review.call(&["resume", "r1", "--quiet"]).await.exit, 6);
}

#[tokio::test]
async fn a_journal_that_cannot_be_used_is_told() {
    let review = Program::new();
    review.waiting("r1").await;
    std::fs::write(review.place.path().join("journal/journal.db"), "not a database, for sure: it is a text").unwrap();
    for leftover in ["journal.db-wal", "journal.db-shm"] {
        std::fs::remove_file(review.place.path().join("journal").join(leftover)).ok();
    }
    let told = review.call(&["list", "--json"]).await;
    assert_eq!((told.exit, told.stdout.as_str()), (7, ""), "{told:?}");
    let error: serde_json::Value = serde_json::from_str(&told.stderr).unwrap();
    assert_eq!(error["error"]["exit"], 7);
    assert!(error["error"]["what"].as_str().unwrap().contains("is damaged"), "{error}");
}

/// The other runs are listed, and the error says which run it is.
#[tokio::test]
async fn a_run_whose_records_cannot_be_read_is_listed_as_stopped() {
    let review = Program::new();
    for run in ["r1", "r2", "r3"] {
        review.waiting(run).await;
    }
    damage(&review.place.path().join("journal"), "r2");
    let listed = review.call(&["list"]).await;
    assert_eq!(listed.exit, 7, "{listed:?}");
    expect![[r#"
        RUN  GRAPH   STATE      RECORDS  STARTED               LAST RECORD
        r1   Review  waiting          4  TIME  TIME
        r2   Review  stopped          4  TIME  TIME
        r3   Review  waiting          4  TIME  TIME
    "#]]
    .assert_eq(&steady(&listed.stdout));
    assert!(listed.stderr.starts_with("error: "), "{}", listed.stderr);
    assert!(listed.stderr.contains("record 0 of run `r2` cannot be read: "), "{}", listed.stderr);
    assert!(listed.stderr.contains("\n  at: run `r2`\n"), "{}", listed.stderr);

    let waiting = review.call(&["list", "--json", "--state", "waiting"]).await;
    let runs: Vec<_> = waiting.json().as_array().unwrap().iter().map(|row| row["run"].clone()).collect();
    assert_eq!((waiting.exit, runs), (7, vec!["r1".into(), "r3".into()]), "{waiting:?}");
    let error: serde_json::Value = serde_json::from_str(&waiting.stderr).unwrap();
    assert_eq!(error["error"]["exit"], 7);
    assert_eq!(error["error"]["where"], "run `r2`");
}

#[tokio::test]
async fn a_run_whose_origin_cannot_be_read_is_listed_without_it() {
    let review = Program::new();
    for run in ["r1", "r2"] {
        review.waiting(run).await;
    }
    let connection = rusqlite::Connection::open(review.place.path().join("journal/journal.db")).unwrap();
    connection.execute("UPDATE run SET origin='{}' WHERE name='r2'", []).unwrap();
    drop(connection);
    let listed = review.call(&["list", "--json"]).await;
    let runs: Vec<_> = listed.json().as_array().unwrap().iter().map(|row| row["run"].clone()).collect();
    assert_eq!((listed.exit, runs), (0, vec!["r1".into(), "r2".into()]), "{listed:?}");
}

/// The message for a program's own refusal includes its causes.
#[tokio::test]
async fn what_the_program_refuses_is_told_with_its_causes() {
    let place = tempfile::tempdir().unwrap();
    let set_up = |_: NoArguments, _: Start| async {
        let error = JournalError::Storage { reason: "no key".to_owned() };
        let run: Run<crate::review::Review> = Err(error)?;
        Ok(run)
    };
    let cli: Cli<crate::review::Review> = Cli::new("review", set_up);
    let refused = call(&cli, &place, &["run", "--input", "\"x\""], None).await;
    assert_eq!((refused.exit, refused.stderr.as_str()), (2, "error: the journal's storage failed: no key\n"));
}

#[tokio::test]
async fn a_budget_ends_a_run_that_can_go_on() {
    let review = Program::new();
    let spent = review.call(&["run", "--run-id", "r1", "--input", "\"x\"", "--quiet", "--max-calls", "0"]).await;
    expect![[r#"
        exit 4
        ! r1 stopped, $0.00 in 0.0 s: the budget of 0 agent calls is used up: 0 were made
        ! `review resume r1 --journal PLACE` takes it up, with a larger budget
    "#]]
    .assert_eq(&spent.page());
    let more = review.call(&["resume", "r1", "--quiet", "--max-calls", "1", "--max-dollars", "1.5"]).await;
    assert_eq!(more.exit, 3, "{more:?}");
}

/// The user is told what the run waits for; at a terminal without input, the run does not wait.
#[tokio::test]
async fn a_run_says_that_it_reads_standard_input() {
    let program = Program::new();
    let told = "what to start with is read from standard input (--input JSON gives it here)\n";
    let ran = program.call_with(&["run", "--run-id", "r1"], "\"tides\"").await;
    assert_eq!(ran.exit, 3, "{ran:?}");
    assert!(ran.stderr.starts_with(told), "{ran:?}");
    let ran = program.call_with(&["run", "--run-id", "r2", "--input", "\"tides\""], "").await;
    assert_eq!((ran.exit, ran.stderr.contains(told)), (3, false), "{ran:?}");
    let ran = program.call(&["run", "--run-id", "r3"]).await;
    assert_eq!((ran.exit, ran.stderr.contains("nothing was given to start with")), (2, true), "{ran:?}");
}
