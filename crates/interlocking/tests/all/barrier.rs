//! The barrier before the implementation: what it waits for, what it remembers, and when it lets the run go on.

use crate::support::{Log, Recording, finished, pass};
use crate::tdd::{APPROVED, End, Missing, PASSED, READY, TestFirst, prompts, run, scaffold, turn};
use interlocking::prelude::*;
use interlocking::table::NodeKind;
use std::collections::BTreeSet;
use std::time::Duration;

/// The turns of a run that succeeds at the first attempt, and implements for so many seconds.
fn well(spec: &str, seconds: u64) -> String {
    turn(&format!("Test {spec}"), 0, READY)
        + &turn(&format!("Implement {spec}"), seconds, PASSED)
        + &turn(&format!("Review {spec}"), 0, APPROVED)
}

/// V3-125, V3-73: the implementation waits for the tests and for every part, in whichever order they come; until then no node
/// runs that would ask its agent. PRG-30: then it gets both, the tests and all merges.
#[tokio::test(start_paused = true)]
async fn nobody_implements_before_the_tests_and_all_parts_are_there() {
    for (tests, cart, till) in [(50, 10, 20), (10, 50, 20), (10, 20, 50)] {
        let script = turn("Test shop", tests, r#"{"TestsReady":{"tests":["one","two"]}}"#)
            + &well("cart", cart)
            + &well("till", till)
            + &turn("Implement shop", 0, PASSED)
            + &turn("Review shop", 0, APPROVED);
        let (agent, log) = (Recording::new(&script), Log::new());
        let shop = run(&agent).with_events(log.sink()).start(scaffold("shop", &["cart", "till"]));
        let (report, ()) = tokio::join!(shop, async {
            pass(49_999).await;
            assert_eq!(prompts(&agent, "Implement shop"), Vec::<String>::new());
            let lines = log.lines();
            let mut own = lines.lines().filter(|line| !line.contains(" in run-"));
            let is_early = |line: &str| line.contains("started implement") || line.contains("started barrier");
            assert!(!own.any(is_early), "{lines}");
            assert_eq!(prompts(&agent, "Implement").len(), 2, "while the parts have theirs");
        });
        let report = report.unwrap();
        assert_eq!(log.line("started barrier 1.1"), "50000 started barrier 1.1");
        assert_eq!(log.line("started implement 1.1"), "50000 started implement 1.1");
        assert_eq!(
            prompts(&agent, "Implement shop"),
            ["Implement shop, attempt 1 of 5.\nPass one.\nPass two.\nUse cart.\nUse till."]
        );
        assert_eq!(report.took.as_millis(), 50_000);
        assert!(matches!(finished(report), End::Merged(_)));
    }
}

/// PRG-29: the fork opens both ways at once, that of the tests and that on which the barrier gets its parts.
/// PRG-31: fork and barrier are kinds of node that the table says and the runtime acts on: the fork's one outcome starts
/// both branches, the barrier runs once a complete round, and neither has an agent.
#[tokio::test(start_paused = true)]
async fn the_fork_starts_the_tests_beside_the_parts() {
    let rows = &TestFirst::net().table().nodes;
    let kind = |name: &str| rows.iter().find(|row| row.name == name).unwrap().kind;
    assert_eq!((kind("dispatch"), kind("barrier")), (NodeKind::Fork, NodeKind::Join));

    let script = turn("Test shop", 30, READY)
        + &well("cart", 30)
        + &turn("Implement shop", 0, PASSED)
        + &turn("Review shop", 0, APPROVED);
    let (agent, log) = (Recording::new(&script), Log::new());
    let report = run(&agent).with_events(log.sink()).start(scaffold("shop", &["cart"])).await.unwrap();
    assert_eq!(log.line("finished dispatch 1.1"), "0 finished dispatch 1.1 to write_tests+parts after 0");
    assert_eq!(log.line("started write_tests 1.1"), "0 started write_tests 1.1");
    assert_eq!(log.line("started parts 1.1"), "0 started parts 1.1");
    assert_eq!(log.line("finished barrier 1.1"), "30000 finished barrier 1.1 to implement after 0");
    assert_eq!(report.took.as_millis(), 30_000, "30 s beside 30 s");
    let roles: BTreeSet<_> = report.ledger.entries().iter().filter_map(|entry| entry.role.as_deref()).collect();
    assert_eq!(roles, BTreeSet::from(["write_tests", "implement", "review"]));
}

/// V3-126: if there are no parts, the barrier waits for the tests only.
#[tokio::test(start_paused = true)]
async fn without_parts_only_the_tests_are_awaited() {
    let script = turn("Test cart", 20, READY) + &turn("Implement cart", 0, PASSED) + &turn("Review cart", 0, APPROVED);
    let (agent, log) = (Recording::new(&script), Log::new());
    let report = run(&agent).with_events(log.sink()).start(scaffold("cart", &[])).await.unwrap();
    assert_eq!(log.line("finished dispatch 1.1"), "0 finished dispatch 1.1 to write_tests+barrier.parts after 0");
    assert_eq!(log.line("started implement 1.1"), "20000 started implement 1.1");
    assert_eq!(report.visits_of("parts"), 0);
    assert_eq!(prompts(&agent, "Implement"), ["Implement cart, attempt 1 of 5.\nPass one."]);
    assert!(matches!(finished(report), End::Merged(_)));
}

/// V3-127, CON-09: parts are awaited once. When the review asks for more tests, the next round uses the remembered merges, as
/// soon as its tests are there.
#[tokio::test(start_paused = true)]
async fn later_rounds_pass_with_the_remembered_merges() {
    let script = turn("- of nothing", 5, r#"{"TestsReady":{"tests":["one","two"]}}"#)
        + &turn("- of much", 5, r#"{"TestsReady":{"tests":["three"]}}"#)
        + &turn("Test shop", 0, READY)
        + &well("cart", 40)
        + &turn("Implement shop", 0, PASSED).repeat(3)
        + &turn("Review shop", 0, r#"{"MoreTests":{"additional":["of nothing"]}}"#)
        + &turn("Review shop", 0, r#"{"MoreTests":{"additional":["of much"]}}"#)
        + &turn("Review shop", 0, APPROVED);
    let agent = Recording::new(&script);
    let shop = run(&agent).start(scaffold("shop", &["cart"]));
    let report = tokio::time::timeout(Duration::from_secs(60), shop).await.expect("no round hangs").unwrap();
    assert_eq!(report.took.as_millis(), 50_000);
    assert_eq!((report.visits_of("parts"), report.visits_of("barrier")), (1, 3));
    assert_eq!(
        prompts(&agent, "Implement shop"),
        [
            "Implement shop, attempt 1 of 5.\nPass one.\nUse cart.",
            "Implement shop, attempt 1 of 5.\nPass one.\nPass two.\nUse cart.",
            "Implement shop, attempt 1 of 5.\nPass three.\nUse cart.",
        ]
    );
    assert_eq!(prompts(&agent, "Implement cart").len(), 1);
    assert_eq!(agent.scripted().unused(), []);
    assert!(matches!(finished(report), End::Merged(_)));
}

/// V3-129, CON-37: a part that is stuck, was rejected or failed fills the barrier's slot with its failure, and the run ends
/// with it; there is no implementation, and nothing waits.
#[tokio::test(start_paused = true)]
async fn a_part_that_fails_releases_the_barrier_with_its_failure() {
    let stuck = turn("Implement till", 9, r#"{"Stuck":{"diagnosis":"no drawer"}}"#);
    let rejected = turn("Implement till", 9, PASSED) + &turn("Review till", 0, r#"{"Reject":{"reason":"no drawer"}}"#);
    let broken =
        "[[turn]]\ncontains = ['Implement till']\ndelay = '9s'\nfail = 'crash'\ntext = 'no drawer'\n".to_owned();
    for (how, till) in [("stuck", stuck), ("rejected", rejected), ("broken", broken)] {
        let script = turn("Test shop", 0, READY) + &well("cart", 5) + &turn("Test till", 0, READY) + &till;
        let agent = Recording::new(&script);
        let shop = run(&agent).start(scaffold("shop", &["cart", "till"]));
        let report = tokio::time::timeout(Duration::from_secs(60), shop).await.expect("no deadlock").unwrap();
        assert_eq!(report.took.as_millis(), 9_000);
        assert_eq!((report.visits_of("barrier"), report.visits_of("implement")), (1, 0));
        assert_eq!(prompts(&agent, "Implement shop"), Vec::<String>::new());
        let End::PartsMissing(missing) = finished(report) else { panic!("{how}") };
        let [(part, why)] = &missing[..] else { panic!("{how}: {missing:?}") };
        assert_eq!(part, "till");
        match (how, why) {
            ("stuck", Missing::Ended(end)) => {
                assert!(matches!(&**end, End::Stuck(stuck) if stuck.diagnosis == "no drawer"), "{end:?}");
            }
            ("rejected", Missing::Ended(end)) => {
                assert_eq!(**end, End::Rejected { reason: "no drawer".to_owned() });
            }
            ("broken", Missing::Failed(failure)) => {
                assert!(failure.to_string().ends_with("(exit code 1): no drawer"), "{failure}");
            }
            _ => panic!("{how}: {why:?}"),
        }
    }
}

/// V3-129: if the tests cannot be written, the run ends at once with the reason, and the parts with it.
#[tokio::test(start_paused = true)]
async fn tests_that_cannot_be_written_end_the_run_while_parts_are_made() {
    let script = turn("Test shop", 3, r#"{"InvalidScaffold":{"missing_type":"Till"}}"#) + &well("cart", 7_200);
    let (agent, log) = (Recording::new(&script), Log::new());
    let shop = run(&agent).with_events(log.sink()).start(scaffold("shop", &["cart"]));
    let report = tokio::time::timeout(Duration::from_secs(60), shop).await.expect("no deadlock").unwrap();
    assert_eq!(report.took.as_millis(), 3_000);
    assert_eq!(log.line("cancelled parts 1.1"), "3000 cancelled parts 1.1");
    assert_eq!(finished(report), End::InvalidScaffold { missing_type: "Till".to_owned() });

    // The same holds for an agent that fails: the failure is typed, and says where it happened.
    let script =
        "[[turn]]\ncontains = ['Test shop']\nfail = 'crash'\ntext = 'no disk'\n".to_owned() + &well("cart", 7_200);
    let shop = run(&Recording::new(&script)).start(scaffold("shop", &["cart"]));
    let report = tokio::time::timeout(Duration::from_secs(60), shop).await.expect("no deadlock").unwrap();
    let Outcome::Failed(failure) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!((failure.node.as_str(), failure.kind), ("write_tests", FailureKind::Agent));
}
