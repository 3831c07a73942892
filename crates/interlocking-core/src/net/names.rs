//! Lookup of the names in a table.

use super::rules::takes_tokens;
use super::{Alternative, NetError, NetPlace, NodeIndex, PlaceIndex, Region};
use crate::bits::Bits;
use crate::table::{EXIT, Goto, NodeKind, NodeRow, Table, Target};
use std::collections::HashMap;

/// The names of one table, with the indices of their nodes and places.
pub(super) struct Names<'t> {
    pub(super) table: &'t Table,
    /// Node by name.
    nodes: HashMap<&'t str, usize>,
    /// First place by node.
    pub(super) first: Vec<PlaceIndex>,
    /// Place by join and slot.
    slots: HashMap<(usize, &'t str), usize>,
    /// By join and source, the places of the slots that name the source.
    slots_by_source: HashMap<(usize, &'t str), Vec<usize>>,
    pub(super) places: Vec<NetPlace>,
}

impl<'t> Names<'t> {
    pub(super) fn of(table: &'t Table) -> Result<Self, NetError> {
        let entries: Vec<_> = table.nodes.iter().filter(|row| row.entry).map(|row| row.name.clone()).collect();
        if entries.len() != 1 {
            return Err(NetError::Entry { found: entries });
        }
        let mut names = Self {
            table,
            nodes: HashMap::new(),
            first: Vec::new(),
            slots: HashMap::new(),
            slots_by_source: HashMap::new(),
            places: Vec::new(),
        };
        for (index, row) in table.nodes.iter().enumerate() {
            if row.name == EXIT || names.nodes.insert(&row.name, index).is_some() {
                return Err(NetError::Duplicate { name: row.name.clone() });
            }
            check_name(row, &row.name)?;
            if row.slots.is_empty() == (row.kind == NodeKind::Join) {
                return Err(NetError::Slots { node: row.name.clone() });
            }
            let node = narrow(index)?;
            names.first.push(narrow(names.places.len())?);
            if row.kind != NodeKind::Join {
                names.places.push(NetPlace {
                    node,
                    name: row.name.clone(),
                    latched: false,
                    optional: false,
                    kept: false,
                });
            }
            for slot in &row.slots {
                check_name(row, &slot.name)?;
                let name = format!("{}.{}", row.name, slot.name);
                let place = names.places.len();
                if names.slots.insert((index, &slot.name), place).is_some() {
                    return Err(NetError::Duplicate { name });
                }
                for source in &slot.sources {
                    names.slots_by_source.entry((index, source)).or_default().push(place);
                }
                names.places.push(NetPlace {
                    node,
                    name,
                    latched: slot.latched,
                    optional: slot.optional,
                    kept: slot.latched,
                });
            }
        }
        names.places.push(NetPlace {
            node: NodeIndex::MAX,
            name: EXIT.into(),
            latched: false,
            optional: false,
            kept: false,
        });
        narrow(names.places.len())?;
        Ok(names)
    }

    pub(super) fn row(&self, name: &str) -> Option<&'t NodeRow> {
        self.nodes.get(name).map(|&index| &self.table.nodes[index])
    }

    pub(super) fn place(&self, row: &NodeRow, target: &Target) -> Result<PlaceIndex, NetError> {
        let unknown = || NetError::Unknown { node: row.name.clone(), name: target.to_string() };
        if target.is_exit() && target.slot.is_none() {
            return narrow(self.places.len() - 1);
        }
        let &index = self.nodes.get(target.node.as_str()).ok_or_else(unknown)?;
        let candidates = self.slots_by_source.get(&(index, row.name.as_str())).map_or(&[][..], Vec::as_slice);
        let place = match &target.slot {
            Some(slot) => {
                let &place = self.slots.get(&(index, slot.as_str())).ok_or_else(unknown)?;
                if !candidates.contains(&place) {
                    let reason = format!("slot `{target}` does not name it as a source: name it there");
                    return Err(NetError::Unfit { node: row.name.clone(), reason });
                }
                place
            }
            None if self.table.nodes[index].kind == NodeKind::Join => *candidates
                .first()
                .ok_or_else(|| NetError::NoSlot { node: row.name.clone(), join: target.node.clone() })?,
            None => usize::from(self.first[index]),
        };
        narrow(place)
    }

    pub(super) fn alternative(&self, row: &NodeRow, source: NodeIndex, goto: &Goto) -> Result<Alternative, NetError> {
        let place = self.place(row, &goto.to)?;
        let cancels = self.region(row, &goto.cancels)?;
        let counts = self.row(&goto.to.node).is_some_and(|row| row.quorum.is_some() && row.kind == NodeKind::Join);
        let plain = cancels.is_none() && !goto.to.is_exit() && goto.times.is_none() && !counts;
        let (branches, only) = (vec![vec![place]], vec![place]);
        Ok(Alternative { source, branches, only, cancels, plain, times: None, instead_of: None })
    }

    pub(super) fn region(&self, row: &NodeRow, names: &[String]) -> Result<Option<Region>, NetError> {
        if names.is_empty() {
            return Ok(None);
        }
        let exit = self.places.len() - 1;
        let mut region = Region { places: Bits::new(exit + 1), nodes: Bits::new(self.first.len()), everything: false };
        for name in names {
            region.everything |= name == "*";
            for place in self.region_of(row, name)? {
                region.places.insert(place);
                region.nodes.insert(usize::from(self.places[place].node));
            }
        }
        Ok(Some(region))
    }

    /// The places that one name of a region denotes.
    fn region_of(&self, row: &NodeRow, name: &str) -> Result<std::ops::Range<usize>, NetError> {
        let exit = self.places.len() - 1;
        if name == "*" {
            return Ok(0..exit);
        }
        let named = Target::from(name);
        let index = self.nodes.get(named.node.as_str()).copied();
        if named.slot.is_some() && index.is_some_and(|index| self.table.nodes[index].quorum.is_some()) {
            let join = &named.node;
            let reason = format!("join `{join}` has a quorum, so it is cleared whole: `{join}` instead of `{name}`");
            return Err(NetError::Unfit { node: row.name.clone(), reason });
        }
        let places = index.and_then(|index| match &named.slot {
            Some(slot) => self.slots.get(&(index, slot.as_str())).map(|&place| place..place + 1),
            None => Some(usize::from(self.first[index])..self.first.get(index + 1).map_or(exit, |&next| next.into())),
        });
        if index.is_some_and(|index| !takes_tokens(self.table.nodes[index].kind)) {
            let reason = format!("`{name}` holds no token of the run, so nothing of it is cleared: leave it out");
            return Err(NetError::Unfit { node: row.name.clone(), reason });
        }
        places.ok_or_else(|| NetError::Unknown { node: row.name.clone(), name: name.to_owned() })
    }
}

/// Checks that a name is one word: regions and targets contain names in the forms `join.slot` and `*`.
fn check_name(row: &NodeRow, name: &str) -> Result<(), NetError> {
    let splits = |letter: char| {
        letter.is_whitespace() || letter.is_control() || (letter.is_ascii_punctuation() && letter != '_')
    };
    if name.is_empty() || name.contains(splits) {
        let reason = format!("`{name}` is no name: one word of letters, digits and `_` is");
        return Err(NetError::Unfit { node: row.name.clone(), reason });
    }
    Ok(())
}

pub(super) fn narrow(index: usize) -> Result<u16, NetError> {
    u16::try_from(index).map_err(|_| NetError::TooLarge { count: index })
}
