//! Decides whether the types are good enough to go on, and makes hints for the builders.

use crate::types::{
    HardeningHint, PriorTypeFix, Severity, TypeAdversaryOutput, TypeAdversaryResult, TypeHole, TypeHolesFound,
    TypeSystemVerdict, TypesAgentOutput,
};

/// The verdict on a list of holes (HY-169, CON-46).
pub fn type_system_verdict(holes: &[TypeHole]) -> TypeSystemVerdict {
    if holes.is_empty() {
        TypeSystemVerdict::TypeSystemSound
    } else if holes.iter().any(|hole| hole.severity.blocks()) {
        TypeSystemVerdict::TypeSystemHasHoles
    } else {
        TypeSystemVerdict::TypeSystemMinorHoles
    }
}

/// The adversary's report with its verdict (HY-117).
pub fn type_adversary_result(output: TypeAdversaryOutput) -> TypeAdversaryResult {
    let verdict = type_system_verdict(&output.holes);
    TypeAdversaryResult { output, verdict }
}

/// The route of the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// To the blind agents.
    Pass,
    /// Back to the types agent.
    Repair(TypeHolesFound),
    /// To the end: the repairs are used up.
    BudgetExhausted {
        /// How many there were.
        attempts: u8,
        /// The holes that are left.
        last_holes: Vec<TypeHole>,
        /// What the repairs were about.
        prior_fixes: Vec<PriorTypeFix>,
    },
}

/// Decides at the gate (HY-170). The budget is checked here, before another repair is paid for (HY-171, CON-45).
///
/// `repairs` counts the repairs so far, `most` is the task's `maxFixAttempts` (HY-112).
pub fn after_adversary(
    types: &TypesAgentOutput,
    adversary: &TypeAdversaryResult,
    repairs: u8,
    most: u8,
    prior_fixes: &[PriorTypeFix],
) -> Gate {
    match adversary.verdict {
        TypeSystemVerdict::TypeSystemSound | TypeSystemVerdict::TypeSystemMinorHoles => Gate::Pass,
        TypeSystemVerdict::TypeSystemHasHoles if repairs >= most => Gate::BudgetExhausted {
            attempts: repairs,
            last_holes: adversary.output.holes.clone(),
            prior_fixes: prior_fixes.to_vec(),
        },
        TypeSystemVerdict::TypeSystemHasHoles => Gate::Repair(TypeHolesFound {
            original_types: types.clone(),
            holes: adversary.output.holes.clone(),
            attempt: repairs + 1,
            max_attempts: most,
            prior_fixes: prior_fixes.to_vec(),
        }),
    }
}

