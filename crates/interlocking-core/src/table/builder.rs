//! Setters of a row, one per attribute.

use super::{Fork, Goto, Isolation, MemoryRow, NodeRow, Quorum, Slot, Target, Visits};

impl NodeRow {
    /// Marks the node as the entry.
    #[must_use]
    pub fn entry(mut self) -> Self {
        self.entry = true;
        self
    }

    /// Sets the input's type.
    #[must_use]
    pub fn input(mut self, ty: &str) -> Self {
        self.input = Some(ty.into());
        self
    }

    /// Adds a slot.
    #[must_use]
    pub fn slot(mut self, name: &str, ty: &str, sources: &[&str], latched: bool) -> Self {
        let sources = sources.iter().map(|&source| source.into()).collect();
        self.slots.push(Slot { name: name.into(), ty: ty.into(), sources, latched, optional: false });
        self
    }

    /// Adds a slot whose source may send nothing.
    #[must_use]
    pub fn optional_slot(mut self, name: &str, ty: &str, sources: &[&str]) -> Self {
        let sources = sources.iter().map(|&source| source.into()).collect();
        self.slots.push(Slot { name: name.into(), ty: ty.into(), sources, latched: false, optional: true });
        self
    }

    /// Sets the prompt's and the output's type.
    #[must_use]
    pub fn llm(mut self, prompt: &str, output: &str) -> Self {
        self.prompt = Some(prompt.into());
        self.output = Some(output.into());
        self
    }

    /// Adds an alternative.
    #[must_use]
    pub fn goto(mut self, to: &str, cancels: &[&str]) -> Self {
        self.goto.push(Goto::new(to, cancels));
        self
    }

    /// Adds an alternative with a budget.
    #[must_use]
    pub fn edge(mut self, goto: Goto) -> Self {
        self.goto.push(goto);
        self
    }

    /// Sets the fork: branches, each a `|`-separated list of targets.
    #[must_use]
    pub fn fork(mut self, branches: &[&str], cancels: &[&str]) -> Self {
        let branches = branches.iter().map(|branch| branch.split('|').map(Target::from).collect()).collect();
        self.fork = Some(Fork { branches, cancels: cancels.iter().map(|&name| name.into()).collect() });
        self
    }

    /// Adds an advisory node that a handler may start.
    #[must_use]
    pub fn spawn(mut self, advisory: &str) -> Self {
        self.spawn.push(advisory.into());
        self
    }

    /// Sets the graph that runs once per item.
    #[must_use]
    pub fn map(mut self, child: &str) -> Self {
        self.map = Some(child.into());
        self
    }

    /// Bounds the children that run at once.
    #[must_use]
    pub fn concurrency(mut self, limit: u32) -> Self {
        self.concurrency = Some(limit);
        self
    }

    /// Bounds how deep children may nest.
    #[must_use]
    pub fn depth(mut self, limit: u32) -> Self {
        self.depth = Some(limit);
        self
    }

    /// Lets a later entry adopt the children of earlier entries.
    #[must_use]
    pub fn adopt(mut self) -> Self {
        self.adopt = true;
        self
    }

    /// Sets the graph that runs once.
    #[must_use]
    pub fn graph(mut self, child: &str) -> Self {
        self.graph = Some(child.into());
        self
    }

    /// Sets how many children must succeed, or slots have a value.
    #[must_use]
    pub fn quorum(mut self, quorum: Quorum) -> Self {
        self.quorum = Some(quorum);
        self
    }

    /// Sets what is cleared when a join's quorum is reached.
    #[must_use]
    pub fn cancels(mut self, names: &[&str]) -> Self {
        self.cancels = names.iter().map(|&name| name.into()).collect();
        self
    }

    /// Adds a map node to which an event node's handler may add items.
    #[must_use]
    pub fn adds_to(mut self, map: &str) -> Self {
        self.adds_to.push(map.into());
        self
    }

    /// Sets the question's and the answer's type.
    #[must_use]
    pub fn asks(mut self, question: &str, answer: &str) -> Self {
        self.question = Some(question.into());
        self.answer = Some(answer.into());
        self
    }

    /// Sets the report's type.
    #[must_use]
    pub fn report(mut self, ty: &str) -> Self {
        self.report = Some(ty.into());
        self
    }

    /// Adds a node that an observer sees.
    #[must_use]
    pub fn observes(mut self, node: &str) -> Self {
        self.observes.push(node.into());
        self
    }

    /// Lets an event node leave the run as it is.
    #[must_use]
    pub fn resume(mut self) -> Self {
        self.resume = true;
        self
    }

    /// Drops messages that arrive while the run cannot use them.
    #[must_use]
    pub fn transient(mut self) -> Self {
        self.transient = true;
        self
    }

    /// Sets the exhausted route.
    #[must_use]
    pub fn exhausted(mut self, to: &str, cancels: &[&str]) -> Self {
        self.exhausted = Some(Goto::new(to, cancels));
        self
    }

    /// Bounds the entries.
    #[must_use]
    pub fn visits(mut self, limit: u32) -> Self {
        self.visits = Some(Visits::AtMost(limit));
        self
    }

    /// Says that the entries are unbounded.
    #[must_use]
    pub fn unbounded(mut self) -> Self {
        self.visits = Some(Visits::Unbounded);
        self
    }

    /// Bounds the attempts of one visit.
    #[must_use]
    pub fn attempts(mut self, limit: u32) -> Self {
        self.attempts = Some(limit);
        self
    }

    /// Bounds one execution, in milliseconds.
    #[must_use]
    pub fn timeout_ms(mut self, milliseconds: u64) -> Self {
        self.timeout_ms = Some(milliseconds);
        self
    }

    /// Sets the route of an execution that exceeded its timeout.
    #[must_use]
    pub fn timed_out(mut self, to: &str, cancels: &[&str]) -> Self {
        self.timed_out = Some(Goto::new(to, cancels));
        self
    }

    /// Sets the route of an execution that failed.
    #[must_use]
    pub fn failed(mut self, to: &str, cancels: &[&str]) -> Self {
        self.failed = Some(Goto::new(to, cancels));
        self
    }

    /// Sets the name under which executions never overlap.
    #[must_use]
    pub fn exclusive(mut self, name: &str) -> Self {
        self.exclusive = Some(name.into());
        self
    }

    /// Names the role.
    #[must_use]
    pub fn agent(mut self, role: &str) -> Self {
        self.agent = Some(role.into());
        self
    }

    /// Names the model.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Names the workspace.
    #[must_use]
    pub fn workspace(mut self, name: &str) -> Self {
        self.workspace = Some(name.into());
        self
    }

    /// Forbids changes to the workspace.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Sets how strictly the node's agent must be kept in its workspace.
    #[must_use]
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = Some(isolation);
        self
    }

    /// Adds a node whose workspace the node's agent must not be able to read.
    #[must_use]
    pub fn blind_to(mut self, node: &str) -> Self {
        self.blind_to.push(node.into());
        self
    }

    /// Gives the node a memory.
    #[must_use]
    pub fn memory(mut self, group: &str, ty: &str) -> Self {
        self.memory = Some(MemoryRow { group: group.into(), ty: ty.into() });
        self
    }
}
