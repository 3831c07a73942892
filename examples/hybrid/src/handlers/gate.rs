//! The gate: sound types pass, the others are repaired while the budget lasts.

use super::Gate;
use super::ending::{end, note_check};
use crate::graph::hybrid;
use crate::types::{Check, GatedState, HybridFailure, SkeletonState, TypeAdversaryResult};
use crate::verdicts::{Gate as Verdict, after_adversary};
use interlocking::prelude::*;

impl JoinHandler<hybrid::gate> for Gate {
    async fn join(
        &self,
        (skeleton, type_adversary): (SkeletonState, TypeAdversaryResult),
        cx: &mut Cx<'_, hybrid::gate>,
    ) -> Route<hybrid::gate> {
        let most = cx.entry()?.strictness.max_fix_attempts;
        let memory = cx.memory();
        let types = &skeleton.types_result.output;
        let verdict = after_adversary(types, &type_adversary, memory.type_fix_attempt, most, &memory.prior_type_fixes);
        let seen = type_adversary.clone();
        cx.update_memory(move |memory| memory.type_adversary = Some(seen.clone()));
        let held = matches!(verdict, Verdict::Pass);
        note_check(cx, Check::TypeHoles, held, format!("{:?}", type_adversary.verdict));
        match verdict {
            Verdict::Pass => {
                let gated = GatedState { skeleton, type_adversary };
                let kept = gated.clone();
                cx.update_memory(move |memory| memory.gated = Some(kept.clone()));
                goto!(cx, hybrid::blind_fork, gated)
            }
            Verdict::Repair(holes) => goto!(cx, hybrid::types_fix, holes),
            Verdict::BudgetExhausted { attempts, last_holes, prior_fixes } => {
                end(cx, HybridFailure::TypeFixBudgetExhausted { attempts, last_holes, prior_fixes })
            }
        }
    }
}
