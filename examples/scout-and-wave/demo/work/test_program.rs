use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn the_program_prints_a_report() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_textstats"));
    let mut running = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(b"The tide, the moonlight").unwrap();
    let printed = String::from_utf8(running.wait_with_output().unwrap().stdout).unwrap();
    let expected = "1 lines, 4 words, 23 characters\n   2 the\n   1 moonlight\n   1 tide\nlongest: moonlight\n";
    assert_eq!(printed, expected);
}
