//! The struct as a graph: the parsed attributes, each with the tokens it was read from.
//!
//! A part that did not parse is missing here, and the node lists it as [unparsed](Unparsed): a rule then reports
//! nothing where the missing part could be what the rule requires.

mod attributes;
mod unparsed;

pub(crate) use self::attributes::{Attributes, Cancel, Fork, Given, Group, Memory, Quorum, Slot, Target, Visits};
pub(crate) use self::unparsed::Unparsed;
use crate::naming;
use interlocking_core::table::{Isolation, NodeKind};
use syn::ext::IdentExt;
use syn::{DeriveInput, Field, Ident, Type};

/// The reserved name of the place where a run ends.
pub(crate) const EXIT: &str = interlocking_core::table::EXIT;

/// A struct with `#[derive(Graph)]`.
pub(crate) struct GraphModel<'a> {
    pub(crate) input: &'a DeriveInput,
    /// The module of markers.
    pub(crate) module: Ident,
    /// Whether the module cannot have that name. This is reported already.
    pub(crate) module_clashes: bool,
    pub(crate) output: Option<Type>,
    /// How many markings the check for soundness may visit.
    pub(crate) markings: Option<u32>,
    pub(crate) nodes: Vec<Node<'a>>,
}

/// A field.
pub(crate) struct Node<'a> {
    pub(crate) field: &'a Field,
    pub(crate) ident: &'a Ident,
    /// The field's name without `r#`.
    pub(crate) name: String,
    /// The kind, from the field's type; `None` where the type is not a node kind, which is reported already.
    pub(crate) kind: Option<NodeKind>,
    pub(crate) attributes: Attributes,
    /// The parts that did not parse, which are reported already.
    pub(crate) unparsed: Unparsed,
}

/// Where a target leads, by position in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Exit,
    Node(usize),
    Slot(usize, usize),
}

/// Why a target cannot be resolved.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unresolved {
    /// No field has that name.
    NoNode,
    /// The node of this index is no join, or it is the exit.
    NoJoin,
    /// The join of this index has no such slot.
    NoSlot(usize),
    /// The source feeds no slot of the join of this index.
    NoSource(usize),
    /// The source feeds several slots of the join of this index.
    SeveralSlots(usize, Vec<usize>),
    /// The node of this index takes no token of the run.
    Beside(usize),
    /// The target's kind or the join's slots did not parse, which is reported already.
    Unparsed,
}

impl GraphModel<'_> {
    /// The node called `name`.
    pub(crate) fn find(&self, name: &Ident) -> Option<usize> {
        let name = name.unraw().to_string();
        self.nodes.iter().position(|node| node.name == name)
    }

    /// Whether no earlier field has the same name.
    pub(crate) fn is_first_of_its_name(&self, index: usize) -> bool {
        !self.nodes[..index].iter().any(|other| other.name == self.nodes[index].name)
    }

    /// The place that `target` means in the row of the node at `source`.
    pub(crate) fn resolve(&self, source: usize, target: &Target) -> Result<Place, Unresolved> {
        if target.node == EXIT {
            return if target.slot.is_none() { Ok(Place::Exit) } else { Err(Unresolved::NoJoin) };
        }
        let index = self.find(&target.node).ok_or(Unresolved::NoNode)?;
        let node = &self.nodes[index];
        let Some(kind) = node.kind else { return Err(Unresolved::Unparsed) };
        if node.is_beside() {
            return Err(Unresolved::Beside(index));
        }
        if kind != NodeKind::Join {
            return if target.slot.is_none() { Ok(Place::Node(index)) } else { Err(Unresolved::NoJoin) };
        }
        let slots = node.slots();
        if let Some(name) = &target.slot {
            let found = slots.iter().position(|slot| slot.name.unraw() == name.unraw());
            let unresolved =
                if node.unparsed.may_include("join") { Unresolved::Unparsed } else { Unresolved::NoSlot(index) };
            return found.map(|slot| Place::Slot(index, slot)).ok_or(unresolved);
        }
        let name = &self.nodes[source].name;
        let feeds = |slot: &Slot| slot.sources.iter().any(|found| found.unraw() == name);
        let fed: Vec<usize> = (0..slots.len()).filter(|&slot| feeds(&slots[slot])).collect();
        match fed[..] {
            [slot, ref more @ ..] if more.iter().all(|&other| slots[other].name() == slots[slot].name()) => {
                Ok(Place::Slot(index, slot))
            }
            [] if node.unparsed.may_include("join") || slots.is_empty() => Err(Unresolved::Unparsed),
            [] => Err(Unresolved::NoSource(index)),
            _ => Err(Unresolved::SeveralSlots(index, fed)),
        }
    }
}

