//! One seed in every way that a run can be executed: with or without a journal, with or without an event sink. The way
//! must not influence what happens.

use super::{Account, Followed};
use crate::graph::Output;
use crate::history::{self, Ended};
use crate::plan::{self, Way, Weather};
use crate::world::{LogEvent, Logged, World};
use interlocking_agents::Usage;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{By, Entry, LetterBody};
use interlocking_runtime::{Outcome, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The data that must be the same in all ways: what handlers and agents did and when, and the run's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Happened {
    pub(crate) lines: Vec<String>,
    pub(crate) outcome: Outcome<Output>,
    pub(crate) visits: Vec<(&'static str, u32)>,
    pub(crate) usage: Usage,
}

impl Happened {
    pub(crate) fn of(ended: &Ended) -> Self {
        Self::until(&ended.report, usize::MAX, ended)
    }

    /// What happened until the run first failed: a run without a journal cannot be retried.
    pub(crate) fn at_first(ended: &Ended) -> Self {
        match &ended.history.first {
            Some((report, lines)) => Self::until(report, *lines, ended),
            None => Self::of(ended),
        }
    }

    fn until(report: &Report<Output>, lines: usize, ended: &Ended) -> Self {
        let log = ended.history.world.logged().into_iter().take(lines);
        let mut lines: Vec<String> = log.filter_map(line).collect();
        // Events at the same moment have no order.
        lines.sort();
        Self { lines, outcome: report.outcome.clone(), visits: report.visits.clone(), usage: report.usage() }
    }
}

impl Happened {
    /// Checks that the same has happened in another way.
    ///
    /// # Errors
    ///
    /// The missing and the added lines, and both results.
    pub(crate) fn must_be(&self, expected: &Self) -> Result<(), String> {
        if self == expected {
            return Ok(());
        }
        let missing = expected.lines.iter().find(|line| !self.lines.contains(line));
        let added = self.lines.iter().find(|line| !expected.lines.contains(line));
        Err(format!(
            "it comes to {:?} for {}, in place of {:?} for {}; missing {missing:?}, added {added:?}",
            self.outcome, self.usage, expected.outcome, expected.usage
        ))
    }
}

/// The number of comparisons of runs without a journal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unrecorded {
    /// Comparisons with the run that has a journal.
    pub(crate) with_recorded: usize,
    /// Comparisons with each other, of runs that would need a journal at some point.
    pub(crate) with_each_other: usize,
}

