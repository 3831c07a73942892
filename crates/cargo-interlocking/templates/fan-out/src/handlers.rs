//! Handlers, which send the question to three agents, collect their answers, and return the one that the judge chose. The nodes
//! `brief`, `careful` and `bold` need none: their output goes to their only target.

use crate::graph::{Answer, Candidates, Question, Verdict, best_of_three};
use interlocking::prelude::*;

#[derive(Default)]
pub struct Share;

impl ForkHandler<best_of_three::share> for Share {
    async fn fork(
        &self,
        question: String,
        cx: &mut Cx<'_, best_of_three::share>,
    ) -> Route<best_of_three::share> {
        let ask = |manner: &str| Question {
            manner: manner.to_owned(),
            question: question.clone(),
        };
        fork!(cx, (ask("briefly"), ask("carefully"), ask("boldly")))
    }
}

#[derive(Default)]
pub struct Collect;

impl JoinHandler<best_of_three::collect> for Collect {
    async fn join(
        &self,
        (brief, careful, bold): (Answer, Answer, Answer),
        cx: &mut Cx<'_, best_of_three::collect>,
    ) -> Route<best_of_three::collect> {
        let question = cx.entry()?.clone();
        goto!(
            cx,
            best_of_three::judge,
            Candidates {
                question,
                answers: vec![brief, careful, bold]
            }
        )
    }
}

#[derive(Default)]
pub struct Judge;

impl ReplyHandler<best_of_three::judge> for Judge {
    async fn after(
        &self,
        candidates: Candidates,
        reply: Reply<Verdict>,
        cx: &mut Cx<'_, best_of_three::judge>,
    ) -> Route<best_of_three::judge> {
        // The judge may give a number that no answer has.
        let best = reply.output.best;
        let answer = best
            .checked_sub(1)
            .and_then(|index| candidates.answers.get(index));
        let answer = answer.ok_or_else(|| {
            format!(
                "the judge chose answer {best} of {}",
                candidates.answers.len()
            )
        })?;
        goto!(cx, best_of_three::exit, answer.clone())
    }
}
