//! Runs of two levels that are killed, and resumed by their journals and git.

use crate::play::Play;
use crate::small::{play, project, spec};
use crate::tree::family;
use interlocking::prelude::*;
use interlocking::runtime::{Event, EventKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;
use v3::types::outcome::V3Outcome;
use v3::types::scaffold::ScaffoldInput;

/// Starts a run, and kills it once so many nodes have ended in all of its tree; what it comes to, if it ends before. What it had begun on
/// threads of its own has ended when this returns, as it has when a process is gone.
fn start_until(play: &Play<'_>, moment: usize) -> Option<Outcome<V3Outcome>> {
    let (left, told) = (AtomicUsize::new(moment), Arc::new(Notify::new()));
    let tells = told.clone();
    let counted = move |event: Event| {
        if matches!(event.kind, EventKind::NodeFinished { .. }) && left.fetch_sub(1, Ordering::SeqCst) == 1 {
            tells.notify_one();
        }
    };
    let process = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let run = play.run().with_events(Arc::new(counted));
            tokio::select! {
                biased;
                () = told.notified() => None,
                ended = run.start(ScaffoldInput::from(spec(&["a", "b"]))) => Some(ended.unwrap().outcome),
            }
        })
    };
    std::thread::scope(|scope| scope.spawn(process).join().unwrap())
}

/// V3-04, CON-144: after whatever node of whatever run it is killed, it comes to the same: each child is merged once, and nothing is left.
#[tokio::test]
async fn a_tree_that_is_killed_anywhere_comes_to_the_same() {
    let mut killed = 0;
    for moment in (1..).step_by(3) {
        let project = project().await;
        let play = play(&project, &family());
        let ended = match start_until(&play, moment) {
            Some(ended) => ended,
            None => {
                killed += 1;
                play.run().resume().await.unwrap().outcome
            }
        };
        assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{moment}: {ended:?}");
        let mut subjects = project.subjects("main");
        subjects[1..3].sort();
        let expected = [
            "feat(top): implement",
            "feat(top/a): implement",
            "feat(top/b): implement",
            "feat(top): scaffold",
            "Begin",
        ];
        assert_eq!(subjects, expected, "{moment}");
        for node in ["top", "a", "b"] {
            assert_eq!(project.git(&["show", &format!("main:src/{node}.txt")]), "stub\ndone\n", "{moment}");
        }
        project.is_tidy();
        if moment > 3 * killed {
            break;
        }
    }
    // Nine nodes of the root, and seven of each child.
    assert!(killed >= 7, "{killed}");
}
