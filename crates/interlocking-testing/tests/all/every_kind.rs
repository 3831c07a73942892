//! A graph with a node of every kind, all of whose routes are taken.

use askama::Template;
use expect_test::expect;
use interlocking::prelude::*;
use interlocking::table::NodeKind;
use interlocking::testing::{Ending, Enumerator, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Task {
    title: String,
    chapters: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Article {
    text: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Draft {
    text: String,
    chapters: Vec<String>,
}

impl From<Exhausted<Task>> for Draft {
    fn from(exhausted: Exhausted<Task>) -> Self {
        Self { text: exhausted.input.title, chapters: Vec::new() }
    }
}

/// What a person says of a draft.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum Verdict {
    Approved,
    Rejected { because: String },
}

/// A message from outside.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum News {
    Noise,
    PrintAsItIs,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Seen(u32);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Edition(String);

impl From<Exhausted<News>> for Edition {
    fn from(_: Exhausted<News>) -> Self {
        Self("too much news".into())
    }
}

#[derive(Template)]
#[template(source = "Write {{ title }}.", ext = "txt")]
struct WritePrompt<'a> {
    title: &'a str,
}

/// One chapter, by an agent.
#[derive(Graph)]
#[graph(output = String)]
struct Chapter {
    #[node(entry, input = String, prompt = WritePrompt<'_>, output = Article, goto(exit))]
    compose: LLMNode<Write>,
}

#[derive(Graph)]
#[graph(output = Edition)]
struct Journal {
    #[node(entry, input = Task, fork(write, chapters | gate.chapters))]
    open: ForkNode<Open>,
    #[node(input = Task, prompt = WritePrompt<'_>, output = Article, goto(gate), goto(exit, cancels(*)), visits = 2,
        exhausted(layout), spawn(spell))]
    write: LLMNode<Write>,
    #[node(input = Task, map = Chapter, goto(gate))]
    chapters: MapNode<Chapters>,
    #[node(join(write: Article, chapters: Vec<String> from(open, chapters) latched), goto(approve))]
    gate: JoinNode<Gate>,
    #[node(input = Draft, question = String, answer = Verdict, goto(write, layout))]
    approve: HumanNode<Approve>,
    #[node(on(News), resume, goto(layout, cancels(approve)), visits = 1, exhausted(exit, cancels(*)))]
    wire: EventNode<Wire>,
    #[node(input = Draft, goto(exit))]
    layout: LogicNode<Layout>,
    #[node(input = String, report = u32, reports_to(exit))]
    spell: AdvisoryNode<Spell>,
    #[node(observes(write), report = Seen, reports_to(exit))]
    witness: ObserverNode<Witness>,
}

held!(Chapter, Journal);

struct Open;
impl ForkHandler<journal::open> for Open {
    async fn fork(&self, task: Task, cx: &mut Cx<'_, journal::open>) -> Route<journal::open> {
        let chapters = match task.chapters.is_empty() {
            true => cx.branch::<journal::gate_chapters>(Vec::new()),
            false => cx.branch::<journal::chapters>(task.clone()),
        };
        fork!(cx, (task, chapters))
    }
}

struct Write;
impl LLMHandler<journal::write> for Write {
    async fn before<'a>(&'a self, task: &'a Task, _: &mut Cx<'_, journal::write>) -> Ask<WritePrompt<'a>> {
        Ok((WritePrompt { title: &task.title }, SessionOp::StartFresh(Slug::new("write")?)))
    }

    async fn after(&self, _: Task, reply: Reply<Article>, cx: &mut Cx<'_, journal::write>) -> Route<journal::write> {
        if reply.output.text.len() > 3 {
            cx.spawn::<journal::spell>(reply.output.text.clone());
        }
        goto!(cx, journal::gate, reply.output)
    }

    async fn unanswered(
        &self,
        _: Task,
        error: interlocking::agents::AgentError,
        cx: &mut Cx<'_, journal::write>,
    ) -> Route<journal::write> {
        goto!(cx, journal::exit, Edition(error.to_string()))
    }
}

impl LLMHandler<chapter::compose> for Write {
    async fn before<'a>(&'a self, title: &'a String, _: &mut Cx<'_, chapter::compose>) -> Ask<WritePrompt<'a>> {
        Ok((WritePrompt { title }, SessionOp::StartFresh(Slug::new("compose")?)))
    }

    async fn after(
        &self,
        _: String,
        reply: Reply<Article>,
        cx: &mut Cx<'_, chapter::compose>,
    ) -> Route<chapter::compose> {
        goto!(cx, chapter::exit, reply.output.text)
    }
}

