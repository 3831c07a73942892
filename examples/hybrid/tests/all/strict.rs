//! What blocks and was not reached is no success.

use crate::play::Play;
use crate::stage::{Stage, check};
use hybrid::demo::Scenario;
use hybrid::types::{Check, CheckReport, HybridFailure, MutationAdversary, StrictnessConfig, VerificationStatus};

/// HY-75, HY-258: a task that asks for tests which catch mutants is not met by a run in which nobody looked for mutants, whatever
/// else holds. `main` stays where it was, and the work is kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_blocks_and_was_not_reached_is_a_failure() {
    let mut stage = Stage::new(Play::of(Scenario::Happy)).await;
    stage.task.spec.strictness = StrictnessConfig::strict();
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let said = "checks that block do not hold: MutantsCaught (not reached)";
    assert_eq!(failure.to_string(), said);
    let unmet = CheckReport {
        check: Check::MutantsCaught,
        status: VerificationStatus::NotVerified,
        blocking: true,
        detail: "not reached".to_owned(),
    };
    assert_eq!(failure, HybridFailure::ChecksUnmet { unmet: vec![unmet] });
    assert_eq!(result.mutation_adversary, MutationAdversary::NotRun);
    let others = Check::ALL.into_iter().filter(|other| *other != Check::MutantsCaught);
    assert!(others.into_iter().all(|other| check(&result, other).0), "{:?}", result.lattice());
    assert_eq!(stage.trace().routes().last().unwrap(), "post_validate → exit");
    assert!(stage.archive().iter().any(|(_, subject)| subject.starts_with("merge: ")), "{:?}", stage.archive());
}
