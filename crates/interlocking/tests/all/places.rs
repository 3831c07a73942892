//! Places in which a run that is taken up again goes on with its work.

use crate::support::{finished, pass, timed};
use async_trait::async_trait;
use interlocking::prelude::*;
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal, WorkspaceError, Workspaces};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Places under a version control that only says what it was asked.
#[derive(Clone, Default)]
struct Yard {
    asked: Arc<Mutex<Vec<String>>>,
}

impl Yard {
    fn says(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }

    /// What was asked since this was asked last, in order of the alphabet.
    fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.sort();
        asked
    }
}

#[async_trait]
impl Workspaces for Yard {
    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(PathBuf::from("/"))
    }
    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
    async fn commit(&self, _: &str) -> Result<Option<String>, WorkspaceError> {
        Ok(Some("base".to_owned()))
    }
    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.says(format!("open {name} at {commit}"));
        Ok(())
    }
    async fn restore(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.says(format!("restore {name} to {commit}"));
        Ok(())
    }
}

/// Everything that may be cut off in a place: a node, a message's handler, and an adviser.
#[derive(Graph)]
#[graph(output = u32)]
struct Site {
    #[node(entry, input = u32, goto(build), spawn(advise), workspace = "plan")]
    plan: LogicNode<Plan>,
    #[node(input = u32, goto(wait), workspace = "main")]
    build: LogicNode<Build>,
    #[node(input = u32, question = String, answer = bool, goto(exit))]
    wait: HumanNode<Asks>,
    #[node(on(u32), resume, goto(build, cancels(wait)), visits = 9, workspace = "mail")]
    mail: EventNode<Mail>,
    #[node(input = u32, report = u32, reports_to(exit), visits = 9, workspace = "aside")]
    advise: AdvisoryNode<Advise>,
}
held!(Site);

/// How long each of them takes.
#[derive(Clone, Copy, Default)]
struct Takes {
    build: u64,
    mail: u64,
    advise: u64,
}

logic!(Plan for site::plan, |input: u32, cx| {
    cx.committed("plan", "planned");
    cx.spawn::<site::advise>(input);
    goto!(cx, site::build, input)
});
logic!(Build(takes: u64) for site::build, |input: u32, cx| {
    pass(*takes).await;
    goto!(cx, site::wait, input)
});
struct Asks;
impl HumanHandler<site::wait> for Asks {
    async fn ask(&self, _: &u32, _: &mut Cx<'_, site::wait>) -> Result<String, NodeError> {
        Ok("Done?".to_owned())
    }
    async fn answered(&self, input: u32, _: bool, cx: &mut Cx<'_, site::wait>) -> Route<site::wait> {
        goto!(cx, site::exit, input)
    }
}
struct Mail(u64);
impl EventHandler<site::mail> for Mail {
    async fn handle(&self, _: u32, cx: &mut Cx<'_, site::mail>) -> Route<site::mail> {
        pass(self.0).await;
        cx.resume()
    }
}
struct Advise(u64);
impl AdvisoryHandler<site::advise> for Advise {
    async fn advise(&self, input: u32, _: &mut Cx<'_, site::advise>) -> Result<u32, NodeError> {
        pass(self.0).await;
        Ok(input)
    }
}
impl Finish for Site {
    async fn finish(&self, output: u32, _: Self::Reports) -> Result<u32, NodeError> {
        Ok(output)
    }
}

fn site(takes: Takes, yard: &Yard, journal: &Arc<MemoryJournal>) -> Run<Site> {
    let graph = Site {
        plan: LogicNode(Plan),
        build: LogicNode(Build(takes.build)),
        wait: HumanNode(Asks),
        mail: EventNode(Mail(takes.mail)),
        advise: AdvisoryNode(Advise(takes.advise)),
    };
    timed(graph).with_workspaces(Arc::new(yard.clone())).with_journal(journal.clone())
}

/// What a resume asks of the places after all of the run has stopped 20 ms from its beginning, where a message came at 10 ms.
async fn asked_at_a_resume(takes: Takes) -> Vec<String> {
    let (yard, journal) = (Yard::default(), Arc::new(MemoryJournal::new()));
    let run = site(takes, &yard, &journal).awaiting_people().start(3);
    let (stopped, ()) = tokio::join!(tokio::time::timeout(Duration::from_millis(20), run), async {
        pass(10).await;
        let body = LetterBody::Message { node: "mail".to_owned(), message: "7".into() };
        journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
    });
    stopped.unwrap_err();
    assert!(yard.asked().is_empty(), "nothing is put back where nothing was cut off");
    let report = site(Takes::default(), &yard, &journal).resume().await.unwrap();
    let Outcome::Waiting { questions } = report.outcome else { panic!("{:?}", report.outcome) };
    let asked = yard.asked();
    let body = LetterBody::Answer { to: questions[0].by.clone(), answer: "true".into() };
    journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
    assert_eq!(finished(site(Takes::default(), &yard, &journal).resume().await.unwrap()), 3);
    asked
}

#[tokio::test(start_paused = true)]
async fn the_place_of_whatever_was_cut_off_is_put_back() {
    let opened = |restored: &[&str]| {
        let place = |name: &str, commit: &str| match restored.contains(&name) {
            true => format!("restore {name} to {commit}"),
            false => format!("open {name} at {commit}"),
        };
        let mut all = [("aside", "base"), ("mail", "base"), ("main", "base"), ("plan", "planned")]
            .map(|(name, commit)| place(name, commit));
        all.sort();
        all
    };
    let none = Takes::default();
    assert_eq!(asked_at_a_resume(none).await, opened(&[]), "a person may take long");
    assert_eq!(asked_at_a_resume(Takes { build: 99, ..none }).await, opened(&["main"]), "the message waits for it");
    assert_eq!(asked_at_a_resume(Takes { mail: 99, ..none }).await, opened(&["mail"]));
    assert_eq!(asked_at_a_resume(Takes { advise: 99, ..none }).await, opened(&["aside"]));
    assert_eq!(asked_at_a_resume(Takes { mail: 99, advise: 99, ..none }).await, opened(&["aside", "mail"]));
}
