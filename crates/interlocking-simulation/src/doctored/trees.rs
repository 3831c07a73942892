//! Changes to how the runs of a tree and exclusive executions act together, each with words of the reason why it must
//! be refused.

use super::changes::{Change, first, root};
use crate::checks::Account;
use crate::numbers::is_anew;
use crate::world::{Gathered, LogEvent, Logged};
use interlocking_core::run_id::RunId;
use interlocking_core::table::{NodeKind, NodeRow};
use interlocking_runtime::journal::{By, Entry, Letter, Origin, Posted, Record};

/// Each change, the number of seeds that it must apply to, and words of the reason.
pub(super) const CHANGES: [(&str, usize, &str, Change); 14] = [
    ("a child is cancelled that is needed", 3, "nobody has asked for that", |account| {
        if account.ended.history.cancelled {
            return None;
        }
        let end = children(account).find_map(|records| Some(&mut records.last_mut()?.entry).filter(is_finish))?;
        *end = Entry::Ended { output: None, failure: None, cancelled: true };
        Some(())
    }),
    ("a child begins that is not needed", 1, "and nobody needs", |account| {
        let root = account.ended.history.root.clone();
        let ends = |run: &RunId, sequence: u64, ending: &str| {
            let record = account.records.get(run).and_then(|records| records.get(sequence as usize));
            record.and_then(|record| record.entry.ending()) == Some(ending)
        };
        let (nth, run) = account.log.iter().enumerate().find_map(|(nth, line)| match &line.what {
            LogEvent::Kept { run, sequence } if *run != root && ends(run, *sequence, "cancelled") => {
                Some((nth, run.clone()))
            }
            _ => None,
        })?;
        let by = account.log[..nth].iter().find_map(|line| match &line.what {
            LogEvent::Begun { run: of, by, .. } if *of == run => Some(by.clone()),
            _ => None,
        })?;
        let Logged { executor, at, .. } = account.log[nth];
        let begun = Logged { executor, at: at + 1, what: LogEvent::Begun { run, by, restarts: 0 } };
        account.log.insert(nth + 1, begun);
        Some(())
    }),
    ("a child has no end", 5, "has no end", |account| {
        let records = children(account).find(|records| records.last().is_some_and(|it| it.entry.ending().is_some()))?;
        records.pop().map(drop)
    }),
    ("a map that does not adopt gathers an earlier child", 3, " gathers ", |account| {
        let child = gathered(account, |row, _| !row.adopt)?;
        begin_earlier(account, &child)
    }),
    ("a map gathers an earlier child of an item that is to run anew", 1, " gathers ", |account| {
        let child = gathered(account, |row, child| row.adopt && is_anew(child.item))?;
        begin_earlier(account, &child)
    }),
    ("a child is run anew that could be adopted", 1, "could have adopted", |account| {
        let again = gathered(account, |row, child| row.adopt && !is_anew(child.item))?;
        let of = |run: &RunId| match &account.records[run].first()?.entry {
            Entry::Started { origin: Some(Origin::Child { parent, node, key, .. }), .. } => {
                Some((parent.clone(), node.clone(), key.clone()))
            }
            _ => None,
        };
        let equal: Vec<RunId> = account.records.keys().filter(|run| of(run) == of(&again)).cloned().collect();
        let numbers = equal.iter().filter_map(|run| match &mut account.records.get_mut(run)?.first_mut()?.entry {
            Entry::Started { origin: Some(Origin::Child { number, .. }), .. } => Some(std::mem::replace(number, 1)),
            _ => None,
        });
        (numbers.collect::<Vec<_>>().len() > 1).then_some(())
    }),
    ("two children work at once, where one may", 1, "children at work at once", |account| {
        let owner = |run: &RunId| match &account.records.get(run)?.first()?.entry {
            Entry::Started { origin: Some(Origin::Child { parent, node, visit, .. }), .. } => {
                let net = account.net(parent);
                let limit = net.row(net.node_named(node)?).concurrency;
                (limit == Some(1)).then(|| (parent.clone(), node.clone(), *visit))
            }
            _ => None,
        };
        let begun = |line: &Logged| match &line.what {
            LogEvent::Kept { run, sequence: 0 } => owner(run).map(|owner| (line.executor, owner)),
            _ => None,
        };
        let log = account.log.iter().enumerate();
        let places: Vec<_> = log.filter_map(|(nth, line)| Some((nth, begun(line)?))).collect();
        let pair = places.iter().zip(places.iter().skip(1)).find(|(one, next)| one.1 == next.1);
        let (from, to) = pair.map(|(one, next)| (next.0, one.0))?;
        account.log[to + 1..=from].rotate_right(1);
        Some(())
    }),
    ("an exclusive execution begins while another is at work", 2, " is at work", |account| {
        together(account, |row| row.kind != NodeKind::Graph, |_, _| true)
    }),
    ("an exclusive execution begins within a section", 1, "in the middle of section", |account| {
        let root = account.ended.history.root.clone();
        together(
            account,
            |row| row.kind == NodeKind::Graph,
            move |line, by| {
                matches!(&line.what, LogEvent::Event { run, text } if *run != root
                && text.starts_with("RunStarted") && text.contains(&format!("node: \"{}\"", by.node)))
            },
        )
    }),
    ("a message is sent twice", 2, " came to ", |account| {
        let (to, letter) = sent(account)?;
        let letters = account.letters.get_mut(&to)?;
        let Letter { key, body } = letter;
        let key = key.map(|key| key.replacen("message 0", "message 1", 1));
        letters.push(Posted { number: letters.last()?.number + 1, letter: Letter { key, body } });
        Some(())
    }),
    ("a message is lost", 2, "never came", |account| {
        let (to, lost) = sent(account)?;
        let letter = account.letters.get_mut(&to)?.iter_mut().find(|posted| posted.letter == lost)?;
        letter.letter.key = None;
        Some(())
    }),
    ("a map is given the results of its children in another order", 2, "has ended with", |account| {
        account.log.iter_mut().find_map(|line| {
            let LogEvent::Gathered { children, .. } = &mut line.what else { return None };
            let one = children.iter().position(|child| child.result.is_ok())?;
            let other = children.iter().position(|child| child.result != children[one].result)?;
            let run = children[one].run.clone();
            children[one].run = std::mem::replace(&mut children[other].run, run);
            Some(())
        })
    }),
    ("a map decides otherwise", 3, " decided ", |account| {
        let gathers = |account: &Account<'_>, map: &By| {
            account.log.iter().any(|line| matches!(&line.what, LogEvent::Gathered { by, .. } if by == map))
        };
        let decided = root(account)?.iter().position(|record| matches!(record.entry, Entry::Decided { .. }))?;
        let Entry::Decided { by, .. } = root(account)?[decided].entry.clone() else { return None };
        let (_, done) = first(account, |outcome| outcome.by() == by)?;
        if !gathers(account, &by) || done.failed.is_some() {
            return None;
        }
        let Entry::Decided { reached, .. } = &mut root(account)?[decided].entry else { return None };
        *reached = !*reached;
        Some(())
    }),
    ("a run fails where its table has a route", 1, "has a route for that", |account| {
        let (nth, outcome) = first(account, |outcome| outcome.failed.is_some())?;
        let records = root(account)?;
        records.truncate(nth + 1);
        let failure = outcome.failed.map(|failure| *failure);
        records[nth].entry = Entry::Ended { output: None, failure, cancelled: false };
        Some(())
    }),
];

