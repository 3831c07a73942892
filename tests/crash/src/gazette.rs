//! The graph: every node kind, a latched join that fires twice, a loop that is exhausted, cancels of what runs.

use askama::Template;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::handlers::{
    Alarm, Approve, Chapters, Check, Desk, Embargo, Gate, Layout, Open, Press, Spell, Watch, Wire, Witness, Write,
};

/// Which run of the tree it is, and so what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The run that is started: it asks, is refused until it is exhausted, and waits for a message from outside.
    Root,
    /// Sends a message to the [listener](Self::Listener).
    Caller,
    /// Waits for the caller's message.
    Listener,
    /// Asks a person.
    Asker,
    /// Has a child of its own, a [`Leaf`](Self::Leaf).
    Branch,
    /// Fails.
    Failing,
    /// Does nothing of this.
    Leaf,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Root, Self::Caller, Self::Listener, Self::Asker, Self::Branch, Self::Failing, Self::Leaf];

    /// Its name, also of its directory.
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Caller => "caller",
            Self::Listener => "listener",
            Self::Asker => "asker",
            Self::Branch => "branch",
            Self::Failing => "failing",
            Self::Leaf => "leaf",
        }
    }

    /// The parts of its children.
    pub fn children(self) -> &'static [Self] {
        match self {
            Self::Root => &[Self::Caller, Self::Listener, Self::Asker, Self::Branch, Self::Failing],
            Self::Branch => &[Self::Leaf],
            _ => &[],
        }
    }
}

/// What a run works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Which run it is.
    pub part: Part,
    /// How often it was refused.
    pub refused: u32,
}

/// What is to be printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// What it was made for.
    pub task: Task,
    /// What the agent wrote.
    pub text: String,
    /// What came of the children.
    pub chapters: Vec<String>,
    /// What the check found.
    pub checked: u32,
}

impl From<Exhausted<Task>> for Draft {
    fn from(exhausted: Exhausted<Task>) -> Self {
        Self { task: exhausted.input, text: "as it is".to_owned(), chapters: Vec::new(), checked: 0 }
    }
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Which run asks.
    pub part: Part,
    /// How often it has asked before.
    pub before: u32,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Whether it is good.
    pub good: bool,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// To be noted.
    Noise(String),
    /// The embargo is over.
    Release(String),
}

/// What the agent answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Article {
    /// Its text.
    pub text: String,
}

/// What the nodes of a run note, in the order in which their outcomes were accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes(pub Vec<String>);

/// What the speller has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spelled(pub u32);

/// What the witness has seen, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen(pub std::collections::BTreeSet<String>);

/// What a run makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edition {
    /// The text.
    pub text: String,
    /// What came of the children, in the order of [`Part::children`].
    pub chapters: Vec<String>,
    /// The run's [`Notes`].
    pub notes: Vec<String>,
    /// By visit of the speller: what it had counted.
    pub spelled: Vec<(u32, u32)>,
    /// What the witness saw.
    pub seen: Seen,
}

/// What the agent is asked.
#[derive(Template)]
#[template(source = "{{ part }} round {{ round }} of {{ run }}: write.", ext = "txt")]
pub struct WritePrompt {
    /// Which run it is.
    pub part: &'static str,
    /// The run.
    pub run: String,
    /// How often it was refused, and one.
    pub round: u32,
}

/// The graph.
#[derive(Graph)]
#[graph(output = Edition)]
pub struct Gazette {
    /// Starts everything; only the root has no watch, which would keep it from waiting for people.
    #[node(entry, input = Task, fork(write, chapters, check, watch | alarm))]
    pub open: ForkNode<Open>,
    /// Writes a text.
    #[node(
        input = Task,
        prompt = WritePrompt,
        output = Article,
        goto(gate),
        visits = 2,
        exhausted(embargo),
        spawn(spell),
        memory(notes: Notes),
    )]
    pub write: LLMNode<Write>,
    /// Runs the children.
    #[node(input = Task, map = Gazette, depth = 2, goto(gate))]
    pub chapters: MapNode<Chapters>,
    /// Pays once, and looks twice.
    #[node(input = Task, goto(check, gate), attempts = 2)]
    pub check: LogicNode<Check>,
    /// Sleeps until it is cancelled.
    #[node(input = Part, goto(exit, cancels(*)))]
    pub watch: LogicNode<Watch>,
    /// Asks what nobody answers, until it is cancelled.
    #[node(input = Part, question = Question, answer = Verdict, goto(exit, cancels(*)))]
    pub alarm: HumanNode<Alarm>,
    /// Brings the text together with what was made once.
    #[node(join(write: Article, chapters: Vec<String> latched, check: u32 latched), goto(press, cancels(watch, alarm)))]
    pub gate: JoinNode<Gate>,
    /// Commits.
    #[node(input = Draft, goto(approve, embargo, layout), workspace = "desk")]
    pub press: LogicNode<Press>,
    /// Asks a person.
    #[node(input = Draft, question = Question, answer = Verdict, goto(write, layout), memory(notes: Notes))]
    pub approve: HumanNode<Approve>,
    /// Waits for a message; nobody answers.
    #[node(input = Draft, question = Question, answer = Verdict, goto(layout))]
    pub embargo: HumanNode<Embargo>,
    /// Takes messages.
    #[node(on(News), resume, goto(layout, cancels(embargo)), visits = 16, exhausted(exit, cancels(*)), memory(notes: Notes))]
    pub wire: EventNode<Wire>,
    /// Makes the edition.
    #[node(input = Draft, goto(exit), memory(notes: Notes))]
    pub layout: LogicNode<Layout>,
    /// Counts, beside the graph.
    #[node(input = String, report = u32, reports_to(exit), memory = Spelled)]
    pub spell: AdvisoryNode<Spell>,
    /// Sees what was made.
    #[node(observes(write, gate, wire), report = Seen, reports_to(exit))]
    pub witness: ObserverNode<Witness>,
}

impl From<Exhausted<News>> for Edition {
    fn from(exhausted: Exhausted<News>) -> Self {
        Self::plain(format!("too much news: {:?}", exhausted.input))
    }
}

impl Edition {
    /// One with nothing but a text.
    pub fn plain(text: String) -> Self {
        Self { text, chapters: Vec::new(), notes: Vec::new(), spelled: Vec::new(), seen: Seen::default() }
    }
}

impl Finish for Gazette {
    async fn finish(&self, mut edition: Edition, reports: Self::Reports) -> Result<Edition, NodeError> {
        for report in reports.spell {
            edition.spelled.push((report.visit, report.result?));
        }
        edition.spelled.sort_unstable();
        for report in reports.witness {
            edition.seen = report.result?;
        }
        Ok(edition)
    }
}

impl Gazette {
    /// The graph, whose nodes work at this desk.
    pub fn new(desk: &Desk) -> Self {
        let desk = || desk.clone();
        Self {
            open: ForkNode(Open(desk())),
            write: LLMNode(Write(desk())),
            chapters: MapNode(Chapters(desk())),
            check: LogicNode(Check(desk())),
            watch: LogicNode(Watch(desk())),
            alarm: HumanNode(Alarm),
            gate: JoinNode(Gate(desk())),
            press: LogicNode(Press(desk())),
            approve: HumanNode(Approve(desk())),
            embargo: HumanNode(Embargo(desk())),
            wire: EventNode(Wire(desk())),
            layout: LogicNode(Layout(desk())),
            spell: AdvisoryNode(Spell(desk())),
            witness: ObserverNode(Witness),
        }
    }
}
