//! Scripts as values: a scenario of the demonstration with one change that a test is about.

use hybrid::demo::Scenario;
use interlocking::agents::Script;
use serde_json::Value;
use std::fmt::Write as _;

/// The turns of all agents.
#[derive(Clone)]
pub(crate) struct AgentScript(Vec<Turn>);

/// One turn of an agent.
#[derive(Clone)]
pub(crate) struct Turn {
    pub(crate) agent: String,
    /// Texts that the prompt must contain; otherwise the turn does not match.
    pub(crate) contains: Vec<String>,
    /// `fresh` or `continue`, if it matters.
    pub(crate) session: Option<&'static str>,
    /// Whether it may be played any number of times.
    pub(crate) any_times: bool,
    pub(crate) delay_ms: u64,
    pub(crate) cost: f64,
    pub(crate) answer: Value,
    pub(crate) actions: Vec<Action>,
}

#[derive(Clone)]
pub(crate) enum Action {
    Write { path: String, content: String },
    Run(Vec<String>),
}

impl AgentScript {
    /// A scenario, unchanged.
    pub(crate) fn of(scenario: Scenario) -> Self {
        let script: toml::Table = scenario.script().parse().unwrap();
        Self(script["turn"].as_array().unwrap().iter().map(Turn::read).collect())
    }

    /// The first turn of an agent.
    pub(crate) fn turn(&self, agent: &str) -> Turn {
        self.0.iter().find(|turn| turn.agent == agent).unwrap().clone()
    }

    /// The same with the first turn of an agent changed.
    pub(crate) fn with(mut self, agent: &str, change: impl FnOnce(&mut Turn)) -> Self {
        change(self.0.iter_mut().find(|turn| turn.agent == agent).unwrap());
        self
    }

    /// The same with one more turn. Turns of one agent are played in order.
    pub(crate) fn then(mut self, turn: Turn) -> Self {
        self.0.push(turn);
        self
    }

    /// The same without an agent's turns.
    pub(crate) fn without(mut self, agent: &str) -> Self {
        self.0.retain(|turn| turn.agent != agent);
        self
    }

    /// The script of the agents.
    pub(crate) fn script(&self) -> Script {
        let text: String = self.0.iter().map(Turn::toml).collect();
        Script::parse("a test's script", &text).unwrap()
    }
}

impl Turn {
    fn read(turn: &toml::Value) -> Self {
        let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
        let list = |key: &str| turn.get(key).and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let write =
            |write: &toml::Value| Action::Write { path: text(&write["path"]), content: text(&write["content"]) };
        Self {
            agent: text(&turn["agent"]),
            contains: list("contains").iter().map(text).collect(),
            session: None,
            any_times: false,
            delay_ms: 0,
            cost: turn["cost"].as_float().unwrap(),
            answer: serde_json::from_str(turn["output_json"].as_str().unwrap()).unwrap(),
            actions: list("write").iter().map(write).collect(),
        }
    }

    /// The same, but only for prompts that contain this text.
    pub(crate) fn asked(mut self, text: &str) -> Self {
        self.contains.push(text.to_owned());
        self
    }

    /// The content of the first file that the turn writes.
    pub(crate) fn file(&mut self) -> &mut String {
        let file = self.actions.iter_mut().find_map(|action| match action {
            Action::Write { content, .. } => Some(content),
            Action::Run(_) => None,
        });
        file.unwrap()
    }

    /// Replaces a passage of that file, which must be there.
    pub(crate) fn edit(&mut self, find: &str, with: &str) {
        let file = self.file();
        assert!(file.contains(find), "{find:?} is not in the file");
        *file = file.replacen(find, with, 1);
    }

    /// Adds a file to write.
    pub(crate) fn write(&mut self, path: &str, content: &str) {
        self.actions.push(Action::Write { path: path.to_owned(), content: content.to_owned() });
    }

    /// Adds a command.
    pub(crate) fn run(&mut self, command: &[&str]) {
        self.actions.push(Action::Run(command.iter().map(|word| (*word).to_owned()).collect()));
    }

    fn toml(&self) -> String {
        let mut text = format!("[[turn]]\nagent = {}\n", quoted(&self.agent));
        let contains: Vec<String> = self.contains.iter().map(|text| quoted(text)).collect();
        writeln!(text, "contains = [{}]", contains.join(", ")).unwrap();
        if let Some(session) = self.session {
            writeln!(text, "session = {}", quoted(session)).unwrap();
        }
        if self.any_times {
            text.push_str("times = \"any\"\n");
        }
        writeln!(text, "delay = \"{}ms\"\ncost = {}", self.delay_ms, self.cost).unwrap();
        writeln!(text, "output_json = {}", quoted(&self.answer.to_string())).unwrap();
        for action in &self.actions {
            match action {
                Action::Write { path, content } => {
                    let (path, content) = (quoted(path), quoted(content));
                    writeln!(text, "[[turn.write]]\npath = {path}\ncontent = {content}").unwrap();
                }
                Action::Run(command) => {
                    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
                    writeln!(text, "[[turn.run]]\ncommand = [{}]", words.join(", ")).unwrap();
                }
            }
        }
        text
    }
}

/// As a TOML string: JSON's escapes are TOML's too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
