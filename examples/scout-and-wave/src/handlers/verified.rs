//! Lands a wave whose gate has passed.

use super::recover::clear_up;
use super::staging::{STAGING, text_of};
use super::{Verified, go_to};
use crate::document::{self, Impl, Status};
use crate::graph::{Merged, Next, SawResult, scout_and_wave};
use crate::protocol::deviation::open_after;
use crate::protocol::state::State;
use crate::request::Request;
use interlocking::prelude::*;
use interlocking::workspaces::diverged;

impl LogicHandler<scout_and_wave::verified> for Verified {
    async fn run(&self, merged: Merged, cx: &mut Cx<'_, scout_and_wave::verified>) -> Route<scout_and_wave::verified> {
        let (_, at) = cx.target().await?;
        if diverged(cx.repository()?, at, merged.commit).await? {
            // The target branch has moved while the gate ran: what lands must be what was verified.
            return goto!(cx, scout_and_wave::verify, merged);
        }
        let file = cx.entry()?.document()?.clone();
        go_to(cx, State::WaveVerified)?;
        let mut staging = cx.worktree_of(STAGING).await?;
        let text = text_of(&staging, &file).await?;
        let read = Impl::read(file.as_str(), &text)?;
        let waves = read.wave_count();
        let reports = merged.agents.iter().filter_map(|agent| Some((agent, read.report(agent)?)));
        let deviations =
            reports.flat_map(|(agent, report)| open_after(agent, report, |affected| read.section_hash(affected)));
        let is_last = read.wave(merged.wave + 1).is_none();
        let state = if is_last { State::Complete } else { State::WavePending };
        let status = Status {
            state,
            waves_verified: (merged.wave + 1).saturating_sub(read.waves.first),
            contracts: Some(merged.contracts_hash),
            verified_at: Some(merged.commit),
            deviations: deviations.collect(),
        };
        let text = document::with_status(file.as_str(), &text, &status)?;
        staging.write_file(file.in_repository(), text).await?;
        let committed = staging.commit(format!("docs: wave {} is verified", merged.wave)).await?;
        // SAW-109: the target moves once a wave.
        let commit = cx.land(committed.unwrap_or(merged.commit)).await?;
        if let Request::Recover { run, .. } = cx.entry()?.clone() {
            clear_up(&run, cx).await?;
        }
        go_to(cx, state)?;
        match is_last {
            true => goto!(cx, scout_and_wave::exit, SawResult::Complete { waves, commit }),
            false => goto!(cx, scout_and_wave::pending, Next::wave(merged.wave + 1)),
        }
    }
}