struct Chapters;
impl MapHandler<journal::chapters> for Chapters {
    fn graph(&self, _: &Cx<'_, journal::chapters>) -> Result<Arc<Chapter>, NodeError> {
        Ok(Arc::new(Chapter { compose: LLMNode(Write) }))
    }

    async fn items(&self, task: &Task, _: &mut Cx<'_, journal::chapters>) -> Result<Vec<Item<Chapter>>, NodeError> {
        Ok(task.chapters.iter().cloned().map(Item::new).collect())
    }

    async fn gather(
        &self,
        _: Task,
        children: Children<Chapter>,
        cx: &mut Cx<'_, journal::chapters>,
    ) -> Route<journal::chapters> {
        let texts = children.all().await.into_iter().filter_map(|child| child.result.ok()).collect();
        goto!(cx, journal::gate, texts)
    }
}

struct Gate;
impl JoinHandler<journal::gate> for Gate {
    async fn join(
        &self,
        (article, chapters): (Article, Vec<String>),
        cx: &mut Cx<'_, journal::gate>,
    ) -> Route<journal::gate> {
        goto!(cx, journal::approve, Draft { text: article.text, chapters })
    }
}

struct Approve;
impl HumanHandler<journal::approve> for Approve {
    async fn ask(&self, draft: &Draft, _: &mut Cx<'_, journal::approve>) -> Result<String, NodeError> {
        Ok(draft.text.clone())
    }

    async fn answered(
        &self,
        draft: Draft,
        verdict: Verdict,
        cx: &mut Cx<'_, journal::approve>,
    ) -> Route<journal::approve> {
        match verdict {
            Verdict::Approved => goto!(cx, journal::layout, draft),
            Verdict::Rejected { because } => {
                let task = cx.entry()?.clone();
                goto!(cx, journal::write, Task { title: format!("{}: {because}", task.title), ..task })
            }
        }
    }
}

struct Wire;
impl EventHandler<journal::wire> for Wire {
    async fn handle(&self, news: News, cx: &mut Cx<'_, journal::wire>) -> Route<journal::wire> {
        match news {
            News::Noise => cx.resume(),
            News::PrintAsItIs => goto!(cx, journal::layout, Draft { text: "as it is".into(), chapters: Vec::new() }),
        }
    }
}

struct Layout;
impl LogicHandler<journal::layout> for Layout {
    async fn run(&self, draft: Draft, cx: &mut Cx<'_, journal::layout>) -> Route<journal::layout> {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        goto!(cx, journal::exit, Edition(format!("{}, {} chapters", draft.text, draft.chapters.len())))
    }
}

struct Spell;
impl AdvisoryHandler<journal::spell> for Spell {
    async fn advise(&self, text: String, _: &mut Cx<'_, journal::spell>) -> Result<u32, NodeError> {
        Ok(text.len() as u32)
    }
}

struct Witness;
impl ObserverHandler<journal::witness> for Witness {
    async fn observe(&self, _: &Observation, seen: &mut Seen) -> Result<(), NodeError> {
        seen.0 += 1;
        Ok(())
    }
}

impl Finish for Journal {
    async fn finish(&self, edition: Edition, reports: Self::Reports) -> Result<Edition, NodeError> {
        let spelled = reports.spell.len();
        Ok(Edition(format!("{}, {spelled} spelled", edition.0)))
    }
}

fn enumerator() -> Enumerator<Journal> {
    let task =
        |chapters: &[&str]| Task { title: "Points".into(), chapters: chapters.iter().map(|&c| c.into()).collect() };
    Enumerator::new(move |_| {
        let graph = Journal {
            open: ForkNode(Open),
            write: LLMNode(Write),
            chapters: MapNode(Chapters),
            gate: JoinNode(Gate),
            approve: HumanNode(Approve),
            wire: EventNode(Wire),
            layout: LogicNode(Layout),
            spell: AdvisoryNode(Spell),
            witness: ObserverNode(Witness),
        };
        Trial::new(Run::new(graph), task(&["Signals"])).or(task(&[]))
    })
}

