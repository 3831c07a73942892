//! Chooses the reaction to a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::reaction::Reaction;
use crate::request::Request;

/// A list of rules. The first rule that matches a request and is not used up makes the reaction. A request that no rule
/// matches gets a 400 that describes it, and is kept for [`ModelServer::unmatched`](crate::ModelServer::unmatched).
#[derive(Default)]
pub struct Script {
    rules: Vec<Rule>,
}

/// Conditions on a request, and the reaction to it.
pub struct Rule {
    conditions: Vec<Condition>,
    left: Option<AtomicU32>,
    reaction: Answering,
}

type Answering = Arc<dyn Fn(&Request) -> Reaction + Send + Sync>;

struct Condition {
    shown: String,
    holds: Box<dyn Fn(&Request) -> bool + Send + Sync>,
}

impl Script {
    /// A script without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// A script that computes every answer.
    pub fn computed(answer: impl Fn(&Request) -> Reaction + Send + Sync + 'static) -> Self {
        Self::new().rule(Rule::any().reply_with(answer))
    }

    /// The script with one more rule, which comes after the existing ones.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// The index of the rule that matches a request, and the rule's reaction.
    pub(crate) fn react(&self, request: &Request) -> Option<(usize, Reaction)> {
        let index = self.rules.iter().position(|rule| rule.fits(request) && rule.take())?;
        Some((index, (self.rules[index].reaction)(request)))
    }

    /// Descriptions of the rules, for messages.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.rules.iter().map(Rule::shown).collect()
    }
}

impl Rule {
    /// Matches every request.
    pub fn any() -> Self {
        let reaction = |_: &Request| Reaction::status(500, "this rule of the script has no reaction");
        Self { conditions: Vec::new(), left: None, reaction: Arc::new(reaction) }
    }

    /// Matches if the user's last text contains `text` and no tool has given a result since: the first request for this
    /// prompt.
    pub fn asked(text: impl Into<String>) -> Self {
        Self::any().prompt(text).when("nothing done since", |request| request.results().is_empty())
    }

    /// Matches if a result of the tools that the model's last message called contains `text`.
    pub fn told(text: impl Into<String>) -> Self {
        let text = text.into();
        let shown = format!("a result contains {text:?}");
        Self::any().when(&shown, move |request| request.last_results().iter().any(|result| result.contains(&text)))
    }

    /// Also requires that the user's [last text](Request::prompt) contains `text`.
    #[must_use]
    pub fn prompt(self, text: impl Into<String>) -> Self {
        let text = text.into();
        let shown = format!("the prompt contains {text:?}");
        self.when(&shown, move |request| request.prompt().contains(&text))
    }

    /// Also requires that the system prompt contains `text`.
    #[must_use]
    pub fn system(self, text: impl Into<String>) -> Self {
        let text = text.into();
        let shown = format!("the system prompt contains {text:?}");
        self.when(&shown, move |request| request.system().contains(&text))
    }

    /// Also requires that some text of the conversation contains `text`.
    #[must_use]
    pub fn history(self, text: impl Into<String>) -> Self {
        let text = text.into();
        let shown = format!("the conversation contains {text:?}");
        self.when(&shown, move |request| request.texts().any(|said| said.contains(&text)))
    }

    /// Also requires that the model's name contains `name`.
    #[must_use]
    pub fn model(self, name: impl Into<String>) -> Self {
        let name = name.into();
        let shown = format!("the model's name contains {name:?}");
        self.when(&shown, move |request| request.model().contains(&name))
    }

    /// Also requires that the request offers this tool.
    #[must_use]
    pub fn offers(self, tool: impl Into<String>) -> Self {
        let tool = tool.into();
        let shown = format!("the tool {tool:?} is on offer");
        self.when(&shown, move |request| request.offers(&tool))
    }

    /// Also requires that `holds` is true; `shown` describes the condition.
    #[must_use]
    pub fn when(mut self, shown: &str, holds: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Self {
        self.conditions.push(Condition { shown: shown.to_owned(), holds: Box::new(holds) });
        self
    }

    /// Limits the rule to so many requests; after that it matches none.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { left: Some(AtomicU32::new(times)), ..self }
    }

    /// The reaction of this rule.
    #[must_use]
    pub fn reply(self, reaction: Reaction) -> Self {
        self.reply_with(move |_| reaction.clone())
    }

    /// The reaction of this rule, computed from the request.
    #[must_use]
    pub fn reply_with(self, answer: impl Fn(&Request) -> Reaction + Send + Sync + 'static) -> Self {
        Self { reaction: Arc::new(answer), ..self }
    }

    fn fits(&self, request: &Request) -> bool {
        self.conditions.iter().all(|condition| (condition.holds)(request))
    }

    /// Counts one use of the rule; false if it is used up.
    fn take(&self) -> bool {
        let Some(left) = &self.left else { return true };
        left.try_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }

    fn shown(&self) -> String {
        let conditions: Vec<_> = self.conditions.iter().map(|condition| condition.shown.as_str()).collect();
        match &self.left {
            Some(left) => format!("{} ({} times left)", conditions.join(", "), left.load(Ordering::SeqCst)),
            None => conditions.join(", "),
        }
    }
}
