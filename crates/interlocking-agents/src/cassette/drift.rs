//! Compares a turn with the recorded calls when no recorded call matches it.

use std::path::Path;

use similar::TextDiff;

use super::error::Drift;
use super::placeholders::Varying;
use super::tape::{Asked, Call};
use super::text::Text;
use crate::agent::turn::Turn;
use crate::sessions::session::SessionOp;

/// Lines of context around a difference.
const CONTEXT: usize = 3;

impl Asked {
    pub(super) fn of(turn: &Turn, varying: &Varying<'_>) -> Self {
        Self {
            role: turn.role.clone(),
            session: turn.session.clone(),
            system: turn.system.as_ref().map(|system| Text(varying.encoded(system))),
            prompt: Text(varying.encoded(&turn.prompt)),
            schema: turn.schema.as_ref().map(|schema| varying.encoded_value(schema.as_value().clone())),
            read_only: turn.read_only,
        }
    }

    /// The role and the session operation, for messages.
    fn shown(&self) -> String {
        let role = self.role.as_deref().map_or_else(String::new, |role| format!("role `{role}`, "));
        format!("{role}{}", session(&self.session))
    }

    /// How similar the two turns are. The same role and operation count more than similar prompts.
    fn similarity(&self, other: &Self) -> f32 {
        let same = |is_same: bool| if is_same { 1.0 } else { 0.0 };
        let prompts = TextDiff::from_lines(&*self.prompt.0, &*other.prompt.0).ratio();
        let whole = same(self.prompt == other.prompt);
        2.0 * same(self.role == other.role && self.session.kind() == other.session.kind())
            + same(self.session == other.session) / 2.0
            + prompts
            + whole
    }
}

fn session(operation: &SessionOp) -> String {
    match operation {
        SessionOp::StartFresh(slug) => format!("fresh session `{slug}`"),
        SessionOp::ContinueFrom(session) => format!("session `{session}` continued"),
        SessionOp::ForkFrom { parent, slug } => format!("fork `{slug}` of session `{parent}`"),
    }
}

/// How `asked` differs from the most similar call in `left`.
pub(super) fn drift(cassette: &Path, asked: &Asked, left: &[(usize, &Call)]) -> Drift {
    let scored = left.iter().map(|(index, call)| (asked.similarity(&call.asked), *index, *call));
    // Of several calls with the best score, the first.
    let nearest = scored.rev().max_by(|(one, ..), (other, ..)| one.total_cmp(other));
    let (call, diff) = match nearest {
        Some((_, index, call)) => (Some(index + 1), compared(&call.asked, asked)),
        None => (None, unified("prompt", "", &asked.prompt.0)),
    };
    Drift { cassette: cassette.to_owned(), asked: asked.shown(), call, diff }
}

fn compared(recorded: &Asked, asked: &Asked) -> String {
    let text = |text: &Option<Text>| text.as_ref().map_or_else(String::new, |text| text.0.clone());
    let schema = |asked: &Asked| asked.schema.as_ref().map_or_else(String::new, |schema| format!("{schema:#}"));
    let access = |asked: &Asked| if asked.read_only { "read only" } else { "read and write" }.to_owned();
    [
        unified("turn", &recorded.shown(), &asked.shown()),
        unified("access", &access(recorded), &access(asked)),
        unified("system prompt", &text(&recorded.system), &text(&asked.system)),
        unified("prompt", &recorded.prompt.0, &asked.prompt.0),
        unified("schema", &schema(recorded), &schema(asked)),
    ]
    .concat()
}

/// A unified diff; empty if the texts are equal.
fn unified(what: &str, recorded: &str, asked: &str) -> String {
    if recorded == asked {
        return String::new();
    }
    let diff = TextDiff::from_lines(recorded, asked);
    let (recorded, asked) = (format!("{what}, recorded"), format!("{what}, now"));
    diff.unified_diff().context_radius(CONTEXT).header(&recorded, &asked).missing_newline_hint(false).to_string()
}