/// Each kind of node is a type of a field, a run's entry is an attribute and its exit a target. (HY-57)
#[test]
fn a_struct_has_nodes_of_every_kind() {
    let table = Journal::net().table();
    let kinds: Vec<_> = table.nodes.iter().map(|row| (&*row.name, row.kind)).collect();
    let expected = [
        ("open", NodeKind::Fork),
        ("write", NodeKind::Llm),
        ("chapters", NodeKind::Map),
        ("gate", NodeKind::Join),
        ("approve", NodeKind::Human),
        ("wire", NodeKind::Event),
        ("layout", NodeKind::Logic),
        ("spell", NodeKind::Advisory),
        ("witness", NodeKind::Observer),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(table.entry().map(|row| &*row.name), Some("open"));
    assert!(table.node("layout").is_some_and(|row| row.goto.iter().any(|goto| goto.to.is_exit())));
    // A join also waits for children, and keeps their result for later rounds.
    let gate = table.node("gate").unwrap();
    assert_eq!(gate.slots.iter().map(|slot| slot.latched).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn every_route_of_every_kind_is_taken() {
    let report = enumerator()
        .with_message::<journal::wire>(&News::Noise)
        .with_message::<journal::wire>(&News::PrintAsItIs)
        .explore();
    report.assert_all_routes();
    expect![[r#"
        Journal: 15 of 15 routes were taken in 24 runs

        taken: open → write (fork)         run 1, no choices
        taken: open → chapters (fork)      run 1, no choices
        taken: open → gate.chapters (fork) run 2, entry=entry-2
        taken: write → gate.write          run 1, no choices
        taken: write → exit                run 24, write.1.1=crash
        taken: write → layout (exhausted)  run 5, approve.1.1=generated-2
        taken: write → spell (spawn)       run 1, no choices
        taken: chapters → gate.chapters    run 1, no choices
        taken: gate → approve              run 1, no choices
        taken: approve → write             run 5, approve.1.1=generated-2
        taken: approve → layout            run 1, no choices
        taken: wire → layout               run 11, message after open.1.1=wire-sample-2
        taken: wire → exit (exhausted)     run 22, message after open.1.1=wire-sample-1; message after wire.1.1=wire-sample-1
        taken: wire → resume               run 10, message after open.1.1=wire-sample-1
        taken: layout → exit               run 1, no choices
    "#]].assert_eq(&report.to_string());
}

#[test]
fn without_messages_the_report_asks_for_them() {
    let report = enumerator().with_runs(33).explore();
    expect![[r#"
        Journal: 12 of 15 routes were taken in 33 runs; 179 were left to be tried (`.with_runs(…)`)

        NOT TAKEN: wire → layout
          no message came to `wire`
          give it one: `.with_message::<journal::wire>(…)`

        NOT TAKEN: wire → exit (exhausted)
          no message came to `wire`
          give it one: `.with_message::<journal::wire>(…)`

        NOT TAKEN: wire → resume
          no message came to `wire`
          give it one: `.with_message::<journal::wire>(…)`

        taken: open → write (fork)         run 1, no choices
        taken: open → chapters (fork)      run 1, no choices
        taken: open → gate.chapters (fork) run 2, entry=entry-2
        taken: write → gate.write          run 1, no choices
        taken: write → exit                run 10, write.1.1=crash
        taken: write → layout (exhausted)  run 5, approve.1.1=generated-2
        taken: write → spell (spawn)       run 1, no choices
        taken: chapters → gate.chapters    run 1, no choices
        taken: gate → approve              run 1, no choices
        taken: approve → write             run 5, approve.1.1=generated-2
        taken: approve → layout            run 1, no choices
        taken: layout → exit               run 1, no choices
    "#]]
    .assert_eq(&report.to_string());
}

/// The same choices give the same run, including concurrent nodes, and each route in a report can be taken again.
#[test]
fn every_reported_run_can_be_made_again() {
    let with_news = || {
        let enumerator = enumerator().with_message::<journal::wire>(&News::Noise);
        enumerator.with_message::<journal::wire>(&News::PrintAsItIs)
    };
    for taken in with_news().explore().taken() {
        let replayed = with_news().replay(&taken.choices.to_string().parse().unwrap());
        assert!(replayed.taken.contains(&taken.route), "{}: {replayed:?}", taken.route);
        assert!(matches!(replayed.ending, Ending::Finished | Ending::Failed(_) | Ending::Unanswered), "{replayed:?}");
    }
}
