use askama::Template;
use interlocking::agents::{AgentError, ScriptedAgent};
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Graph, Default)]
#[graph(output = String)]
struct Helpdesk {
    #[node(entry, input = Ticket, prompt = Question<'_>, output = Triage, goto(answer, exit))]
    triage: LLMNode<Triager>,
    #[node(input = Case, output = Answer, goto(check))]
    answer: LLMNode, // no handler: the input is the prompt, and the answer goes to the only target
    #[node(input = Answer, goto(exit))]
    check: LogicNode<Check>,
}

#[derive(Serialize, Deserialize)]
struct Ticket {
    text: String,
}

/// The prompt: a view of the input and of the handler's data.
#[derive(Template)]
#[template(source = "One of {{ topics|join(\", \") }}, or nothing?\n\n{{ ticket.text }}", ext = "txt")]
struct Question<'a> {
    ticket: &'a Ticket,
    topics: &'a [&'static str],
}

/// What the agent answers: asked for with this type's schema, checked, and sent back if it does not fit.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Triage {
    topic: Option<String>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(source = "Answer this question on {{ topic }}: {{ text }}", ext = "txt")]
struct Case {
    topic: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    text: String,
}

struct Triager {
    topics: [&'static str; 2],
}

impl Default for Triager {
    fn default() -> Self {
        Self { topics: ["signals", "points"] }
    }
}

impl LLMHandler<helpdesk::triage> for Triager {
    async fn before<'a>(&'a self, ticket: &'a Ticket, cx: &mut Cx<'_, helpdesk::triage>) -> Ask<Question<'a>> {
        Ok((Question { ticket, topics: &self.topics }, cx.fresh_session()))
    }

    async fn after(
        &self,
        ticket: Ticket,
        reply: Reply<Triage>,
        cx: &mut Cx<'_, helpdesk::triage>,
    ) -> Route<helpdesk::triage> {
        match reply.output.topic {
            // The agent may name a topic that does not exist: that counts as no topic.
            Some(topic) if self.topics.contains(&topic.as_str()) => {
                goto!(cx, helpdesk::answer, Case { topic, text: ticket.text })
            }
            _ => goto!(cx, helpdesk::exit, "forwarded to a person".to_owned()),
        }
    }

    // Without this method, the node fails if the agent gives no valid answer.
    async fn unanswered(
        &self,
        _: Ticket,
        error: AgentError,
        cx: &mut Cx<'_, helpdesk::triage>,
    ) -> Route<helpdesk::triage> {
        goto!(cx, helpdesk::exit, format!("forwarded to a person: {error}"))
    }
}

#[derive(Default)]
struct Check;
impl LogicHandler<helpdesk::check> for Check {
    async fn run(&self, answer: Answer, cx: &mut Cx<'_, helpdesk::check>) -> Route<helpdesk::check> {
        goto!(cx, helpdesk::exit, answer.text)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = r#"turn = [
        { contains = ["One of signals, points", "Why is it red?"], output = { topic = "signals" } },
        { contains = ["question on signals: Why is it red?"], output = { text = "A train is ahead." } },
    ]"#;
    let run = Run::new(Helpdesk::default()).with_agent_for_others(ScriptedAgent::parse("helpdesk.toml", script)?);
    let report = run.start(Ticket { text: "Why is it red?".into() }).await?;
    assert_eq!(report.usage().calls, 2);
    assert_eq!(report.outcome.finished().as_deref(), Some("A train is ahead."));
    Ok(())
}
