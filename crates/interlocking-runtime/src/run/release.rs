//! Releases the workspaces of a run that has stopped.

use crate::run::outcome::Outcome;
use crate::run::settings::Settings;
use crate::workspaces::RunEnd;

/// Tells the workspaces that the run owns that it has stopped, and how.
pub(crate) async fn release_workspaces<O>(settings: &Settings, outcome: &Outcome<O>) {
    if !settings.owns_workspaces() {
        return;
    }
    let end = match outcome {
        Outcome::Finished(_) => RunEnd::Finished,
        Outcome::Failed(_) => RunEnd::Failed,
        Outcome::Cancelled => RunEnd::Cancelled,
        _ => RunEnd::Stopped,
    };
    if let Err(error) = settings.options().workspaces.ended(end).await {
        tracing::warn!(run = %settings.run, %error, "not all of the run's workspaces could be released");
    }
}
