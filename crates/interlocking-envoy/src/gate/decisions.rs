//! The decisions about all variants, and the rules by which decisions exclude each other.

use crate::gate::decision::{Answer, Decision};
use crate::prompt::{Prompt, PromptKind, Variant};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The decisions about variants, by feature branch, prompt number and letter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions(BTreeMap<String, BTreeMap<u32, BTreeMap<Variant, RecordedDecision>>>);

/// The decision about a variant. Its record marks the variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedDecision {
    /// The decision.
    pub variant_solution: Decision,
    /// The name of the variant's branch at the time of the decision.
    pub branch: String,
    /// The reason for the decision.
    pub reason: String,
}

/// What the gate returns to the agent that follows the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateReturn {
    /// The user's remarks.
    pub thoughts: String,
    /// The decision about the variant; `None` if the prompt has no variants.
    pub variant_solution: Option<Decision>,
    /// The reason for the decision.
    pub reason: String,
    /// The branches of this prompt number that are kept as alternatives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmerged_alternatives: Vec<String>,
    /// What the protocol must return at once; `None` if it continues and merges.
    pub result: Option<ProtocolResult>,
}

/// What a protocol returns if it ends at the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProtocolResult {
    /// Whether the protocol succeeded: always `true`.
    pub success: bool,
    /// Whether the variant was merged: always `false`.
    pub merged: bool,
    /// The decision's name.
    pub reason: String,
}

/// What `complete-prompt` reports for a prompt number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Completion {
    /// The alternatives that were not merged.
    pub unmerged_alternatives: Vec<UnmergedAlternative>,
}

/// An alternative that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnmergedAlternative {
    /// The variant's letter.
    pub variant: Variant,
    /// The variant's branch, whose worktree is kept.
    pub branch: String,
    /// Why the variant was kept.
    pub reason: String,
}

/// Why a decision is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Another variant is main already.
    #[error(
        "{prompt} cannot be main, because variant {main} already is: decide `alternative` or `discard`; or revert what was merged of \
         {main}, and remove {main} from .git/interlocking/envoy-variants.json"
    )]
    SecondMain {
        /// The prompt.
        prompt: String,
        /// The variant that is main.
        main: Variant,
    },
    /// The variant is main already, and so may have been merged to the feature branch.
    #[error(
        "{prompt} is main already, which cannot be taken back here: revert what was merged, and remove it from .git/interlocking/envoy-variants.json"
    )]
    IsMain {
        /// The prompt.
        prompt: String,
    },
    /// The variant was discarded.
    #[error("{prompt} was discarded: its branch is archived as archive/{branch}, rename it back first")]
    IsDiscarded {
        /// The prompt.
        prompt: String,
        /// The branch's former name.
        branch: String,
    },
    /// The name under which a discarded variant's branch is archived cannot be had.
    #[error(
        "{prompt} cannot be discarded: its branch is archived as archive/{branch}, and there is {existing}: rename that first"
    )]
    ArchiveTaken {
        /// The prompt.
        prompt: String,
        /// The branch.
        branch: String,
        /// The branch that has that name at another commit, or beside which a branch of that name cannot exist.
        existing: String,
    },
}

impl Decisions {
    /// Records a decision about a prompt whose worktree is on `branch`. Idempotent: the same decision may be recorded again.
    ///
    /// For a prompt without a variant, nothing is recorded. For a debug prompt, an alternative counts as a discard: only one fix
    /// can be main.
    ///
    /// # Errors
    ///
    /// [`RuleError`] if the decision is not allowed: nothing was recorded.
    pub fn record(&mut self, prompt: &Prompt, branch: &str, answer: &Answer) -> Result<GateReturn, RuleError> {
        let Some(variant) = prompt.variant else {
            return Ok(GateReturn::without_variants());
        };
        let decision = match (prompt.kind, answer.decision) {
            (PromptKind::Debug, Decision::Alternative) => Decision::Discard,
            (_, decision) => decision,
        };
        let feature = Prompt::without_suffix(&prompt.feature_branch);
        let others = self.0.entry(feature.to_owned()).or_default().entry(prompt.number).or_default();
        let is_main = |recorded: &RecordedDecision| recorded.variant_solution == Decision::Main;
        match others.get(&variant) {
            Some(before) if is_main(before) && decision != Decision::Main => {
                return Err(RuleError::IsMain { prompt: prompt.to_string() });
            }
            Some(before) if before.variant_solution == Decision::Discard && decision != Decision::Discard => {
                return Err(RuleError::IsDiscarded { prompt: prompt.to_string(), branch: before.branch.clone() });
            }
            _ => {}
        }
        if decision == Decision::Main
            && let Some((&main, _)) = others.iter().find(|(letter, recorded)| **letter != variant && is_main(recorded))
        {
            return Err(RuleError::SecondMain { prompt: prompt.to_string(), main });
        }
        let Answer { reason, thoughts, .. } = answer.clone();
        let recorded =
            RecordedDecision { variant_solution: decision, branch: branch.to_owned(), reason: reason.clone() };
        others.insert(variant, recorded);
        let result = match decision {
            Decision::Main => None,
            _ => Some(ProtocolResult { success: true, merged: false, reason: decision.to_string() }),
        };
        let alternatives = self.completion(&prompt.feature_branch, prompt.number).unmerged_alternatives;
        let unmerged_alternatives = alternatives.into_iter().map(|alternative| alternative.branch).collect();
        Ok(GateReturn { thoughts, variant_solution: Some(decision), reason, unmerged_alternatives, result })
    }

    /// Forgets that a prompt was discarded, if it was. Called when its branch exists again.
    pub fn forget_discard(&mut self, prompt: &Prompt) {
        let feature = Prompt::without_suffix(&prompt.feature_branch);
        let numbers = self.0.get_mut(feature).and_then(|numbers| numbers.get_mut(&prompt.number));
        if let (Some(variants), Some(variant)) = (numbers, prompt.variant)
            && variants.get(&variant).is_some_and(|recorded| recorded.variant_solution == Decision::Discard)
        {
            variants.remove(&variant);
        }
    }

    /// The decision about a variant, if there is one.
    pub fn of(&self, feature_branch: &str, number: u32, variant: Variant) -> Option<&RecordedDecision> {
        self.variants(feature_branch, number)?.get(&variant)
    }

    fn variants(&self, feature_branch: &str, number: u32) -> Option<&BTreeMap<Variant, RecordedDecision>> {
        self.0.get(Prompt::without_suffix(feature_branch))?.get(&number)
    }

    /// What `complete-prompt` reports for a prompt number.
    pub fn completion(&self, feature_branch: &str, number: u32) -> Completion {
        let variants = self.variants(feature_branch, number).into_iter().flatten();
        let kept = variants.filter(|(_, recorded)| recorded.variant_solution == Decision::Alternative);
        let reported = kept.map(|(&variant, recorded)| {
            let RecordedDecision { branch, reason, .. } = recorded.clone();
            UnmergedAlternative { variant, branch, reason }
        });
        Completion { unmerged_alternatives: reported.collect() }
    }
}

impl GateReturn {
    /// What the gate returns for a prompt without variants.
    pub fn without_variants() -> Self {
        let (thoughts, reason, unmerged_alternatives) = Default::default();
        Self { thoughts, variant_solution: None, reason, unmerged_alternatives, result: None }
    }
}
