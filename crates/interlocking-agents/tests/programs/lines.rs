use interlocking_agents::program::{Invocation, StartError};

use crate::common::{lines, shell};

/// More than any pipe holds, both ways at once.
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
    let environment = interlocking_agents::program::Environment::minimal;
    let missing = Invocation::new("no-such-program-here", environment()).start().await.unwrap_err();
    assert_eq!(missing.to_string(), "there is no program no-such-program-here: install it, or give its path");
    let nowhere = Invocation { directory: Some("/no/such/place".into()), ..shell("true") }.start().await.unwrap_err();
    assert!(matches!(nowhere, StartError::NoDirectory { .. }), "{nowhere}");
}