impl Followed<'_> {
    /// Runs the seed, which ran in fair weather, in all other possible ways, and compares. Returns the number of
    /// comparisons without a journal. If a run differs, its log is added to the trace.
    ///
    /// If the run depended on the order of concurrent steps, or sent messages, a calm run of the seed is compared
    /// instead, without messages and with hardly any two events at the same moment.
    pub(crate) fn goes_the_same_in_every_way(&self, trace: &mut String) -> Result<Unrecorded, String> {
        let mut unrecorded = Unrecorded::default();
        let may_be_unrecorded = self.needs_no_journal() && !self.depends_on_the_order();
        for way in Way::OTHERS.into_iter().filter(|way| way.is_recorded || may_be_unrecorded) {
            unrecorded.with_recorded += usize::from(!way.is_recorded);
            self.in_way(way, trace)?;
        }
        if may_be_unrecorded {
            return Ok(unrecorded);
        }
        let world = &self.account.ended.history.world;
        let calm = history::run(&calm(world), Weather::Fair, Way::USUAL).map_err(|why| format!("calm: {why}"))?;
        let account = Account::of(&calm)?;
        let followed = account.check().map_err(|why| format!("calm: {why}"))?;
        if followed.has_ties() {
            return Ok(unrecorded);
        }
        let ways = Way::OTHERS.into_iter().filter(|way| !way.is_recorded);
        if followed.needs_no_journal() {
            for way in ways {
                unrecorded.with_recorded += 1;
                followed.in_way(way, trace)?;
            }
            return Ok(unrecorded);
        }
        let ended = ways.map(|way| history::run(&self::calm(world), Weather::Fair, way));
        let ended = ended.collect::<Result<Vec<_>, _>>().map_err(|why| format!("without a journal: {why}"))?;
        unrecorded.with_each_other += 1;
        same(&Happened::of(&ended[0]), &ended[1], "without a journal, heard or not", trace)?;
        Ok(unrecorded)
    }

    /// Runs the seed in another way, and compares the results.
    fn in_way(&self, way: Way, trace: &mut String) -> Result<(), String> {
        let ended = self.account.ended;
        let world = &ended.history.world;
        let world = if world.is_calm { calm(world) } else { Arc::new(World::new(world.seed, world.nets)) };
        let other = history::run(&world, Weather::Fair, way).map_err(|why| format!("{way:?}: {why}"))?;
        let expected = if way.is_recorded { Happened::of(ended) } else { Happened::at_first(ended) };
        same(&expected, &other, &format!("{way:?}"), trace)
    }

    /// Whether two events at the same moment may have come in either order: ends of executions, or requests to an agent
    /// for which several have to wait.
    fn has_ties(&self) -> bool {
        let account = self.account;
        let waits = account.ended.history.surroundings.concurrency.is_some();
        let records = account.records.values().flatten();
        let records: BTreeMap<_, _> = records.map(|record| ((&record.run, record.sequence), record)).collect();
        let mut moments: BTreeMap<u64, (&RunId, By)> = BTreeMap::new();
        let lines = account.ended.history.first.as_ref().map_or(usize::MAX, |(_, lines)| *lines);
        // A child may begin or end at the very moment when its map decides not to wait for it.
        let decides = |line: &Logged| match &line.what {
            LogEvent::Kept { run, sequence } => {
                matches!(records.get(&(run, *sequence)).map(|it| &it.entry), Some(Entry::Decided { .. }))
            }
            _ => false,
        };
        let decided: BTreeSet<u64> = account.log.iter().filter(|line| decides(line)).map(|line| line.at).collect();
        let is_childs = |line: &Logged| match &line.what {
            LogEvent::Started { run, .. } | LogEvent::Begun { run, .. } => *run != account.ended.history.root,
            _ => false,
        };
        if account.log.iter().any(|line| decided.contains(&line.at) && is_childs(line)) {
            return true;
        }
        for line in account.log.iter().take(lines) {
            let whose = match &line.what {
                LogEvent::Kept { run, sequence } => {
                    records.get(&(run, *sequence)).and_then(|record| match &record.entry {
                        Entry::Outcome(outcome) => Some((run, outcome.by())),
                        Entry::Report { by, .. } => Some((run, by.clone())),
                        _ => None,
                    })
                }
                LogEvent::Failed { run, by, .. } | LogEvent::Reported { run, by } => Some((run, by.clone())),
                LogEvent::Returned(returned) => Some((&returned.run, returned.by.clone())),
                LogEvent::Asks { run, by, .. } if waits => Some((run, by.clone())),
                _ => None,
            };
            let Some(whose) = whose else { continue };
            if *moments.entry(line.at).or_insert_with(|| whose.clone()) != whose {
                return true;
            }
        }
        self.begins_at_its_end()
    }

    /// Whether the run may depend on the order of two events at the same moment: without a journal, no write separates
    /// them.
    fn depends_on_the_order(&self) -> bool {
        self.runs.values().any(|oracle| oracle.raced.is_some() || oracle.held_up)
            || self.account.ended.history.surroundings.concurrency.is_some()
            || self.begins_at_its_end()
    }

    /// Whether an advisory node begins at the moment when its run ends.
    fn begins_at_its_end(&self) -> bool {
        let account = self.account;
        // An advisory node may begin, or do its work, at the very moment when its run ends.
        let is_beside = |run: &RunId, by: &By| self.kind(run, by) == NodeKind::Advisory;
        let ends = account.log.iter().filter_map(|line| match &line.what {
            LogEvent::Event { run, text } if text.starts_with("RunEnded") => Some((run, line.at)),
            _ => None,
        });
        let ends: BTreeSet<_> = ends.collect();
        let begins_at_its_end = |line: &Logged| match &line.what {
            LogEvent::Started { run, by } => is_beside(run, by) && ends.contains(&(run, line.at)),
            _ => false,
        };
        account.log.iter().any(begins_at_its_end)
    }

    fn kind(&self, run: &RunId, by: &By) -> NodeKind {
        let net = self.account.net(run);
        net.node_named(&by.node).map_or(NodeKind::Logic, |node| net.row(node).kind)
    }

    /// Whether a node adopts the children of its earlier entries.
    pub(super) fn may_adopt(&self, run: &RunId, by: &By) -> bool {
        let net = self.account.net(run);
        net.node_named(&by.node).is_some_and(|node| net.row(node).adopt)
    }

    /// Whether a later entry of a map adopted a child, or would have: adoption needs the journal.
    fn adopts(&self) -> bool {
        let is_taken = |entry: &Entry| matches!(entry, Entry::Resumed { taken_by: Some(_), .. });
        if self.account.records.values().flatten().any(|record| is_taken(&record.entry)) {
            return true;
        }
        let mut gathered: BTreeMap<&RunId, &By> = BTreeMap::new();
        self.account.log.iter().any(|line| match &line.what {
            LogEvent::Gathered { by, children, .. } => {
                children.iter().any(|child| gathered.insert(&child.run, by).is_some_and(|before| before != by))
            }
            // The entry may be stopped before it gathers.
            LogEvent::Started { run, by } if by.visit > 1 => self.may_adopt(run, by),
            _ => false,
        })
    }

    /// Whether nothing used letters, or would have, as these need a journal, and nothing was adopted.
    fn needs_no_journal(&self) -> bool {
        let account = self.account;
        let is_letters = |entry: &Entry| match entry {
            Entry::Received { .. } => true,
            Entry::Outcome(outcome) => !outcome.posted.is_empty(),
            _ => false,
        };
        // A human node may be stopped before it asks.
        let asks = |line: &Logged| matches!(&line.what, LogEvent::Started { run, by } if self.kind(run, by) == NodeKind::Human);
        plan::messages(&account.ended.history.world).is_empty()
            && !self.adopts()
            && !account.log.iter().any(asks)
            && account.letters.values().flatten().all(|posted| posted.letter.body == LetterBody::Cancel)
            && !account.records.values().flatten().any(|record| is_letters(&record.entry))
    }
}

