//! The program: its help, and the service as the program starts and ends it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn program(place: &Path, words: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_service"));
    program.args(words).current_dir(place).env_remove("INTERLOCKING_JOURNAL");
    program
}

fn call(place: &Path, words: &[&str]) -> Output {
    program(place, words).output().unwrap()
}

#[test]
fn the_program_says_all_of_itself() {
    let place = tempfile::tempdir().unwrap();
    let said = |words: &[&str]| String::from_utf8(call(place.path(), words).stdout).unwrap();
    crate::help_is_whole::help_is_whole(said);
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0, "nothing was served, and no journal made");
}

/// A process that is ended with the test, whether the test passes or not.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run that is left by its process is resumed by `serve`, answered by another process, and finishes.
#[test]
fn a_letter_is_answered_from_the_command_line_while_it_is_served() {
    let place = tempfile::tempdir().unwrap();
    let entry = json!({ "about": "the tide" }).to_string();
    let begun = call(place.path(), &["run", "--run-id", "letter-1", "--input", &entry]);
    assert_eq!(begun.status.code(), Some(3), "it waits for a person: {begun:?}");

    let mut serve = program(place.path(), &["serve", "127.0.0.1:0"]);
    let mut served = Served(serve.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = String::new();
    BufReader::new(served.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("1 run taken up; listening on http://127.0.0.1:"), "{said}");

    let answered = call(place.path(), &["answer", "letter-1", &json!({ "approved": true }).to_string()]);
    assert_eq!(answered.status.code(), Some(0), "{answered:?}");
    let state = || -> Value {
        let shown: Value = serde_json::from_slice(&call(place.path(), &["show", "letter-1", "--json"]).stdout).unwrap();
        shown["state"].clone()
    };
    loop {
        let state = state();
        if state == "finished" {
            break;
        }
        assert!(state == "running" || state == "waiting", "{state}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn an_address_that_is_none_is_refused_before_anything_is_done() {
    let place = tempfile::tempdir().unwrap();
    let refused = call(place.path(), &["serve", "everywhere"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("everywhere") && said.contains("--help"), "{said}");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}