/// The hints for the builders from the adversary's findings.
///
/// Critical and major holes of a passed gate are always closed holes (HY-109); the minor ones are still there (CON-47). Each hint
/// gives the severity of its hole.
pub fn hardening_hints(adversary: &TypeAdversaryResult, prior_fixes: &[PriorTypeFix]) -> Vec<HardeningHint> {
    let hint = |hole: &TypeHole, state: &str| HardeningHint {
        context: format!("{:?}, {state}: {}", hole.severity, hole.description),
        guidance: hole.suggested_fix.clone(),
        source: "typeAdversary".to_owned(),
    };
    let closed = prior_fixes.iter().flat_map(|fix| &fix.holes).filter(|hole| hole.severity.blocks());
    let open = adversary.output.holes.iter().filter(|hole| hole.severity == Severity::Minor);
    let hints = closed.map(|hole| hint(hole, "closed")).chain(open.map(|hole| hint(hole, "still open")));
    hints.fold(Vec::new(), |mut all, hint| {
        if !all.contains(&hint) {
            all.push(hint);
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::HoleType;

    fn hole(severity: Severity) -> TypeHole {
        TypeHole {
            hole_type: HoleType::RepresentableInvalid,
            description: format!("a {severity:?} hole"),
            invariant_broken: "i".to_owned(),
            exploit_sketch: "e".to_owned(),
            severity,
            suggested_fix: format!("close the {severity:?} hole"),
        }
    }

    fn adversary(severities: &[Severity]) -> TypeAdversaryResult {
        let holes = severities.iter().copied().map(hole).collect();
        type_adversary_result(TypeAdversaryOutput { holes, analysis: "a".to_owned(), confident: false })
    }

    fn types() -> TypesAgentOutput {
        TypesAgentOutput {
            type_name: "Stack".to_owned(),
            type_kind: "struct".to_owned(),
            type_description: "d".to_owned(),
            constructors: vec![],
            functions: vec![],
            imports: vec![],
            design_notes: "n".to_owned(),
            blocker: None,
        }
    }

    use Severity::{Critical, Informational, Major, Minor};
    use TypeSystemVerdict::{TypeSystemHasHoles, TypeSystemMinorHoles, TypeSystemSound};

    /// HY-169, HY-117, HY-118, CON-46, CON-48.
    #[test]
    fn the_worst_hole_decides() {
        let cases: [(&[Severity], TypeSystemVerdict); 8] = [
            (&[], TypeSystemSound),
            (&[Informational], TypeSystemMinorHoles),
            (&[Minor], TypeSystemMinorHoles),
            (&[Minor, Informational], TypeSystemMinorHoles),
            (&[Major], TypeSystemHasHoles),
            (&[Critical], TypeSystemHasHoles),
            (&[Informational, Minor, Major], TypeSystemHasHoles),
            (&[Critical, Minor], TypeSystemHasHoles),
        ];
        for (severities, verdict) in cases {
            assert_eq!(adversary(severities).verdict, verdict, "{severities:?}");
        }
    }

    /// HY-170, HY-111: sound and minor pass; otherwise the types agent gets attempt, limit and history.
    #[test]
    fn the_gate_passes_or_sends_back() {
        assert_eq!(after_adversary(&types(), &adversary(&[]), 0, 5, &[]), Gate::Pass);
        assert_eq!(after_adversary(&types(), &adversary(&[Minor]), 5, 5, &[]), Gate::Pass);
        let prior = [PriorTypeFix { attempt: 1, holes: vec![hole(Critical)], design_notes: "n".to_owned() }];
        let Gate::Repair(found) = after_adversary(&types(), &adversary(&[Major, Minor]), 1, 5, &prior) else {
            panic!("a major hole passed");
        };
        assert_eq!((found.attempt, found.max_attempts, found.holes.len()), (2, 5, 2));
        assert_eq!(found.prior_fixes, prior);
        assert_eq!(found.original_types, types());
    }

    /// HY-112, HY-171, CON-44, CON-45: the last allowed repair is made, the next is not asked for.
    #[test]
    fn the_budget_is_checked_before_a_repair() {
        assert!(matches!(after_adversary(&types(), &adversary(&[Major]), 4, 5, &[]), Gate::Repair(_)));
        let exhausted = Gate::BudgetExhausted { attempts: 5, last_holes: vec![hole(Major)], prior_fixes: vec![] };
        assert_eq!(after_adversary(&types(), &adversary(&[Major]), 5, 5, &[]), exhausted);
    }

    /// HY-109, CON-47: closed critical and major holes and open minor ones, marked, each once.
    #[test]
    fn hints_come_from_closed_and_minor_holes() {
        let prior = |holes: &[Severity]| PriorTypeFix {
            attempt: 1,
            holes: holes.iter().copied().map(hole).collect(),
            design_notes: "n".to_owned(),
        };
        let prior = [prior(&[Critical, Minor]), prior(&[Critical, Major])];
        let hints = hardening_hints(&adversary(&[Minor, Informational]), &prior);
        let contexts: Vec<&str> = hints.iter().map(|hint| hint.context.as_str()).collect();
        assert_eq!(
            contexts,
            ["Critical, closed: a Critical hole", "Major, closed: a Major hole", "Minor, still open: a Minor hole"]
        );
        assert_eq!(hints[0].guidance, "close the Critical hole");
        assert!(hints.iter().all(|hint| hint.source == "typeAdversary"));
        assert_eq!(hardening_hints(&adversary(&[]), &[]), []);
    }
}
