//! The graph: every node kind, a latched join that fires twice, a loop that is exhausted, cancels of what runs.

use askama::Template;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::handlers::{
    Alarm, Approve, Chapters, Check, Desk, Embargo, Gate, Layout, Open, Press, Spell, Watch, Wire, Witness, Write,
};

/// The run of the tree in which a node works. It decides what the node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The run that is started: it asks a person, is refused until it is exhausted, and waits for a message from
    /// outside.
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
    /// Does none of this.
    Leaf,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Root, Self::Caller, Self::Listener, Self::Asker, Self::Branch, Self::Failing, Self::Leaf];

    /// The name of the part, and of its directory.
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

/// The input of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The run's part.
    pub part: Part,
    /// How often the run was refused.
    pub refused: u32,
}

/// A draft to be printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The task for which the draft was made.
    pub task: Task,
    /// The text that the agent wrote.
    pub text: String,
    /// The outcomes of the children.
    pub chapters: Vec<String>,
    /// The result of the check.
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
    /// The part of the run that asks.
    pub part: Part,
    /// How often the run has asked before.
    pub before: u32,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Whether the draft is good.
    pub good: bool,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// A text to be noted.
    Noise(String),
    /// The end of the embargo.
    Release(String),
}

/// What the agent answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Article {
    /// Its text.
    pub text: String,
}

/// The notes of a run's nodes, in the order in which their outcomes were accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes(pub Vec<String>);

/// The speller's count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spelled(pub u32);

/// What the witness has seen, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen(pub std::collections::BTreeSet<String>);

/// The output of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edition {
    /// The text.
    pub text: String,
    /// The outcomes of the children, in the order of [`Part::children`].
    pub chapters: Vec<String>,
    /// The run's [`Notes`].
    pub notes: Vec<String>,
    /// The speller's count by visit.
    pub spelled: Vec<(u32, u32)>,
    /// What the witness has seen.
    pub seen: Seen,
}

/// The prompt of the agent.
#[derive(Template)]
#[template(source = "{{ part }} round {{ round }} of {{ run }}: write.", ext = "txt")]
pub struct WritePrompt {
    /// The run's part.
    pub part: &'static str,
    /// The run's id.
    pub run: String,
    /// How often the run was refused, plus one.
    pub round: u32,
}

/// The graph.
#[derive(Graph)]
#[graph(output = Edition)]
pub struct Gazette {
    /// Starts all branches. Only the root has no watch: a watch would keep it from waiting for people.
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
    /// Pays once, and checks twice.
    #[node(input = Task, goto(check, gate), attempts = 2)]
    pub check: LogicNode<Check>,
    /// Sleeps until it is cancelled.
    #[node(input = Part, goto(exit, cancels(*)))]
    pub watch: LogicNode<Watch>,
    /// Asks a question that is never answered, until it is cancelled.
    #[node(input = Part, question = Question, answer = Verdict, goto(exit, cancels(*)))]
    pub alarm: HumanNode<Alarm>,
    /// Combines the text with what was made once.
    #[node(join(write: Article, chapters: Vec<String> latched, check: u32 latched), goto(press, cancels(watch, alarm)))]
    pub gate: JoinNode<Gate>,
    /// Commits.
    #[node(input = Draft, goto(approve, embargo, layout), workspace = "desk")]
    pub press: LogicNode<Press>,
    /// Asks a person.
    #[node(input = Draft, question = Question, answer = Verdict, goto(write, layout), memory(notes: Notes))]
    pub approve: HumanNode<Approve>,
    /// Waits for a message; its question is never answered.
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
    /// Observes what was made.
    #[node(observes(write, gate, wire), report = Seen, reports_to(exit))]
    pub witness: ObserverNode<Witness>,
}

impl From<Exhausted<News>> for Edition {
    fn from(exhausted: Exhausted<News>) -> Self {
        Self::plain(format!("too much news: {:?}", exhausted.input))
    }
}

impl Edition {
    /// An edition that consists of a text only.
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
    /// The graph, with nodes that work at this desk.
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
