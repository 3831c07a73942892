//! A command as an argument list.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A program and its arguments. No shell is involved: nothing is expanded or split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct CommandLine {
    program: String,
    arguments: Vec<String>,
}

/// The list names no program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the command is empty; give the program and its arguments as a list, such as [\"cargo\", \"test\"]")]
pub struct EmptyCommand;

impl CommandLine {
    /// A command from its program and arguments.
    pub fn new(program: &str, arguments: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        }
    }

    /// The program: a name looked up in `PATH`, or a path.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Whether the program is called `cargo`, wherever it is.
    pub fn runs_cargo(&self) -> bool {
        Path::new(&self.program).file_name().is_some_and(|name| name == "cargo" || name == "cargo.exe")
    }

    /// The arguments, without the program.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }
}

impl TryFrom<Vec<String>> for CommandLine {
    type Error = EmptyCommand;

    fn try_from(words: Vec<String>) -> Result<Self, EmptyCommand> {
        let mut words = words.into_iter();
        match words.next() {
            Some(program) if !program.trim().is_empty() => Ok(Self { program, arguments: words.collect() }),
            _ => Err(EmptyCommand),
        }
    }
}

impl From<CommandLine> for Vec<String> {
    fn from(command: CommandLine) -> Self {
        let mut words = vec![command.program];
        words.extend(command.arguments);
        words
    }
}

/// For people and prompts: words that a shell would split or expand are quoted.
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_word(f, &self.program)?;
        for argument in &self.arguments {
            f.write_str(" ")?;
            write_word(f, argument)?;
        }
        Ok(())
    }
}

fn write_word(f: &mut fmt::Formatter<'_>, word: &str) -> fmt::Result {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c));
    if plain { f.write_str(word) } else { write!(f, "'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_is_no_command() {
        assert_eq!(CommandLine::try_from(vec![]), Err(EmptyCommand));
        assert_eq!(CommandLine::try_from(vec![" ".to_owned()]), Err(EmptyCommand));
    }

    #[test]
    fn cargo_is_known_by_its_whole_name() {
        for (program, is_cargo) in [
            ("cargo", true),
            ("/opt/bin/cargo", true),
            ("cargo.exe", true),
            ("./cargo.sh", false),
            ("cargo-nextest", false),
            ("npm", false),
        ] {
            assert_eq!(CommandLine::new(program, &[]).runs_cargo(), is_cargo, "{program}");
        }
    }

    #[test]
    fn words_that_a_shell_would_touch_are_quoted() {
        let command = CommandLine::new("cargo", &["test", "a b", "it's", "$HOME", ""]);
        assert_eq!(command.to_string(), r"cargo test 'a b' 'it'\''s' '$HOME' ''");
    }
}
