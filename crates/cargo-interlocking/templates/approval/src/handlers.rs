//! The handler that asks the person and routes the answer. `write` needs no handler: its output goes to its only target.

use crate::graph::{Answer, Assignment, Letter, Question, correspondence};
use interlocking::prelude::*;

#[derive(Default)]
pub struct Approval;

impl HumanHandler<correspondence::approve> for Approval {
    async fn ask(
        &self,
        letter: &Letter,
        _: &mut Cx<'_, correspondence::approve>,
    ) -> Result<Question, NodeError> {
        Ok(Question {
            may_this_go_out: letter.text.clone(),
        })
    }

    async fn answered(
        &self,
        letter: Letter,
        answer: Answer,
        cx: &mut Cx<'_, correspondence::approve>,
    ) -> Route<correspondence::approve> {
        if answer.approved {
            return goto!(cx, correspondence::exit, letter);
        }
        let about = cx.entry()?.about.clone();
        goto!(
            cx,
            correspondence::write,
            Assignment {
                about,
                wish: answer.wish
            }
        )
    }
}
