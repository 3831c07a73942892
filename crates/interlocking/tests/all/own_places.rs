//! Workspaces of which each run has its own set.

use crate::support::{failed, finished, timed};
use async_trait::async_trait;
use interlocking::prelude::*;
use interlocking::runtime::journal::{JournalError, Letter, LetterBody};
use interlocking::runtime::workspaces::{RunEnd, RunScope};
use interlocking::runtime::{Journal, MemoryJournal, WorkspaceError, Workspaces};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A set of workspaces for each run; each set knows its run.
#[derive(Clone, Default)]
struct Own {
    run: Option<String>,
    id: Option<RunId>,
    told: Arc<Mutex<Vec<String>>>,
    journal: Option<Arc<MemoryJournal>>,
}

impl Own {
    fn says(&self, what: &str) {
        self.told.lock().unwrap().push(format!("{}: {what}", self.run.as_deref().unwrap_or("nobody's")));
    }

    fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

#[async_trait]
impl Workspaces for Own {
    fn of_run(&self, run: &RunScope<'_>) -> Option<Arc<dyn Workspaces>> {
        let name = match run.parent {
            Some(parent) => {
                format!("{} below {} in {:?}", parent.key, parent.run, parent.workspace.unwrap_or("nothing"))
            }
            None => format!("{}{}", if run.is_new { "new " } else { "" }, run.table.graph),
        };
        Some(Arc::new(Self { run: Some(name), id: Some(run.run.clone()), ..self.clone() }))
    }
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(Path::new("/").join(name))
    }
    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
    async fn ready(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        self.says(&format!("{name} is to be ready"));
        if name == "broken" {
            return Err(WorkspaceError::Unusable { reason: "it is broken".to_owned() });
        }
        Ok(Some("base".to_owned()))
    }
    fn began_at(&self, name: &str, commit: &str) {
        self.says(&format!("{name} began at {commit}"));
    }
    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.says(&format!("{name} is at {commit}"));
        Ok(())
    }
    async fn ended(&self, end: RunEnd) -> Result<(), WorkspaceError> {
        if let (Some(journal), Some(run)) = (&self.journal, &self.id) {
            let claimed = journal.claim(run).await;
            assert!(matches!(claimed, Err(JournalError::Held { .. })), "another process may take {run} up meanwhile");
        }
        self.says(&format!("{end:?}"));
        Ok(())
    }
}

/// A node and its child, each with a workspace, and a node that waits.
#[derive(Graph)]
#[graph(output = u32)]
struct House {
    #[node(entry, input = u32, goto(rooms), workspace = "plan")]
    plan: LogicNode<Plans>,
    #[node(input = u32, map = Room, goto(wait), workspace = "house")]
    rooms: MapNode<Rooms>,
    #[node(input = u32, question = String, answer = bool, goto(exit))]
    wait: HumanNode<AsksAgain>,
}
#[derive(Graph)]
#[graph(output = u32)]
struct Room {
    #[node(entry, input = u32, goto(exit), workspace = "room")]
    paint: LogicNode<Paint>,
}
#[derive(Graph)]
#[graph(output = u32)]
struct Ruin {
    #[node(entry, input = u32, goto(exit), workspace = "broken")]
    enter: LogicNode<Enters>,
}
held!(House, Room, Ruin);

