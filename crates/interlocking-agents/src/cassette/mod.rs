//! Records any agent and replays it without the agent: no network, no model, no money, and the same files.
//!
//! [`Recorder`] wraps an agent and writes down its calls; [`Replayer`] is an agent that plays them.
//! [`record_or_replay`] chooses between the two by an environment variable.
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
//! A cassette is a directory. `cassette.json` contains the version of the format, the agent's name and the number of
//! calls. `0001.json` and so on are the calls, in the order in which they ended. The files are JSON, with texts split
//! into lines, so that they can be read, reviewed and kept in git.
//!
//! | of each call | |
//! |---|---|
//! | `asked` | role, session operation, system prompt, prompt, schema, and whether it was to change nothing |
//! | `model`, `workspace` | which model, and the name of the workspace's directory |
//! | `events` | what the agent reported, with milliseconds since the call began |
//! | `files` | how the call changed the workspace: new and changed files with their content and permissions (binary content in base64), links, empty directories, and removed entries |
//! | `ended` | the reply or the error, with session and usage; or that the call's future was dropped before its end |
//!
//! Corrections and reminders are separate calls. The environment is not recorded, and
//! [secrets](Recorder::with_redactor) are removed.
//!
//! The whole workspace is recorded except for entries named `.git`, directories tagged as caches (`CACHEDIR.TAG`, such
//! as cargo's `target`) and what the recorder is [told to leave out](Recorder::without). So commits that an agent makes
//! itself are not recorded. If several agents work in one workspace at the same time, the changes of all of them are
//! recorded for each of them.
//!
//! # Playing
//!
//! A turn gets the first unplayed call with the same `asked`, preferably one from a workspace of the same name. So
//! concurrent branches are replayed alike whatever order they come in. Sessions have their recorded ids. The changes to
//! the workspace are applied once the session is started. A call that was recorded as interrupted waits until it is
//! interrupted; a call that was recorded as dropped waits until its future is dropped.
//!
//! A turn without a matching call is [`Drifted`](CassetteError::Drifted): the error shows how it differs from the most
//! similar call.
//!
//! # Placeholders
//!
//! Values that differ from run to run are written as placeholders, except in session ids, roles and paths inside the
//! workspace:
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

/// The agent of a test. If [`RECORD`] is set to `record`, the agent that `real` makes, recorded in `cassette`;
/// otherwise a replayer of the cassette.
///
/// # Errors
///
/// The cassette does not exist yet, cannot be played or recorded, or the variable is set to something other than
/// `record` or `replay`.
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

/// The name of the workspace's directory, without the path to it.
fn name_of(workspace: Option<&Path>, varying: &Varying<'_>) -> Option<Text> {
    let name = workspace?.file_name()?.to_str()?;
    Some(Text(varying.encoded(name)))
}
