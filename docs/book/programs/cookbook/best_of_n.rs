use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = Answer)]
struct Candidate {
    #[node(entry, input = Question, output = Answer, goto(exit))]
    answer: LLMNode,
}

#[derive(Graph, Default)]
#[graph(output = Answer)]
struct BestOf {
    #[node(entry, input = Vec<Question>, map = Candidate, concurrency = 4, goto(judge))]
    candidates: MapNode<Candidates>,
    #[node(input = Answers, output = Verdict, goto(exit))]
    judge: LLMNode<Judge>,
}

#[derive(Clone, Serialize, Deserialize, Template)]
#[template(source = "Answer {{ manner }}: {{ text }}", ext = "txt")]
struct Question {
    manner: String,
    text: String,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Answer {
    text: String,
}

#[derive(Serialize, Deserialize, Template)]
#[template(source = "Which is best?{% for it in answers %}\n{{ loop.index }}. {{ it.text }}{% endfor %}", ext = "txt")]
struct Answers {
    answers: Vec<Answer>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Verdict {
    best: usize,
}

#[derive(Default)]
struct Candidates;
impl MapHandler<best_of::candidates> for Candidates {
    fn graph(&self, _: &Cx<'_, best_of::candidates>) -> Result<Arc<Candidate>, NodeError> {
        Ok(Arc::new(Candidate::default()))
    }

    async fn items(
        &self,
        questions: &Vec<Question>,
        _: &mut Cx<'_, best_of::candidates>,
    ) -> Result<Vec<Item<Candidate>>, NodeError> {
        Ok(questions.iter().map(|it| Item::new(it.clone()).with_key(&it.manner)).collect())
    }

    async fn gather(
        &self,
        _: Vec<Question>,
        children: Children<Candidate>,
        cx: &mut Cx<'_, best_of::candidates>,
    ) -> Route<best_of::candidates> {
        let answers: Vec<_> = children.all().await.into_iter().filter_map(|child| child.result.ok()).collect();
        goto!(cx, best_of::judge, Answers { answers })
    }
}

#[derive(Default)]
struct Judge;
impl ReplyHandler<best_of::judge> for Judge {
    async fn after(
        &self,
        input: Answers,
        reply: Reply<Verdict>,
        cx: &mut Cx<'_, best_of::judge>,
    ) -> Route<best_of::judge> {
        // The judge may give a number that no answer has.
        let best = reply.output.best.checked_sub(1).and_then(|index| input.answers.into_iter().nth(index));
        goto!(cx, best_of::exit, best.ok_or("the judge chose none of the answers")?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = r#"turn = [
        { contains = ["Answer briefly: Why?"], output = { text = "So." } },
        { contains = ["Answer carefully: Why?"], output = { text = "It depends." } },
        { contains = ["Answer boldly: Why?"], output = { text = "Because!" } },
        { contains = ["Which is best?", "2. It depends.", "3. Because!"], output = { best = 3 } },
    ]"#;
    let questions = ["briefly", "carefully", "boldly"].map(|it| Question { manner: it.into(), text: "Why?".into() });
    let run = Run::new(BestOf::default()).with_agent_for_others(ScriptedAgent::parse("best.toml", script)?);
    let report = run.start(questions.to_vec()).await?;
    assert_eq!(report.usage().calls, 4);
    assert_eq!(report.outcome.finished().map(|answer| answer.text).as_deref(), Some("Because!"));
    Ok(())
}
