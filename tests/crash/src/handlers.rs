//! The handlers of the nodes. Each logs that it begins and what it has done, in a file that outlives the
//! process.

use crate::gazette::{
    Article, Draft, Edition, Gazette, News, Notes, Part, Question, Seen, Spelled, Task, Verdict, WritePrompt, gazette,
};
use crate::log::{Deed, Log};
use crate::places::Places;
use interlocking::prelude::*;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::workspaces::Directories;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The shared tools of the nodes.
#[derive(Clone)]
pub struct Desk(Arc<Tools>);

struct Tools {
    log: Log,
    places: Places,
    journal: Arc<dyn Journal>,
    /// The root's children, once its map node has begun in this process.
    children: Mutex<HashMap<usize, RunId>>,
}

impl Desk {
    /// A desk with these tools.
    pub fn new(log: Log, places: Places, journal: Arc<dyn Journal>) -> Self {
        Self(Arc::new(Tools { log, places, journal, children: Mutex::default() }))
    }

    fn log(&self) -> &Log {
        &self.0.log
    }

    fn child(&self, part: Part) -> Option<RunId> {
        let position = Part::Root.children().iter().position(|child| *child == part)?;
        self.0.children.lock().unwrap_or_else(PoisonError::into_inner).get(&position).cloned()
    }
}

async fn pass(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

/// The fork.
pub struct Open(pub(crate) Desk);

impl ForkHandler<gazette::open> for Open {
    async fn fork(&self, task: Task, cx: &mut Cx<'_, gazette::open>) -> Route<gazette::open> {
        self.0.log().begin(cx)?;
        let part = task.part;
        let watch = match part {
            Part::Root => cx.branch::<gazette::alarm>(part),
            _ => cx.branch::<gazette::watch>(part),
        };
        self.0.log().note(cx, Deed::Done)?;
        fork!(cx, (task.clone(), task.clone(), task, watch))
    }
}

/// The agent's node.
pub struct Write(pub(crate) Desk);

impl LLMHandler<gazette::write> for Write {
    async fn before<'a>(&'a self, task: &'a Task, cx: &mut Cx<'_, gazette::write>) -> Ask<WritePrompt> {
        self.0.log().begin(cx)?;
        let part = task.part.name();
        let (run, round) = (cx.run_id().to_string(), task.refused + 1);
        Ok((WritePrompt { part, run, round }, SessionOp::StartFresh(Slug::new(part)?)))
    }

    async fn after(
        &self,
        task: Task,
        reply: interlocking::prelude::Reply<Article>,
        cx: &mut Cx<'_, gazette::write>,
    ) -> Route<gazette::write> {
        cx.update_memory(move |notes: &mut Notes| notes.0.push(format!("written {}", task.refused + 1)));
        cx.spawn::<gazette::spell>(reply.output.text.clone());
        self.0.log().note(cx, Deed::Done)?;
        goto!(cx, gazette::gate, reply.output)
    }
}

/// The map.
pub struct Chapters(pub(crate) Desk);

impl MapHandler<gazette::chapters> for Chapters {
    fn graph(&self, cx: &Cx<'_, gazette::chapters>) -> Result<Arc<Gazette>, NodeError> {
        Ok(cx.own_graph()?)
    }

    async fn items(&self, task: &Task, cx: &mut Cx<'_, gazette::chapters>) -> Result<Vec<Item<Gazette>>, NodeError> {
        self.0.log().begin(cx)?;
        let item = |part: &Part| {
            let place = self.0.0.places.child(*part)?;
            let item = Item::new(Task { part: *part, refused: 0 });
            Ok(item.with_workspaces(Arc::new(Directories::new().with("desk", place))))
        };
        task.part.children().iter().map(item).collect()
    }

    async fn gather(
        &self,
        task: Task,
        children: Children<Gazette>,
        cx: &mut Cx<'_, gazette::chapters>,
    ) -> Route<gazette::chapters> {
        if task.part == Part::Root {
            let runs = children.pending().into_iter().enumerate().collect();
            *self.0.0.children.lock().unwrap_or_else(PoisonError::into_inner) = runs;
        }
        let mut chapters = Vec::new();
        for child in children.all().await {
            chapters.push(match child.result {
                Ok(edition) => serde_json::to_string(&edition)?,
                Err(failure) => failure.to_string(),
            });
        }
        self.0.log().note(cx, Deed::Done)?;
        goto!(cx, gazette::gate, chapters)
    }
}

/// The node that pays once and checks twice.
pub struct Check(pub(crate) Desk);

