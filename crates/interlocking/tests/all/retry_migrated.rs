//! A failed run is retried with another table than it was started with.

use crate::support::{failed, finished, timed};
use interlocking::runtime::journal::{Entry, ending};
use interlocking::runtime::{MemoryJournal, StartError};
use std::sync::{Arc, Mutex};

type Diary = Arc<Mutex<Vec<&'static str>>>;

mod then {
    //! The graph at the start of the run.

    use super::Diary;
    use interlocking::prelude::*;

    #[derive(Graph)]
    #[graph(output = String)]
    pub(super) struct Mill {
        #[node(entry, input = String, goto(grind))]
        fetch: LogicNode<Fetch>,
        #[node(input = String, goto(exit))]
        grind: LogicNode<Grind>,
    }
    held!(Mill);

    struct Fetch(Diary);
    impl LogicHandler<mill::fetch> for Fetch {
        async fn run(&self, corn: String, cx: &mut Cx<'_, mill::fetch>) -> Route<mill::fetch> {
            self.0.lock().unwrap().push("fetched");
            goto!(cx, mill::grind, corn)
        }
    }
    logic!(Grind for mill::grind, |_: String, _cx| Err("the stone is worn".into()));

    pub(super) fn mill(diary: &Diary) -> Mill {
        Mill { fetch: LogicNode(Fetch(diary.clone())), grind: LogicNode(Grind) }
    }
}

mod now {
    //! The later version of the graph: what is ground is sifted.

    use super::Diary;
    use interlocking::prelude::*;

    #[derive(Graph)]
    #[graph(output = String)]
    pub(super) struct Mill {
        #[node(entry, input = String, goto(grind))]
        fetch: LogicNode<Fetch>,
        #[node(input = String, goto(sift))]
        grind: LogicNode<Grind>,
        #[node(input = String, goto(exit))]
        sift: LogicNode<Sift>,
    }
    held!(Mill);

    logic!(Fetch for mill::fetch, |corn: String, cx| goto!(cx, mill::grind, corn));
    struct Grind(Diary);
    impl LogicHandler<mill::grind> for Grind {
        async fn run(&self, corn: String, cx: &mut Cx<'_, mill::grind>) -> Route<mill::grind> {
            self.0.lock().unwrap().push("ground");
            goto!(cx, mill::sift, corn)
        }
    }
    logic!(Sift for mill::sift, |corn: String, cx| goto!(cx, mill::exit, format!("sifted {corn}")));

    pub(super) fn mill(diary: &Diary) -> Mill {
        Mill { fetch: LogicNode(Fetch), grind: LogicNode(Grind(diary.clone())), sift: LogicNode(Sift) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_failed_is_retried_under_a_migrated_table() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    failed(timed(then::mill(&diary)).with_journal(journal.clone()).start("corn".to_owned()).await.unwrap());
    let later = || timed(now::mill(&diary)).with_journal(journal.clone());
    let run = "run".parse().unwrap();

    let before = journal.records(&run);
    let refused = later().retry().await;
    assert!(matches!(refused, Err(StartError::TableChanged { .. })), "{refused:?}");
    let refused = later().with_migration(|_, _| Err("too old".into())).retry().await;
    assert!(matches!(refused, Err(StartError::Migration { .. })), "{refused:?}");
    assert_eq!(journal.records(&run), before, "nothing was done");
    assert_eq!(ending(&before), Some("failed"));

    let report = later().with_migration(|_, records| Ok(records)).retry().await.unwrap();
    assert_eq!(finished(report), "sifted corn");
    assert_eq!(*diary.lock().unwrap(), ["fetched", "ground"], "what was done is not done again");
    let records = journal.records(&run);
    let since: Vec<_> = records[before.len()..].iter().map(|record| &record.entry).collect();
    let [Entry::Retried { .. }, Entry::Resumed { table: Some(table), .. }, ..] = &since[..] else {
        panic!("{since:?}")
    };
    assert_eq!(table.nodes.len(), 3, "from here on it is under this table");

    // The records before the retry still belong to the old table.
    let again = later().with_migration(move |_, records| {
        assert_eq!(records.len(), before.len() + 1, "with that it was retried");
        Ok(records)
    });
    assert_eq!(finished(again.resume().await.unwrap()), "sifted corn");
}
