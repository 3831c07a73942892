//! What the nodes do.

use crate::graph::{Bug, Findings, Fixed, Task, Walkthrough, debugging};
use crate::prompts::{FixPrompt, InvestigatePrompt};
use crate::site::Site;
use interlocking::envoy::Excerpt;
use interlocking::prelude::*;
use interlocking_envoy::cleanup::Cleanup;
use std::time::Duration;

pub(crate) struct Investigate {
    pub(crate) steps: Excerpt,
}

impl LLMHandler<debugging::investigate> for Investigate {
    async fn before<'a>(&'a self, bug: &'a Bug, cx: &mut Cx<'_, debugging::investigate>) -> Ask<InvestigatePrompt<'a>> {
        Ok((InvestigatePrompt { bug, steps: &self.steps }, cx.fresh_session()))
    }

    async fn after(
        &self,
        _: Bug,
        reply: Reply<Findings>,
        cx: &mut Cx<'_, debugging::investigate>,
    ) -> Route<debugging::investigate> {
        goto!(cx, debugging::fix, Task { findings: reply.output, feedback: None })
    }
}

pub(crate) struct Fix {
    pub(crate) steps: Excerpt,
}

impl LLMHandler<debugging::fix> for Fix {
    async fn before<'a>(&'a self, task: &'a Task, cx: &mut Cx<'_, debugging::fix>) -> Ask<FixPrompt<'a>> {
        Ok((FixPrompt { task, steps: &self.steps }, cx.fresh_session()))
    }

    async fn after(
        &self,
        _: Task,
        reply: Reply<Walkthrough>,
        cx: &mut Cx<'_, debugging::fix>,
    ) -> Route<debugging::fix> {
        goto!(cx, debugging::clean_up, reply.output)
    }
}

/// The time limit of the project's check. The checked code may contain an endless loop of the agent's.
const LONGEST_CHECK: Duration = Duration::from_secs(60);

pub(crate) struct CleanUp {
    pub(crate) site: Site,
}

impl LogicHandler<debugging::clean_up> for CleanUp {
    async fn run(&self, done: Walkthrough, cx: &mut Cx<'_, debugging::clean_up>) -> Route<debugging::clean_up> {
        let (site, walkthrough) = (self.site.clone(), done.walkthrough);
        let removing = move || {
            let report = Cleanup::new().run(site.worktree.path())?;
            if let Some(failure) = report.failures.first() {
                return Err(NodeError::from(failure.clone()));
            }
            // The agent's claim is not trusted, nor is a check from before the logs were removed (CON-127). The check runs on the
            // commit, which cannot change afterwards.
            let commit = site.commit(&walkthrough)?;
            Ok((report.markers_removed, commit, site.check(commit, LONGEST_CHECK)?))
        };
        let (markers_removed, commit, check) = tokio::task::spawn_blocking(removing).await??;
        cx.note(format!(
            "{markers_removed} markers removed; the check {}",
            if check.is_ok() { "passes" } else { "fails" }
        ));
        match check {
            Ok(()) => goto!(cx, debugging::merge, Fixed { commit: commit.to_string() }),
            Err(said) => {
                let task = cx.input_of::<debugging::fix>()?;
                goto!(cx, debugging::fix, Task { feedback: Some(said), ..task })
            }
        }
    }
}

pub(crate) struct Merge {
    pub(crate) site: Site,
}

impl LogicHandler<debugging::merge> for Merge {
    async fn run(&self, fixed: Fixed, cx: &mut Cx<'_, debugging::merge>) -> Route<debugging::merge> {
        self.site.merge(&fixed.commit)?;
        goto!(cx, debugging::exit, fixed)
    }
}
