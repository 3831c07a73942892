//! The program's help.

use crate::help_is_whole::help_is_whole;
use std::process::Command;

#[test]
fn the_program_says_all_of_itself() {
    let program = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_v3")).args(words).output().unwrap();
    help_is_whole(|words| String::from_utf8(program(words).stdout).unwrap());
}
