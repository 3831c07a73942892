//! One seed in every way that a run can be executed: recorded or not, heard by somebody or by nobody. The way is no part of what
//! happens.

use super::Followed;
use crate::graph::Output;
use crate::history::{self, Ended};
use crate::plan::{self, Way, Weather};
use crate::world::{Logged, What, World};
use interlocking_agents::Usage;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{By, Entry, LetterBody};
use interlocking_runtime::{Outcome, Report};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What must be the same in all ways: what handlers and agents did and when, and what the run came to.
#[derive(PartialEq, Eq)]
struct Happened {
    lines: Vec<String>,
    outcome: Outcome<Output>,
    visits: Vec<(&'static str, u32)>,
    usage: Usage,
}

impl Happened {
    fn of(ended: &Ended) -> Self {
        Self::until(&ended.report, usize::MAX, ended)
    }

    /// Until it failed first: what is recorded nowhere cannot be retried.
    fn at_first(ended: &Ended) -> Self {
        match &ended.history.first {
            Some((report, lines)) => Self::until(report, *lines, ended),
            None => Self::of(ended),
        }
    }

    fn until(report: &Report<Output>, lines: usize, ended: &Ended) -> Self {
        let log = ended.history.world.logged().into_iter().take(lines);
        let mut lines: Vec<String> = log.filter_map(line).collect();
        // What happens at one moment has no order.
        lines.sort();
        Self { lines, outcome: report.outcome.clone(), visits: report.visits.clone(), usage: report.usage() }
    }
}

impl Followed<'_> {
    /// Runs the seed, which ran in fair weather, in all other ways that its run can go, and compares. Gives how many ways those were
    /// without a journal. What happened where it went otherwise is added to the trace.
    pub(crate) fn goes_the_same_in_every_way(&self, trace: &mut String) -> Result<usize, String> {
        let ended = self.account.ended;
        let world = &ended.history.world;
        let mut unrecorded = 0;
        let may_be_unrecorded = self.needs_no_journal() && !self.depends_on_the_order();
        for way in Way::OTHERS {
            if !way.is_recorded && !may_be_unrecorded {
                continue;
            }
            unrecorded += usize::from(!way.is_recorded);
            let world = Arc::new(World::new(world.seed, world.nets));
            let other = history::run(&world, Weather::Fair, way).map_err(|why| format!("{way:?}: {why}"))?;
            let expected = if way.is_recorded { Happened::of(ended) } else { Happened::at_first(ended) };
            let found = Happened::of(&other);
            if found == expected {
                continue;
            }
            *trace += &format!("{way:?}:\n");
            other.history.world.logged().iter().for_each(|line| *trace += &format!("{line:?}\n"));
            *trace += &format!("{:?}\n", other.report);
            let missing = expected.lines.iter().find(|line| !found.lines.contains(line));
            let added = found.lines.iter().find(|line| !expected.lines.contains(line));
            return Err(format!(
                "{way:?}: it comes to {:?} for {}, in place of {:?} for {}; missing {missing:?}, added {added:?}",
                found.outcome, found.usage, expected.outcome, expected.usage
            ));
        }
        Ok(unrecorded)
    }

    /// Whether it may depend on which of two things at one moment came first: without a journal, nothing is waited for between them.
    fn depends_on_the_order(&self) -> bool {
        let account = self.account;
        // What works beside the graph may begin, or do what it had to do, just when its run ends.
        let is_beside = |run: &RunId, by: &By| self.kind(run, by) == NodeKind::Advisory;
        let ends = account.log.iter().filter_map(|line| match &line.what {
            What::Event { run, text } if text.starts_with("RunEnded") => Some((run, line.at)),
            _ => None,
        });
        let ends: BTreeSet<_> = ends.collect();
        let begins_at_its_end = |line: &Logged| match &line.what {
            What::Started { run, by } => is_beside(run, by) && ends.contains(&(run, line.at)),
            _ => false,
        };
        self.runs.values().any(|oracle| oracle.raced.is_some() || oracle.held_up)
            || account.ended.history.surroundings.concurrency.is_some()
            || account.log.iter().any(begins_at_its_end)
    }

    fn kind(&self, run: &RunId, by: &By) -> NodeKind {
        let net = self.account.net(run);
        net.node_named(&by.node).map_or(NodeKind::Logic, |node| net.row(node).kind)
    }

    /// Whether nothing went through letters, or was to: they lie in a journal.
    fn needs_no_journal(&self) -> bool {
        let account = self.account;
        let is_letters = |entry: &Entry| match entry {
            Entry::Received { .. } => true,
            Entry::Outcome(outcome) => !outcome.posted.is_empty(),
            _ => false,
        };
        // Who would have asked a person may be stopped first.
        let asks =
            |line: &Logged| matches!(&line.what, What::Started { run, by } if self.kind(run, by) == NodeKind::Human);
        plan::messages(&account.ended.history.world).is_empty()
            && !account.log.iter().any(asks)
            && account.letters.values().flatten().all(|posted| posted.letter.body == LetterBody::Cancel)
            && !account.records.values().flatten().any(|record| is_letters(&record.entry))
    }
}

/// A line of what handlers and agents did, without what is counted across the whole run: what is side by side has no order.
fn line(Logged { at, what, .. }: Logged) -> Option<String> {
    let what = match what {
        What::Effect { run, by, .. } => What::Effect { run, by, value: 0 },
        What::Got { run, by, .. } => What::Got { run, by, value: 0 },
        What::Called(mut call) => {
            call.open = 0;
            What::Called(call)
        }
        What::Begun { .. }
        | What::Gathered { .. }
        | What::Asks { .. }
        | What::Opened { .. }
        | What::Returned(_)
        | What::Turned(_) => what,
        What::Kept { .. }
        | What::Failed { .. }
        | What::Cancelled { .. }
        | What::Reported { .. }
        | What::Refused { .. }
        | What::KeptAfterRefusal { .. }
        | What::Acknowledged { .. }
        | What::Started { .. }
        | What::Event { .. }
        | What::Harness(_) => return None,
    };
    Some(without_numbers(&format!("{:?}", Logged { executor: 0, at, what })))
}

/// The same without the numbers of sessions, `s7-n1.1.1`.
fn without_numbers(line: &str) -> String {
    let mut parts = line.split("\"s").flat_map(|part| part.split(" in s"));
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        short.push_str(" s");
        short.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    }
    short
}