logic!(Plans for house::plan, |input: u32, cx| {
    assert_eq!(cx.workspace()?.path, Path::new("/plan"));
    let own = cx.workspaces()?;
    let own: &dyn std::any::Any = &*own;
    own.downcast_ref::<Own>().unwrap().says("a handler has them");
    cx.committed("plan", "planned");
    goto!(cx, house::rooms, input)
});
struct Rooms;
impl MapHandler<house::rooms> for Rooms {
    fn graph(&self, _: &Cx<'_, house::rooms>) -> Result<Arc<Room>, NodeError> {
        Ok(Arc::new(Room { paint: LogicNode(Paint) }))
    }
    async fn items(&self, input: &u32, cx: &mut Cx<'_, house::rooms>) -> Result<Vec<Item<Room>>, NodeError> {
        let Some(own) = (&*cx.workspaces()? as &dyn std::any::Any).downcast_ref::<Own>().cloned() else {
            return Err("they are others".into());
        };
        let kitchen = Item::new(*input).with_key("kitchen");
        let bath = Item::new(*input).with_key("bath").with_workspaces_for(move |run| {
            assert!(run.as_str().starts_with("run-"));
            own.says("those of the bath are made");
            Arc::new(own)
        });
        Ok(vec![kitchen, bath])
    }
    async fn gather(&self, input: u32, children: Children<Room>, cx: &mut Cx<'_, house::rooms>) -> Route<house::rooms> {
        assert_eq!(children.all().await.len(), 2);
        goto!(cx, house::wait, input)
    }
}
logic!(Paint for room::paint, |input: u32, cx| goto!(cx, room::exit, input));
logic!(Enters for ruin::enter, |input: u32, cx| goto!(cx, ruin::exit, input));
struct AsksAgain;
impl HumanHandler<house::wait> for AsksAgain {
    async fn ask(&self, _: &u32, _: &mut Cx<'_, house::wait>) -> Result<String, NodeError> {
        Ok("Done?".to_owned())
    }
    async fn answered(&self, input: u32, _: bool, cx: &mut Cx<'_, house::wait>) -> Route<house::wait> {
        goto!(cx, house::exit, input)
    }
}

#[tokio::test(start_paused = true)]
async fn each_run_has_workspaces_of_its_own_made_ready_before_its_nodes_and_told_of_its_end() {
    let journal = Arc::new(MemoryJournal::new());
    let own = Own { journal: Some(journal.clone()), ..Own::default() };
    let house = || {
        let graph = House { plan: LogicNode(Plans), rooms: MapNode(Rooms), wait: HumanNode(AsksAgain) };
        timed(graph).with_workspaces(Arc::new(own.clone())).with_journal(journal.clone())
    };
    let waiting = house().start(1).await.unwrap();
    let Outcome::Waiting { questions } = waiting.outcome else { panic!("{:?}", waiting.outcome) };
    let mut told = own.told();
    let [bath, kitchen] = ["bath", "kitchen"].map(|key| format!("{key} below run in \"house\": "));
    let of_children: Vec<_> = told.extract_if(.., |told| told.contains(" below run ")).collect();
    for child in [bath, kitchen] {
        let of_child: Vec<_> = of_children.iter().filter_map(|told| told.strip_prefix(&child)).collect();
        assert_eq!(of_child, ["room is to be ready", "Finished"], "{child}");
    }
    let house_says = |told: &[&str]| told.iter().map(|told| format!("new House: {told}")).collect::<Vec<_>>();
    let expected =
        ["plan is to be ready", "a handler has them", "house is to be ready", "those of the bath are made", "Stopped"];
    assert_eq!(told, house_says(&expected));

    let body = LetterBody::Answer { to: questions[0].by.clone(), answer: "true".into() };
    journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
    assert_eq!(finished(house().resume().await.unwrap()), 1);
    let expected = ["house began at base", "plan began at base", "house is at base", "plan is at planned", "Finished"];
    assert_eq!(own.told(), expected.map(|told| format!("House: {told}")));
    assert_eq!(finished(house().resume().await.unwrap()), 1);
    assert_eq!(own.told(), ["House: Finished"], "whose process may have been killed before it said so");
}

#[tokio::test(start_paused = true)]
async fn a_workspace_that_cannot_be_made_ready_fails_its_node() {
    for is_recorded in [true, false] {
        let own = Own::default();
        let run = timed(Ruin { enter: LogicNode(Enters) }).with_workspaces(Arc::new(own.clone()));
        let run = if is_recorded { run } else { run.without_journal() };
        let failure = failed(run.start(1).await.unwrap());
        assert_eq!((&failure.kind, &*failure.message), (&FailureKind::Workspace, "workspace `broken`: it is broken"));
        assert_eq!(own.told(), ["new Ruin: broken is to be ready", "new Ruin: Failed"]);
    }
}
