//! Handlers, which choose the next node from an agent's output. `draft` needs none: its output goes to its only target.

use crate::graph::{Assignment, Draft, Outline, Review, Topic, article};
use interlocking::prelude::*;

#[derive(Default)]
pub struct Editor;

impl ReplyHandler<article::outline> for Editor {
    async fn after(
        &self,
        topic: Topic,
        reply: Reply<Outline>,
        cx: &mut Cx<'_, article::outline>,
    ) -> Route<article::outline> {
        let sections = reply.output.sections;
        goto!(
            cx,
            article::draft,
            Assignment {
                subject: topic.subject,
                sections,
                faults: Vec::new()
            }
        )
    }
}

#[derive(Default)]
pub struct Reviewer;

impl ReplyHandler<article::review> for Reviewer {
    async fn after(
        &self,
        draft: Draft,
        reply: Reply<Review>,
        cx: &mut Cx<'_, article::review>,
    ) -> Route<article::review> {
        let faults = reply.output.faults;
        if faults.is_empty() {
            return goto!(cx, article::exit, draft);
        }
        if cx.is_final_visit() {
            return Err(format!("the last draft still has faults: {}", faults.join("; ")).into());
        }
        goto!(
            cx,
            article::draft,
            Assignment {
                faults,
                ..cx.input_of::<article::draft>()?
            }
        )
    }
}