impl LogicHandler<gazette::check> for Check {
    async fn run(&self, task: Task, cx: &mut Cx<'_, gazette::check>) -> Route<gazette::check> {
        self.0.log().begin(cx)?;
        let log = self.0.log().clone();
        let paid = {
            let (run, node, visit, attempt) = (cx.run_id().to_string(), cx.node(), cx.visit(), cx.attempt());
            let pay = async move {
                log.paid(&run, node, visit, attempt)?;
                Ok(attempt)
            };
            cx.once("pay", pay).await?
        };
        self.0.log().note(cx, Deed::Done)?;
        if cx.is_final_attempt() { goto!(cx, gazette::gate, paid) } else { goto!(cx, gazette::check, task) }
    }
}

/// The node that is cancelled while it runs.
pub struct Watch(pub(crate) Desk);

impl LogicHandler<gazette::watch> for Watch {
    async fn run(&self, part: Part, cx: &mut Cx<'_, gazette::watch>) -> Route<gazette::watch> {
        self.0.log().begin(cx)?;
        pass(60_000).await;
        goto!(cx, gazette::exit, Edition::plain(format!("nobody cancelled the watch of {part:?}")))
    }
}

/// The node that is cancelled while it waits for a person.
pub struct Alarm;

impl HumanHandler<gazette::alarm> for Alarm {
    async fn ask(&self, part: &Part, _: &mut Cx<'_, gazette::alarm>) -> Result<Question, NodeError> {
        Ok(Question { part: *part, before: 0 })
    }

    async fn answered(&self, _: Part, _: Verdict, cx: &mut Cx<'_, gazette::alarm>) -> Route<gazette::alarm> {
        goto!(cx, gazette::exit, Edition::plain("somebody answered the alarm".to_owned()))
    }
}

/// The join.
pub struct Gate(pub(crate) Desk);

impl JoinHandler<gazette::gate> for Gate {
    async fn join(
        &self,
        (article, chapters, checked): (Article, Vec<String>, u32),
        cx: &mut Cx<'_, gazette::gate>,
    ) -> Route<gazette::gate> {
        self.0.log().begin(cx)?;
        let task = cx.input_of::<gazette::write>()?;
        if task.part == Part::Failing {
            return Err("it fails, as it should".into());
        }
        self.0.log().note(cx, Deed::Done)?;
        goto!(cx, gazette::press, Draft { task, text: article.text, chapters, checked })
    }
}

/// The node that works in the worktree, or in a plain directory.
pub struct Press(pub(crate) Desk);

impl LogicHandler<gazette::press> for Press {
    async fn run(&self, draft: Draft, cx: &mut Cx<'_, gazette::press>) -> Route<gazette::press> {
        let log = self.0.log();
        log.begin(cx)?;
        let (place, visit) = (cx.workspace()?.path, cx.visit());
        if draft.task.part == Part::Root {
            for wrong in wrong_at(&place, visit)? {
                log.note(cx, Deed::Wrong(wrong))?;
            }
        }
        std::fs::write(place.join("plates"), "half done")?;
        pass(1).await;
        std::fs::write(place.join(format!("edition-{visit}")), &draft.text)?;
        std::fs::remove_file(place.join("plates"))?;
        if draft.task.part == Part::Root {
            let commit = self.0.0.places.commit_all(format!("Edition {visit}")).await?;
            cx.committed("desk", commit);
        }
        log.note(cx, Deed::Done)?;
        match draft.task.part {
            Part::Root | Part::Asker => goto!(cx, gazette::approve, draft),
            Part::Listener => goto!(cx, gazette::embargo, draft),
            _ => goto!(cx, gazette::layout, draft),
        }
    }
}

