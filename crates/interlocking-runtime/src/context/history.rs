//! What single executions did in earlier processes: read from the journal, and kept up to date in this process.

use crate::journal::{By, Encoded};
use crate::mutex::Mutex;
use interlocking_agents::SessionId;
use interlocking_core::run_id::RunId;
use std::collections::HashMap;

/// What single executions of a run have done beside their outcomes.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<Executions>);

#[derive(Debug, Default)]
struct Executions {
    restarts: HashMap<By, u32>,
    /// How many conversations an execution has begun in this process.
    conversations: HashMap<By, u32>,
    /// The latest session of an agent, by the number of its conversation.
    sessions: HashMap<(By, u32), (String, SessionId)>,
    /// The results of effects done once, by node, visit and name.
    once: HashMap<(String, u32, String), Encoded>,
    /// By execution: the question that it has asked, and the schema of its answer.
    questions: HashMap<By, (Encoded, Encoded)>,
    /// When each question with limited time was asked, in milliseconds since 1970.
    asked_at_ms: HashMap<By, u64>,
    answers: HashMap<By, Encoded>,
    /// For a map node that need not wait for the rest of its children: the children that had ended at its decision.
    decisions: HashMap<By, Vec<RunId>>,
}

impl History {
    pub(crate) fn restarted(&self, by: By) {
        *self.0.lock().restarts.entry(by).or_default() += 1;
    }

    pub(crate) fn restarts(&self, by: &By) -> u32 {
        self.0.lock().restarts.get(by).copied().unwrap_or_default()
    }

    /// Begins a conversation of an execution and returns its number, which is 1 for the first.
    pub(crate) fn begin_conversation(&self, by: &By) -> u32 {
        let mut executions = self.0.lock();
        let begun = executions.conversations.entry(by.clone()).or_default();
        *begun += 1;
        *begun
    }

    /// Whether an execution has begun a conversation in this process.
    pub(crate) fn has_conversed(&self, by: &By) -> bool {
        self.0.lock().conversations.contains_key(by)
    }

    pub(crate) fn began_session(&self, by: By, conversation: u32, agent: String, session: SessionId) {
        self.0.lock().sessions.insert((by, conversation), (agent, session));
    }

    /// The session that `agent` had begun for this conversation of an interrupted execution.
    pub(crate) fn session(&self, by: &By, conversation: u32, agent: &str) -> Option<SessionId> {
        let executions = self.0.lock();
        executions.restarts.get(by)?;
        let begun = executions.sessions.get(&(by.clone(), conversation));
        begun.filter(|(name, _)| name == agent).map(|(_, session)| session.clone())
    }

    pub(crate) fn record_once(&self, by: By, name: &str, value: Encoded) {
        self.0.lock().once.insert((by.node, by.visit, name.to_owned()), value);
    }

    pub(crate) fn once_value(&self, by: &By, name: &str) -> Option<Encoded> {
        self.0.lock().once.get(&(by.node.clone(), by.visit, name.to_owned())).cloned()
    }

    pub(crate) fn asked(&self, by: By, question: Encoded, schema: Encoded, at_ms: Option<u64>) {
        let mut executions = self.0.lock();
        executions.asked_at_ms.extend(at_ms.map(|at_ms| (by.clone(), at_ms)));
        executions.questions.insert(by, (question, schema));
    }

    /// When a question with limited time was asked, if it has no answer yet.
    pub(crate) fn open_since_ms(&self, by: &By) -> Option<u64> {
        let executions = self.0.lock();
        executions.asked_at_ms.get(by).copied().filter(|_| !executions.answers.contains_key(by))
    }

    pub(crate) fn question(&self, by: &By) -> Option<(Encoded, Encoded)> {
        self.0.lock().questions.get(by).cloned()
    }

    pub(crate) fn answered(&self, by: By, answer: Encoded) {
        self.0.lock().answers.insert(by, answer);
    }

    pub(crate) fn decided(&self, by: By, ended: Vec<RunId>) {
        self.0.lock().decisions.insert(by, ended);
    }

    /// The children that had ended when a map node decided not to wait for the rest; `None` if it has not decided.
    pub(crate) fn decision(&self, by: &By) -> Option<Vec<RunId>> {
        self.0.lock().decisions.get(by).cloned()
    }

    /// Forgets a visit that is over: nothing of it is repeated.
    pub(crate) fn forget(&self, node: &str, visit: u32) {
        let is_other = |by: &By| by.visit != visit || by.node != node;
        let mut executions = self.0.lock();
        let Executions { restarts, conversations, sessions, once, questions, asked_at_ms, answers, decisions } =
            &mut *executions;
        restarts.retain(|by, _| is_other(by));
        conversations.retain(|by, _| is_other(by));
        sessions.retain(|(by, _), _| is_other(by));
        once.retain(|(other, of, _), _| *of != visit || other != node);
        questions.retain(|by, _| is_other(by));
        asked_at_ms.retain(|by, _| is_other(by));
        answers.retain(|by, _| is_other(by));
        decisions.retain(|by, _| is_other(by));
    }

    pub(crate) fn answer(&self, by: &By) -> Option<Encoded> {
        self.0.lock().answers.get(by).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_that_are_over_take_no_memory() {
        let history = History::default();
        let by = |visit, attempt| By { node: "work".to_owned(), visit, attempt };
        history.record_once(by(0, 1), "effect", "1".into());
        for visit in 1..1_000 {
            let by = by(visit, 1);
            history.restarted(by.clone());
            assert_eq!(history.begin_conversation(&by), 1);
            history.began_session(by.clone(), 1, "agent".to_owned(), SessionId::new("s").unwrap());
            history.record_once(by.clone(), "effect", "1".into());
            history.asked(by.clone(), "1".into(), "1".into(), Some(1));
            history.answered(by.clone(), "1".into());
            history.decided(by, Vec::new());
            history.forget("work", visit);
        }
        history.forget("other", 0);
        let executions = history.0.lock();
        assert_eq!(executions.once.len(), 1, "the visit that is not over");
        let Executions { restarts, conversations, sessions, questions, asked_at_ms, answers, decisions, .. } =
            &*executions;
        assert!(restarts.is_empty() && conversations.is_empty() && sessions.is_empty() && questions.is_empty());
        assert!(asked_at_ms.is_empty() && answers.is_empty() && decisions.is_empty());
    }
}