/// The records of each child.
fn children<'a>(account: &'a mut Account<'_>) -> impl Iterator<Item = &'a mut Vec<Record>> {
    let root = account.ended.history.root.clone();
    account.records.iter_mut().filter(move |(run, _)| **run != root).map(|(_, records)| records)
}

fn is_finish(entry: &&mut Entry) -> bool {
    entry.ending() == Some("finished")
}

/// A child with records that a map gathered in the execution that started it.
fn gathered(account: &Account<'_>, is: fn(&NodeRow, &Gathered) -> bool) -> Option<RunId> {
    account.log.iter().find_map(|line| {
        let LogEvent::Gathered { run, by, children } = &line.what else { return None };
        let net = account.net(run);
        let row = net.row(net.node_named(&by.node)?);
        let is_own = |child: &&Gathered| match account.records.get(&child.run).map(|records| &records[0].entry) {
            Some(Entry::Started { origin: Some(Origin::Child { visit, .. }), .. }) => *visit == by.visit,
            _ => false,
        };
        children.iter().filter(is_own).find(|child| is(row, child)).map(|child| child.run.clone())
    })
}

/// Says that an earlier execution than the first has started a child.
fn begin_earlier(account: &mut Account<'_>, child: &RunId) -> Option<()> {
    match &mut account.records.get_mut(child)?.first_mut()?.entry {
        Entry::Started { origin: Some(Origin::Child { visit, .. }), .. } => {
            *visit = 0;
            Some(())
        }
        _ => None,
    }
}

/// Lets an exclusive execution of the root begin in the midst of another of the same executor: right after a line that
/// is `during` it.
fn together(account: &mut Account<'_>, is: fn(&NodeRow) -> bool, during: impl Fn(&Logged, &By) -> bool) -> Option<()> {
    let root = account.ended.history.root.clone();
    let row = |by: &By| {
        let net = account.net(&root);
        net.node_named(&by.node).map(|node| net.row(node)).filter(|row| row.exclusive.is_some())
    };
    let begun = |line: &Logged| match &line.what {
        LogEvent::Begun { run, by, .. } if *run == root => row(by).map(|row| (line.executor, by.clone(), row)),
        _ => None,
    };
    let log = account.log.iter().enumerate();
    let places: Vec<_> = log.filter_map(|(nth, line)| Some((nth, begun(line)?))).collect();
    let (from, to) = places.iter().zip(places.iter().skip(1)).find_map(|((one, begun), (next, other))| {
        let is_pair = begun.0 == other.0 && begun.1 != other.1 && is(begun.2);
        let to = account.log[*one..*next].iter().position(|line| during(line, &begun.1))?;
        is_pair.then_some((*next, one + to + 1))
    })?;
    account.log[to..=from].rotate_right(1);
    Some(())
}

/// A message that a node has sent, and to which run.
fn sent(account: &Account<'_>) -> Option<(RunId, Letter)> {
    let letters =
        account.letters.iter().flat_map(|(to, letters)| letters.iter().map(move |posted| (to, &posted.letter)));
    let is_sent = |letter: &Letter| letter.key.as_ref().is_some_and(|key| key.contains(" of run "));
    letters.filter(|(_, letter)| is_sent(letter)).map(|(to, letter)| (to.clone(), letter.clone())).next()
}