/// What contradicts the journal in the press's place at the beginning of this visit: a message that lists the files.
fn wrong_at(place: &Path, visit: u32) -> Result<Vec<String>, NodeError> {
    let mut found = std::fs::read_dir(place)?
        .map(|file| Ok(file?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    found.sort();
    let mut expected = vec![".git".to_owned(), "README".to_owned()];
    expected.extend((1..visit).map(|earlier| format!("edition-{earlier}")));
    Ok(if found == expected { Vec::new() } else { vec![format!("the press found {found:?}")] })
}

/// The node that asks a person.
pub struct Approve(pub(crate) Desk);

impl HumanHandler<gazette::approve> for Approve {
    async fn ask(&self, draft: &Draft, cx: &mut Cx<'_, gazette::approve>) -> Result<Question, NodeError> {
        self.0.log().note(cx, Deed::Asked)?;
        Ok(Question { part: draft.task.part, before: draft.task.refused })
    }

    async fn answered(
        &self,
        draft: Draft,
        verdict: Verdict,
        cx: &mut Cx<'_, gazette::approve>,
    ) -> Route<gazette::approve> {
        self.0.log().begin(cx)?;
        let (visit, good) = (cx.visit(), verdict.good);
        cx.update_memory(move |notes: &mut Notes| notes.0.push(format!("answer {visit}: {good}")));
        self.0.log().note(cx, Deed::Done)?;
        if good {
            return goto!(cx, gazette::layout, draft);
        }
        goto!(cx, gazette::write, Task { refused: draft.task.refused + 1, ..draft.task })
    }
}

/// The node that waits for a message.
pub struct Embargo(pub(crate) Desk);

impl HumanHandler<gazette::embargo> for Embargo {
    async fn ask(&self, draft: &Draft, cx: &mut Cx<'_, gazette::embargo>) -> Result<Question, NodeError> {
        self.0.log().note(cx, Deed::Asked)?;
        Ok(Question { part: draft.task.part, before: 0 })
    }

    async fn answered(&self, _: Draft, _: Verdict, cx: &mut Cx<'_, gazette::embargo>) -> Route<gazette::embargo> {
        let text = "somebody answered the embargo".to_owned();
        goto!(cx, gazette::layout, Draft { text, ..cx.input_of::<gazette::embargo>()? })
    }
}

/// The node that takes messages.
pub struct Wire(pub(crate) Desk);

impl EventHandler<gazette::wire> for Wire {
    async fn handle(&self, news: News, cx: &mut Cx<'_, gazette::wire>) -> Route<gazette::wire> {
        self.0.log().begin(cx)?;
        pass(1).await;
        let (News::Noise(text) | News::Release(text)) = &news;
        let text = text.clone();
        cx.update_memory(move |notes: &mut Notes| notes.0.push(text.clone()));
        self.0.log().note(cx, Deed::Done)?;
        match news {
            News::Noise(_) => cx.resume(),
            News::Release(_) => goto!(cx, gazette::layout, cx.input_of::<gazette::embargo>()?),
        }
    }
}

/// The node that makes the edition. In the caller's run, it also sends a message to the listener.
pub struct Layout(pub(crate) Desk);

impl Layout {
    /// The listener's run, as soon as it listens: a message that arrives earlier has no effect.
    async fn listener(&self, cx: &Cx<'_, gazette::layout>) -> Result<RunId, NodeError> {
        loop {
            let siblings = cx.siblings().await?;
            if let Some(run) = self.0.child(Part::Listener).filter(|run| siblings.contains(run)) {
                let records = self.0.0.journal.load(&run).await?;
                if records.iter().any(|record| matches!(&record.entry, Entry::Asked { by, .. } if by.node == "embargo"))
                {
                    return Ok(run);
                }
            }
            pass(2).await;
        }
    }
}

impl LogicHandler<gazette::layout> for Layout {
    async fn run(&self, draft: Draft, cx: &mut Cx<'_, gazette::layout>) -> Route<gazette::layout> {
        self.0.log().begin(cx)?;
        if draft.task.part == Part::Caller {
            let listener = self.listener(cx).await?;
            cx.send::<gazette::wire>(&listener, &News::Noise("psst".to_owned()))?;
            cx.send::<gazette::wire>(&listener, &News::Release("from its sibling".to_owned()))?;
        }
        let chapters = match draft.chapters.is_empty() {
            // A draft from the exhausted node has no chapters, but the join's input has.
            true => cx.input_of::<gazette::gate>()?.1,
            false => draft.chapters,
        };
        let text = format!("{}, checked {}, refused {}", draft.text, draft.checked, draft.task.refused);
        let edition = Edition { chapters, notes: cx.memory().0, ..Edition::plain(text) };
        self.0.log().note(cx, Deed::Done)?;
        goto!(cx, gazette::exit, edition)
    }
}

/// The node that counts.
pub struct Spell(pub(crate) Desk);

impl AdvisoryHandler<gazette::spell> for Spell {
    async fn advise(&self, _: String, cx: &mut Cx<'_, gazette::spell>) -> Result<u32, NodeError> {
        self.0.log().begin(cx)?;
        cx.update_memory(|spelled: &mut Spelled| spelled.0 += 1);
        self.0.log().note(cx, Deed::Done)?;
        Ok(cx.memory().0)
    }
}

/// The node that observes.
pub struct Witness;

impl ObserverHandler<gazette::witness> for Witness {
    async fn observe(&self, seen: &Observation, report: &mut Seen) -> Result<(), NodeError> {
        let outcome = &seen.0;
        report.0.insert(format!("{} {}", outcome.node, outcome.visit));
        Ok(())
    }
}
