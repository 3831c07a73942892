//! The entry value of a run as JSON, for programs that define no options for it.

use crate::console::{Console, Style};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::start::Start;
use clap::Args;
use interlocking_core::graph::{Stored, Value};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// The entry value as JSON: as an option, from a file, or on standard input.
#[derive(Clone, Debug, Args)]
pub struct JsonEntry {
    /// What the run starts with, as JSON [default: standard input]
    #[arg(long, value_name = "JSON", group = "entry")]
    input: Option<String>,

    /// The same from a file; `-` is standard input
    #[arg(long, value_name = "FILE", group = "entry")]
    input_file: Option<PathBuf>,
}

impl JsonEntry {
    pub(crate) async fn read<T: Value>(&self, Start { console, cancel, .. }: &Start) -> Result<T, CommandError> {
        if self.input.is_none() && self.input_file.is_none() {
            announce_input(console, "what to start with is read from standard input (--input JSON gives it here)");
        }
        let text = text(self.input.as_deref(), self.input_file.as_deref(), "--input", console);
        let text = tokio::select! {
            biased;
            text = text => text?,
            () = cancel.cancelled() => {
                return Err(CommandError::new("interrupted before the run began").with_exit(Exit::Stopped));
            }
        };
        let (text, place) = text.ok_or_else(|| {
            CommandError::new("nothing was given to start with")
                .remedy("give --input JSON or --input-file FILE, or pipe JSON into the program")
        })?;
        Ok(parse::<Stored<T>>(&text, &place)?.0)
    }
}

/// Says that standard input is read, if it is: tells the operator why the program waits.
pub(crate) fn announce_input(console: &Console, what: &str) {
    if console.has_input() {
        console.line(Style::Dim, what);
    }
}

/// A text and where it came from: an option's value, a file, or standard input.
pub(crate) async fn text(
    value: Option<&str>,
    file: Option<&Path>,
    option: &str,
    console: &Console,
) -> Result<Option<(String, String)>, CommandError> {
    match (value, file) {
        (Some(text), _) if text != "-" => Ok(Some((text.to_owned(), option.to_owned()))),
        (None, Some(path)) if path != Path::new("-") => {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| CommandError::from(error).at(path.display().to_string()))?;
            Ok(Some((text, path.display().to_string())))
        }
        _ => Ok(console.input().await?.map(|text| (text, "standard input".to_owned()))),
    }
}

/// Parses JSON; an error names the line, column and field.
pub(crate) fn parse<T: DeserializeOwned>(text: &str, place: &str) -> Result<T, CommandError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let parsed = serde_path_to_error::deserialize(&mut json);
    let parsed = parsed.map_err(|error| {
        let field = error.path().to_string();
        let place = if field == "." { place.to_owned() } else { format!("{place}, `{field}`") };
        CommandError::new(format!("this is not the JSON that is needed: {}", error.inner())).at(place)
    })?;
    json.end().map_err(|error| CommandError::new(format!("there is more than one JSON value: {error}")).at(place))?;
    Ok(parsed)
}
