//! Compiling a table to a net.

use super::names::{Names, narrow};
use super::{
    Alternative, Consumer, Features, Intake, Net, NetError, NetNode, PlaceIndex, Region, Shortcut, Times, rules,
};
use crate::table::{NodeKind, NodeRow, Table, Visits};

impl Net {
    /// Compiles `table`.
    ///
    /// # Errors
    ///
    /// [`NetError`] where a name in the table is unknown or ambiguous, there is not exactly one entry, a join has no
    /// slots or another node has some, or a row has an attribute that its kind does not allow. A table that
    /// `#[derive(Graph)]` wrote has none of these errors.
    pub fn new(table: Table) -> Result<Self, NetError> {
        let mut names = Names::of(&table)?;
        rules::kinds(&names)?;
        let memory_groups: Vec<String> = table.memory_groups().into_iter().map(str::to_owned).collect();
        let mut alternatives: Vec<Alternative> = Vec::new();
        let mut budgeted_edges = 0;
        let mut nodes = Vec::with_capacity(table.nodes.len());
        for (index, row) in table.nodes.iter().enumerate() {
            let source = narrow(index)?;
            let start = narrow(alternatives.len())?;
            for goto in &row.goto {
                alternatives.push(names.alternative(row, source, goto)?);
            }
            if let Some(fork) = &row.fork {
                let branches = fork.branches.iter().map(|targets| {
                    targets.iter().map(|target| names.place(row, target)).collect::<Result<Vec<_>, _>>()
                });
                let branches = branches.collect::<Result<Vec<_>, _>>()?;
                let cancels = names.region(row, &fork.cancels)?;
                let only = only(&branches);
                let (times, instead_of) = (None, None);
                alternatives.push(Alternative { source, branches, only, cancels, plain: false, times, instead_of });
            }
            let [mut exhausted, mut timed_out, mut failed] = [None; 3];
            let routes =
                [(&row.exhausted, &mut exhausted), (&row.timed_out, &mut timed_out), (&row.failed, &mut failed)];
            for (goto, index) in routes {
                if let Some(goto) = goto {
                    *index = Some(narrow(alternatives.len())?);
                    alternatives.push(names.alternative(row, source, goto)?);
                }
            }
            for (nth, goto) in row.goto.iter().enumerate() {
                let Some(limit) = goto.times else { continue };
                let edge = narrow(usize::from(start) + nth)?;
                let mut exhausted = None;
                if let Some(route) = &goto.exhausted {
                    exhausted = Some(narrow(alternatives.len())?);
                    let route = names.alternative(row, source, route)?;
                    alternatives.push(Alternative { plain: false, instead_of: Some(edge), ..route });
                }
                let counter = narrow(budgeted_edges)?;
                alternatives[usize::from(edge)].times = Some(Times { limit, exhausted, counter });
                budgeted_edges += 1;
            }
            let memory = row.memory.as_ref().and_then(|memory| memory_groups.iter().position(|g| *g == memory.group));
            let quorum = names.join_quorum(row, index)?;
            nodes.push(NetNode {
                first_place: names.first[index],
                place_count: narrow(row.slots.len().max(1))?,
                is_join: row.kind == NodeKind::Join,
                quorum,
                visits: match row.visits {
                    Some(Visits::AtMost(limit)) => limit,
                    Some(Visits::Unbounded) | None => u32::MAX,
                },
                attempts: row.attempts,
                timeout: row.timeout(),
                works: row.workspace.is_some(),
                read_only: row.read_only,
                guarded: row.workspace.is_some() || row.exclusive.is_some(),
                exhausted,
                timed_out,
                failed,
                memory: memory.map(narrow).transpose()?,
                alternatives: start..narrow(alternatives.len())?,
            });
        }
        let of_quorums = nodes.iter().filter_map(|row: &NetNode| Some(&row.quorum.as_ref()?.clears));
        let regions = alternatives.iter().filter_map(|found: &Alternative| found.cancels.as_ref());
        let regions: Vec<_> = regions.chain(of_quorums).collect();
        for row in nodes.iter().filter(|row| row.is_join) {
            let partly = |region: &&Region| row.places().any(|p| region.places.contains(p));
            for place in row.places() {
                names.places[place].kept |= regions.iter().copied().filter(partly).any(|r| !r.places.contains(place));
            }
        }
        let shortcuts =
            alternatives.iter().map(|alternative| Shortcut::of(alternative, &nodes, &names.places)).collect();
        let plain = alternatives.iter().map(|alternative| {
            let place = alternative.branches.first().and_then(|branch| branch.first());
            place.filter(|_| alternative.plain).map(|&place| (alternative.source, place))
        });
        let plain = plain.collect();
        let consumers = names.places.iter().map(Consumer::of).collect();
        let intakes = nodes.iter().map(Intake::of).collect();
        let quorum_joins =
            (0..).zip(&nodes).filter(|(_, node)| node.quorum.is_some()).map(|(index, _)| index).collect();
        let entry = names.first[table.nodes.iter().position(|row| row.entry).unwrap_or_default()];
        let Names { places, .. } = names;
        let any = |has: fn(&NodeRow) -> bool| table.nodes.iter().any(has);
        let features = Features {
            prompts: any(NodeRow::is_prompted),
            maps: any(|row| matches!(row.kind, NodeKind::Map | NodeKind::Graph)),
            observes: any(|row| row.kind == NodeKind::Observer),
            reports: any(|row| row.report.is_some()),
            workspaces: any(|row| row.workspace.is_some()),
            exclusive: any(|row| row.exclusive.is_some()),
            guarded: any(|row| row.workspace.is_some() || row.exclusive.is_some()),
            isolation: any(|row| row.isolation.is_some()),
            timeouts: any(|row| row.timeout().is_some()),
            budgeted_edges,
            kept: places.iter().rposition(|place| place.kept).map_or(0, |last| last + 1),
        };
        Ok(Self {
            nodes,
            places,
            alternatives,
            shortcuts,
            plain,
            consumers,
            intakes,
            quorum_joins,
            memory_groups,
            entry,
            features,
            table,
        })
    }
}

/// The place of each branch, if no branch chooses among several; otherwise empty.
fn only(branches: &[Vec<PlaceIndex>]) -> Vec<PlaceIndex> {
    let only = |branch: &Vec<PlaceIndex>| if let [place] = branch[..] { Some(place) } else { None };
    branches.iter().map(only).collect::<Option<_>>().unwrap_or_default()
}
