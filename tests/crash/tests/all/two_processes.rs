//! Two processes that execute one run.

use crate::case::{Case, said};
use crate::past::Past;
use crate::verdict;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{Entry, Record};
use interlocking_crash::order::Presence;
use interlocking_crash::process::root;
use std::process::Child;
use std::time::{Duration, Instant};

/// A process that does not outlive its test.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        // It fails if the process has ended, which is fine.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Whether the root has done everything that it can do before its children are done.
fn is_at_rest(records: &[Record]) -> bool {
    let is_written = |is: &dyn Fn(&Entry) -> bool| records.iter().any(|record| is(&record.entry));
    is_written(&|entry| matches!(entry, Entry::Report { by, .. } if by.node == "spell"))
        && is_written(&|entry| matches!(entry, Entry::Asked { by, .. } if by.node == "alarm"))
        && is_written(&|entry| matches!(entry, Entry::Outcome(done) if done.node == "check" && done.attempt == 2))
}

#[tokio::test]
async fn the_second_is_refused_and_takes_over_at_once_when_the_first_was_killed() {
    let mut case = Case::new();
    let mut first = Guarded(case.spawn(None, Presence::Awaited));
    let (journal, run, started) = (case.journal(), root().unwrap(), Instant::now());
    let before = loop {
        let records = journal.load(&run).await.unwrap();
        if is_at_rest(&records) {
            break records;
        }
        assert!(started.elapsed() < Duration::from_secs(50), "{}", case.account());
        tokio::time::sleep(Duration::from_millis(2)).await;
    };

    let mut second = case.spawn(None, Presence::Away);
    assert_eq!(second.wait().unwrap().code(), Some(1));
    let (nothing, why) = said(&mut second);
    let refusal = format!("run `gazette` is being executed by process {} on ", first.0.id());
    assert!(nothing.is_empty() && why.contains(&refusal), "{nothing}{why}");
    assert_eq!(journal.load(&run).await.unwrap(), before, "and has changed nothing");
    verdict::on_a_process(&case, 1, &Past::of(&*journal).await).await;

    first.0.kill().unwrap();
    first.0.wait().unwrap();
    case.settle(Presence::Here).await;
}
