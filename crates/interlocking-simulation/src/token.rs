//! The tokens of simulated graphs: a place and a number.

use crate::graph::Simulated;
use crate::numbers::NOTHING;
use interlocking_core::frontier;
use interlocking_core::graph::{self, Graph};
use interlocking_core::net::PlaceIndex;
use interlocking_core::route::Step;
use interlocking_core::table::NodeKind;
use interlocking_runtime::observer::Observation;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// The place of a token that lies in no place.
pub(crate) const NO_PLACE: PlaceIndex = PlaceIndex::MAX;

/// A token of the graph at `LEVEL`: 0 is the run, 1 are its children.
#[derive(Clone, Debug)]
pub(crate) struct Token<const LEVEL: usize> {
    pub(crate) place: PlaceIndex,
    pub(crate) load: Load<LEVEL>,
}

/// What a token carries.
#[derive(Clone, Debug)]
pub(crate) enum Load<const LEVEL: usize> {
    Number(u64),
    /// The input of a join, slot by slot.
    Set(Vec<u64>),
    /// The outcome that an observer gets.
    Seen(Box<Observation>),
    /// The step that a handler takes, wrapped in a token.
    Leaving(Box<Step<Token<LEVEL>>>),
}

impl<const LEVEL: usize> Token<LEVEL> {
    pub(crate) fn new(place: PlaceIndex, number: u64) -> Self {
        Self { place, load: Load::Number(number) }
    }

    pub(crate) fn leaving(step: Step<Self>) -> Self {
        Self { place: NO_PLACE, load: Load::Leaving(Box::new(step)) }
    }

    /// Its numbers: one, or one per slot.
    pub(crate) fn numbers(&self) -> &[u64] {
        match &self.load {
            Load::Number(number) => std::slice::from_ref(number),
            Load::Set(numbers) => numbers,
            Load::Seen(_) | Load::Leaving(_) => &[],
        }
    }
}

impl<const LEVEL: usize> frontier::Payload for Token<LEVEL> {
    fn place(&self) -> PlaceIndex {
        self.place
    }

    fn is_value(&self) -> bool {
        !matches!(self.load, Load::Number(NOTHING))
    }

    fn copy(&self) -> Option<Self> {
        Simulated::<LEVEL>::net().place(self.place).kept.then(|| self.clone())
    }
}

impl<const LEVEL: usize> graph::Token for Token<LEVEL> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.load {
            Load::Number(NOTHING) => serializer.serialize_none(),
            Load::Number(number) => serializer.serialize_u64(*number),
            _ => Err(ser::Error::custom("only a number is stored")),
        }
    }

    fn deserialize<'de, D: Deserializer<'de>>(place: PlaceIndex, deserializer: D) -> Result<Self, D::Error> {
        let net = Simulated::<LEVEL>::net();
        let Some(row) = net.places().get(usize::from(place)) else {
            return Err(de::Error::custom("there is no such place"));
        };
        let node = net.table().nodes.get(usize::from(row.node));
        let load = if node.is_some_and(|node| node.kind == NodeKind::Observer) {
            Load::Seen(Box::new(Observation::deserialize(deserializer)?))
        } else if row.optional {
            Load::Number(Option::deserialize(deserializer)?.unwrap_or(NOTHING))
        } else {
            Load::Number(u64::deserialize(deserializer)?)
        };
        Ok(Self { place, load })
    }
}

// The whole token is the payload of an edge, as the edge knows no place. It is never stored in this form.
impl<const LEVEL: usize> Serialize for Token<LEVEL> {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom("an edge's payload is not stored"))
    }
}

impl<'de, const LEVEL: usize> Deserialize<'de> for Token<LEVEL> {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom("an edge's payload is not stored"))
    }
}
