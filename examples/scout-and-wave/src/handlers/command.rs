//! Routes a run from its command to the node that begins it (SAW-19, SAW-20, SAW-23).

use super::{Command, go_to};
use crate::document::Impl;
use crate::graph::{Next, scout_and_wave};
use crate::protocol::bootstrap::refuse_code;
use crate::protocol::state::State;
use crate::request::{Brief, Request};
use crate::workbench::files_at;
use interlocking::prelude::*;
use interlocking::workspaces::text_at;

impl LogicHandler<scout_and_wave::command> for Command {
    async fn run(&self, request: Request, cx: &mut Cx<'_, scout_and_wave::command>) -> Route<scout_and_wave::command> {
        if let Request::Scout { document, .. }
        | Request::Feature { document, .. }
        | Request::Bootstrap { document, .. } = &request
        {
            let (_, at) = cx.target().await?;
            if text_at(cx.repository()?, at, document).await?.is_some() {
                let problem = format!("there is a document `{document}` already");
                return Err(format!("{problem}: name another one, remove it, or go on with it by `wave`").into());
            }
        }
        match request {
            Request::Check { task } => {
                go_to(cx, State::Checking)?;
                goto!(cx, scout_and_wave::check, Brief::new(task))
            }
            Request::Scout { task, .. } | Request::Feature { task, .. } => {
                go_to(cx, State::Scouting)?;
                goto!(cx, scout_and_wave::scout, Brief::new(task))
            }
            Request::Bootstrap { task, .. } => {
                let (_, at) = cx.target().await?;
                refuse_code(&files_at(cx.repository()?, at).await?)?;
                go_to(cx, State::Scouting)?;
                goto!(cx, scout_and_wave::architect, Brief::new(task))
            }
            Request::Wave { document } => {
                let (target, at) = cx.target().await?;
                let text = text_at(cx.repository()?, at, &document).await?;
                let text = text.ok_or_else(|| {
                    format!(
                        "there is no document `{document}` on `{target}`: `scout` writes one, and `--name` says which"
                    )
                })?;
                let read = Impl::read(document.as_str(), &text)?;
                let wave = read.next_wave();
                if read.wave(wave).is_none() {
                    return Err(
                        format!("every wave of `{document}` is verified: there is nothing left to begin").into()
                    );
                }
                goto!(cx, scout_and_wave::pending, Next::wave(wave))
            }
            Request::Recover { run, .. } => goto!(cx, scout_and_wave::recover, run),
            Request::Quick { plan } => goto!(cx, scout_and_wave::quick_check, plan),
        }
    }
}