impl<'a> GraphModel<'a> {
    /// The nodes whose agents work in the workspace of the node at `index`, itself among them.
    pub(crate) fn agents_beside(&self, index: usize) -> impl Iterator<Item = &Node<'a>> {
        let workspace = self.nodes[index].workspace();
        let works_there = move |node: &&Node<'_>| node.workspace() == workspace && node.asks_an_agent();
        self.nodes.iter().filter(move |_| workspace.is_some()).filter(works_there)
    }

    /// The isolation of the agent of the node at `index`: as declared by any node with an agent in the same workspace,
    /// or `clone` if one of these has a `blind_to`.
    pub(crate) fn isolation(&self, index: usize) -> Option<Isolation> {
        if !self.nodes[index].asks_an_agent() {
            return None;
        }
        let said = self.agents_beside(index).find_map(|node| node.attributes.isolation.as_ref());
        let is_blind = || self.agents_beside(index).any(|node| !node.blind_to().is_empty());
        said.map(|said| said.value).or_else(|| is_blind().then_some(Isolation::Clone))
    }
}

impl Node<'_> {
    /// The slots of a join; none for every other kind.
    pub(crate) fn slots(&self) -> &[Slot] {
        self.attributes.slots.as_ref().map_or(&[], |slots| &slots.value)
    }

    /// The targets of all `goto(…)` groups with their group, in table order.
    pub(crate) fn gotos(&self) -> impl Iterator<Item = (&Target, &Group)> {
        let groups = self.attributes.goto.iter().map(|group| &group.value);
        groups.flat_map(|group| group.targets.iter().map(move |target| (target, group)))
    }

    /// The routes that the run takes without the handler, in table order: for exhausted bounds, for a timeout, for a
    /// failure, and for the exhausted budgets of edges.
    pub(crate) fn routes(&self) -> impl Iterator<Item = &Group> {
        let attributes = &self.attributes;
        let own = attributes.exhausted.iter().chain(&attributes.timed_out).chain(&attributes.failed);
        let of_edges = attributes.goto.iter().filter_map(|group| group.value.exhausted.as_deref());
        own.chain(of_edges).map(|route| &route.value)
    }

    /// The branches of the fork.
    pub(crate) fn branches(&self) -> &[Vec<Target>] {
        self.attributes.fork.as_ref().map_or(&[], |fork| &fork.value.branches)
    }

    /// The target of the exhausted route.
    pub(crate) fn exhausted(&self) -> Option<&Target> {
        self.attributes.exhausted.as_ref()?.value.targets.first()
    }

    /// Every target in the row, in table order: gotos, fork branches, and the routes that the run takes without the
    /// handler.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.gotos()
            .map(|(target, _)| target)
            .chain(self.branches().iter().flatten())
            .chain(self.routes().flat_map(|route| &route.targets))
    }

    /// Every `cancels(…)` list in the row.
    pub(crate) fn cancels(&self) -> impl Iterator<Item = &[Cancel]> {
        let groups = self.attributes.goto.iter().map(|group| &group.value).chain(self.routes());
        let fork = self.attributes.fork.iter().map(|fork| &fork.value.cancels);
        let own = self.attributes.cancels.iter().map(|cancels| &cancels.value);
        groups.map(|group| &group.cancels).chain(fork).chain(own).map(Vec::as_slice)
    }

    /// Whether it takes no token of the run, but is spawned, observes, or handles messages.
    pub(crate) fn is_beside(&self) -> bool {
        matches!(self.kind, Some(NodeKind::Advisory | NodeKind::Observer | NodeKind::Event))
    }

    /// The name of the type for what decides when a map stops waiting for its children.
    pub(crate) fn quorum_marker(&self) -> Ident {
        let is_judged = self.attributes.quorum.as_ref().is_some_and(|quorum| quorum.value == Quorum::Enough);
        Ident::new(if is_judged { "Judged" } else { "Counted" }, self.ident.span())
    }

    /// The child graph of a map or a graph node.
    pub(crate) fn child_graph(&self) -> Option<&Type> {
        self.attributes.map.as_ref().or(self.attributes.graph.as_ref()).map(|child| &child.value)
    }

    /// Whether it has no handler: a graph node that holds the child graph itself, or an LLM node that holds nothing.
    pub(crate) fn passes_on(&self) -> bool {
        match self.kind {
            Some(NodeKind::Graph) => {
                let held = naming::argument(&self.field.ty);
                self.attributes
                    .graph
                    .as_ref()
                    .zip(held)
                    .is_some_and(|(child, held)| naming::are_alike(&child.value, held))
            }
            Some(NodeKind::Llm) => naming::has_no_arguments(&self.field.ty),
            _ => false,
        }
    }

    /// The type of an LLM node's prompt where its row names none: its input.
    pub(crate) fn input_as_prompt(&self) -> Option<&Type> {
        let is_asked = self.kind == Some(NodeKind::Llm) && self.attributes.prompt.is_none();
        self.input().filter(|_| is_asked && !self.unparsed.may_include("prompt"))
    }

    /// Whether it reports at the exit.
    pub(crate) fn reports(&self) -> bool {
        matches!(self.kind, Some(NodeKind::Advisory | NodeKind::Observer))
    }

    /// The type it takes, where the table has one: the input, or an event node's message.
    pub(crate) fn input(&self) -> Option<&Type> {
        let input = if self.kind == Some(NodeKind::Event) { &self.attributes.on } else { &self.attributes.input };
        input.as_ref().map(|input| &input.value)
    }

    /// The nodes that it may start beside the graph.
    pub(crate) fn spawned(&self) -> &[Ident] {
        self.attributes.spawn.as_ref().map_or(&[], |spawn| &spawn.value)
    }

    /// The maps to which it may add items.
    pub(crate) fn adds_to(&self) -> &[Ident] {
        self.attributes.adds_to.as_ref().map_or(&[], |maps| &maps.value)
    }

    /// The nodes whose workspaces its agent must not be able to read.
    pub(crate) fn blind_to(&self) -> &[Ident] {
        self.attributes.blind_to.as_ref().map_or(&[], |blind_to| &blind_to.value)
    }

    /// The name of its workspace.
    pub(crate) fn workspace(&self) -> Option<&str> {
        self.attributes.workspace.as_ref().map(|workspace| workspace.value.as_str())
    }

    /// Whether an agent works in it: always in an LLM node, and in an advisory node or event node with a `prompt`, an
    /// `output` or an `agent`.
    pub(crate) fn asks_an_agent(&self) -> bool {
        let attributes = &self.attributes;
        let says_how = attributes.prompt.is_some() || attributes.output.is_some() || attributes.agent.is_some();
        match self.kind {
            Some(NodeKind::Llm) => true,
            Some(NodeKind::Advisory | NodeKind::Event) => says_how,
            _ => false,
        }
    }

    /// The nodes that it observes.
    pub(crate) fn observed(&self) -> &[Ident] {
        self.attributes.observes.as_ref().map_or(&[], |observes| &observes.value)
    }

    /// The type of its memory. An observer's report is its memory.
    pub(crate) fn memory_type(&self) -> Option<&Type> {
        if self.kind == Some(NodeKind::Observer) {
            return self.attributes.report.as_ref().map(|report| &report.value);
        }
        self.attributes.memory.as_ref().map(|memory| &memory.value.ty)
    }

    /// The name of its memory group.
    pub(crate) fn memory_group(&self) -> Option<String> {
        if self.kind == Some(NodeKind::Observer) {
            return self.attributes.report.as_ref().map(|_| self.name.clone());
        }
        let memory = &self.attributes.memory.as_ref()?.value;
        Some(memory.group.as_ref().map_or_else(|| self.name.clone(), |group| group.unraw().to_string()))
    }
}
