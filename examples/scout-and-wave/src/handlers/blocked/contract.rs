//! The plan of a wave does not hold: its contracts, or its ownership of files (SAW-45).

use super::{question, stop};
use crate::graph::{Blocked, BlockedQuestion, ContractAnswer, Next, scout_and_wave};
use crate::handlers::{BlockedContract, go_to};
use crate::protocol::state::State;
use interlocking::prelude::*;

impl HumanHandler<scout_and_wave::blocked_contract> for BlockedContract {
    async fn ask(
        &self,
        blocked: &Blocked,
        cx: &mut Cx<'_, scout_and_wave::blocked_contract>,
    ) -> Result<BlockedQuestion, NodeError> {
        let ways = [
            "\"revised\": you have put the document right and committed it on the target branch; agents whose section has changed work again, and the work of the others is brought onto what the branch has now",
            "\"stop\": the run ends",
        ];
        question(blocked, &ways, cx).await
    }

    async fn answered(
        &self,
        blocked: Blocked,
        answer: ContractAnswer,
        cx: &mut Cx<'_, scout_and_wave::blocked_contract>,
    ) -> Route<scout_and_wave::blocked_contract> {
        match answer {
            ContractAnswer::Stop => stop(blocked, cx),
            ContractAnswer::Revised => {
                go_to(cx, State::WavePending)?;
                goto!(cx, scout_and_wave::pending, Next { wave: blocked.wave, executed: blocked.executed })
            }
        }
    }
}
