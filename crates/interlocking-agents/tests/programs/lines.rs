use interlocking_agents::AgentErrorKind;
use interlocking_agents::program::{Environment, Invocation, StartError};
use rustix::io::Errno;

use crate::common::{lines, shell};

/// More than any pipe holds, in both directions at once.
#[tokio::test]
async fn a_large_input_and_a_large_output_do_not_wait_for_each_other() {
    let input: Vec<u8> = (0..100_000).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
    let mut running = Invocation { input, ..shell("cat; cat >&2 </dev/null; echo end") }.start().await.unwrap();
    let lines = lines(&mut running).await;
    assert_eq!((lines.len(), lines[99_999].as_str(), lines[100_000].as_str()), (100_001, "line 99999", "end"));
    assert_eq!(running.end().await.unwrap().exit, Some(0));
}

#[tokio::test]
async fn a_flood_of_errors_stops_nobody_and_its_end_is_kept() {
    let mut running = shell("seq 1 200000 >&2; echo out; exit 3").start().await.unwrap();
    assert_eq!(lines(&mut running).await, ["out"]);
    let ended = running.end().await.unwrap();
    assert_eq!(ended.exit, Some(3));
    assert!(ended.stderr.ends_with("199999\n200000") && ended.stderr.len() <= 4096, "{}", ended.stderr.len());
}

#[tokio::test]
async fn a_line_that_is_too_long_is_skipped_and_counted() {
    let script = "echo before; head -c 100000 /dev/zero | tr '\\0' x; echo; echo after; printf 'no end'";
    let mut running = Invocation { longest_line: 1000, ..shell(script) }.start().await.unwrap();
    assert_eq!(lines(&mut running).await, ["before", "100000 bytes", "after", "no end"]);
    running.end().await.unwrap();
}

#[tokio::test]
async fn what_is_no_text_survives() {
    let mut running = shell("printf 'a\\377b\\n\\377' ; printf '\\377' >&2").start().await.unwrap();
    assert_eq!(lines(&mut running).await, ["a\u{fffd}b", "\u{fffd}"]);
    assert_eq!(running.end().await.unwrap().stderr, "\u{fffd}");
}

#[tokio::test]
async fn what_is_written_later_arrives_until_the_input_is_closed() {
    let script = "while read line; do echo \"got $line\"; done; echo closed";
    let mut running = Invocation { input: b"one\n".to_vec(), stays_open: true, ..shell(script) }.start().await.unwrap();
    assert!(running.next_line().await.unwrap().is_some());
    running.write("two\n").unwrap();
    running.close_input();
    assert_eq!(lines(&mut running).await, ["got two", "closed"]);
    assert!(running.write("three\n").is_err());
    running.end().await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let missing = Invocation::new("no-such-program-here", Environment::minimal()).start().await.unwrap_err();
    assert_eq!(missing.to_string(), "there is no program no-such-program-here: install it, or give its path");
    let nowhere = Invocation { directory: Some("/no/such/place".into()), ..shell("true") }.start().await.unwrap_err();
    assert!(matches!(nowhere, StartError::NoDirectory { .. }), "{nowhere}");
}

/// A program writes the file: if this process wrote it, its children could keep the file open for writing.
#[tokio::test]
async fn a_program_without_its_interpreter_is_told_from_one_that_is_missing() {
    let place = tempfile::tempdir().unwrap();
    let script = "printf '#!/no/such/python\\n' > program; chmod +x program";
    crate::common::shell_in(place.path(), script).start().await.unwrap().end().await.unwrap();
    let invocation = Invocation::new(place.path().join("program"), Environment::minimal());
    let words = invocation.start().await.unwrap_err().to_string();
    assert!(words.ends_with("because its interpreter is missing (#!/no/such/python): install that"), "{words}");
}

#[test]
fn a_start_that_fails_for_a_while_is_tried_again() {
    let kind = |errno: Errno| AgentErrorKind::from(StartError::Refused { program: "sh".into(), source: errno.into() });
    for errno in [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::TXTBSY] {
        assert!(matches!(kind(errno), AgentErrorKind::Other { transient: true, .. }), "{errno}");
    }
    assert!(matches!(kind(Errno::ACCESS), AgentErrorKind::Configuration { .. }));
}