/// The same seed without messages, and with hardly any two events at the same moment.
fn calm(world: &World) -> Arc<World> {
    let mut calm = World::new(world.seed, world.nets);
    calm.is_calm = true;
    Arc::new(calm)
}

/// Checks that a run did what is expected; if not, its log is added to the trace.
fn same(expected: &Happened, other: &Ended, way: &str, trace: &mut String) -> Result<(), String> {
    Happened::of(other).must_be(expected).map_err(|why| {
        *trace += &format!("{way}:\n");
        other.history.world.logged().iter().for_each(|line| *trace += &format!("{line:?}\n"));
        *trace += &format!("{:?}\n", other.report);
        format!("{way}: {why}")
    })
}

/// A log line of what handlers and agents did, without numbers that are counted across the whole run, as concurrent
/// steps have no order.
fn line(Logged { at, what, .. }: Logged) -> Option<String> {
    let what = match what {
        LogEvent::Effect { run, by, .. } => LogEvent::Effect { run, by, value: 0 },
        LogEvent::Got { run, by, .. } => LogEvent::Got { run, by, value: 0 },
        LogEvent::Called(mut call) => {
            call.open = 0;
            LogEvent::Called(call)
        }
        LogEvent::Begun { .. }
        | LogEvent::Gathered { .. }
        | LogEvent::Given { .. }
        | LogEvent::Asks { .. }
        | LogEvent::Opened { .. }
        | LogEvent::Returned(_)
        | LogEvent::Turned(_) => what,
        LogEvent::Left { .. }
        | LogEvent::Kept { .. }
        | LogEvent::Failed { .. }
        | LogEvent::Cancelled { .. }
        | LogEvent::Reported { .. }
        | LogEvent::Refused { .. }
        | LogEvent::KeptAfterRefusal { .. }
        | LogEvent::Acknowledged { .. }
        | LogEvent::Started { .. }
        | LogEvent::Event { .. }
        | LogEvent::Harness(_) => return None,
    };
    Some(without_numbers(&format!("{:?}", Logged { executor: 0, at, what })))
}

/// The line without the numbers of sessions, `s7-n1.1.1`.
fn without_numbers(line: &str) -> String {
    let mut parts = line.split("\"s").flat_map(|part| part.split(" in s"));
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        short.push_str(" s");
        short.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    }
    short
}
