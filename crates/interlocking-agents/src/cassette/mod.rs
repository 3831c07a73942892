//! Any agent recorded, and played back without it: no network, no model, no money, and the same files.
//!
//! [`Recorder`] wraps an agent and writes down its calls; [`Replayer`] is an agent that plays them. [`record_or_replay`] chooses
//! by an environment variable.
//!
//! ```
//! # use std::sync::Arc;
//! # use interlocking_agents::cassette::{Recorder, Replayer};
//! # use interlocking_agents::{Conversation, NoEvents, Script, ScriptedAgent, Slug, Turn};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let cassette = folder.path().join("greeting");
//! # let real = ScriptedAgent::new(Script::parse("hello", "[[turn]]\noutput = \"hello\"")?);
//! let turn = Turn::fresh(Slug::new("greet")?, "Say hello.");
//! let recorder = Recorder::new(Arc::new(real), &cassette)?;
//! let recorded = Conversation::new(&recorder).run(turn.clone(), &NoEvents).await?;
//!
//! let replayer = Replayer::open(&cassette)?;
//! let replayed = Conversation::new(&replayer).run(turn, &NoEvents).await?;
//! assert_eq!(replayed, recorded);
//! assert!(replayer.unplayed().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # What is in a cassette
//!
//! A directory: `cassette.json` says the format's version, the agent's name and how many calls there are; `0001.json` and so on
//! are the calls, in the order in which they ended. They are JSON, with texts line by line, to be read, reviewed and kept in
//! git.
//!
//! | of each call | |
//! |---|---|
//! | `asked` | role, session operation, system prompt, prompt, schema, and whether it was to change nothing |
//! | `model`, `workspace` | which model, and the name of the workspace's directory |
//! | `events` | what the agent reported, with milliseconds since the call began |
//! | `files` | what the workspace had after the call and not before: files with their content and permissions (in base64 what is no text), links, empty directories; and what was gone |
//! | `ended` | the reply or the error, with session and usage; or that nobody waited for the end |
//!
//! Corrections and reminders are calls of their own. The environment is not recorded, and [secrets](Recorder::with_redactor) are
//! taken out.
//!
//! Of the workspace everything is looked at but entries called `.git`, directories tagged as caches (`CACHEDIR.TAG`, such as
//! cargo's `target`) and what the recorder is [told to leave out](Recorder::without). So commits that an agent makes itself are
//! not in it. Agents that work in one workspace at once are each taken to have made the changes of both.
//!
//! # Playing
//!
//! A turn gets the call with the same `asked`, of several alike the first that was not played; so branches that run at once are
//! played alike in whatever order they come. Sessions have their recorded ids. The changes of the workspace are made once the
//! session is started. A call that was interrupted waits to be interrupted, and one that was interrupted for its end to be given
//! up.
//!
//! A turn without such a call is [`Drifted`](CassetteError::Drifted): the error shows what differs from the call that comes
//! nearest.
//!
//! # Placeholders
//!
//! What differs from run to run is written as a placeholder, in everything but session ids, roles and paths inside the workspace:
//!
//! | | |
//! |---|---|
//! | `⟦workspace⟧` | the path of the turn's workspace |
//! | `⟦name⟧` | the value that recorder and player were each [given](Recorder::with_placeholder) for `name` |
//! | `⟦open⟧` | the character `⟦` itself |

mod change;
mod drift;
pub(crate) mod error;
mod placeholders;
mod recorder;
mod replayer;
mod snapshot;
mod tape;
mod text;

use std::path::Path;
use std::sync::Arc;

pub use error::{CassetteError, Drift, RECORD};
pub use recorder::Recorder;
pub use replayer::Replayer;

use crate::agent::Agent;
use placeholders::Varying;
use text::Text;

/// The agent of a test: with [`RECORD`] set to `record` what `real` makes, recorded in `cassette`; otherwise the cassette,
/// played.
///
/// # Errors
///
/// There is no cassette yet, it cannot be played or recorded, or the variable says neither `record` nor `replay`.
pub fn record_or_replay(
    cassette: impl AsRef<Path>,
    real: impl FnOnce() -> Arc<dyn Agent>,
) -> Result<Arc<dyn Agent>, CassetteError> {
    let said = std::env::var_os(RECORD).map(|said| said.to_string_lossy().into_owned()).unwrap_or_default();
    match said.as_str() {
        "record" => Ok(Arc::new(Recorder::new(real(), cassette)?)),
        "" | "replay" => Ok(Arc::new(Replayer::open(cassette)?)),
        _ => Err(CassetteError::Mode { variable: RECORD.to_owned(), found: said }),
    }
}

/// What the workspace is called, without where it is.
fn name_of(workspace: Option<&Path>, varying: &Varying<'_>) -> Option<Text> {
    let name = workspace?.file_name()?.to_str()?;
    Some(Text(varying.encoded(name)))
}
