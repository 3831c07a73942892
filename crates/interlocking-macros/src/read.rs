//! Reads the model from the derive input. Errors that keep the struct from being a graph are reported here; with any
//! other error there is still a model, on which the rules continue.

use crate::ast::{Attributes, EXIT, GraphModel, Node, Unparsed};
use crate::attr::{self, GraphAttributes};
use crate::errors::Errors;
use crate::{naming, spelling, suggest};
use interlocking_core::table::NodeKind;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Field, Fields, Ident, Type};

/// The names that a module of markers must not have.
const RESERVED_MODULES: [&str; 6] = ["crate", "self", "super", "std", "core", "alloc"];

pub(crate) const KINDS: [(&str, NodeKind); 10] = [
    ("LLMNode", NodeKind::Llm),
    ("LogicNode", NodeKind::Logic),
    ("ForkNode", NodeKind::Fork),
    ("JoinNode", NodeKind::Join),
    ("MapNode", NodeKind::Map),
    ("GraphNode", NodeKind::Graph),
    ("HumanNode", NodeKind::Human),
    ("AdvisoryNode", NodeKind::Advisory),
    ("ObserverNode", NodeKind::Observer),
    ("EventNode", NodeKind::Event),
];

/// Reads the struct; `None` if it cannot be a graph, which is reported.
pub(crate) fn graph<'a>(input: &'a DeriveInput, errors: &Errors) -> Option<GraphModel<'a>> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            Fields::Unnamed(_) | Fields::Unit => {
                errors.over(&input.ident, "a graph is a struct with named fields: each field is a node");
                return None;
            }
        },
        Data::Enum(_) | Data::Union(_) => {
            errors.over(&input.ident, "a graph is a struct: each field is a node");
            return None;
        }
    };
    if !input.generics.params.is_empty() {
        errors.over(
            &input.generics.params,
            "a graph has no generics: its nodes' handlers may hold `Box<dyn …>` or `Arc<dyn …>`",
        );
        return None;
    }
    if let Some(clause) = &input.generics.where_clause {
        errors.over(clause, "a graph has no generics, so it needs no `where`");
        return None;
    }
    let mut attributes = GraphAttributes::default();
    let mut unparsed = Unparsed::default();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("graph")) {
        attr::graph(attribute, &mut attributes, &mut unparsed, errors);
    }
    if attributes.output.is_none() && !unparsed.may_include("output") {
        errors.over(&input.ident, "a graph ends with a value: say its type, `#[graph(output = Type)]`");
    }
    let module = match attributes.module {
        Some(module) => module.value,
        None => naming::module(&input.ident),
    };
    let module_clashes = module_clashes(input, &module, errors);
    let nodes = fields.iter().filter_map(|field| node(field, errors)).collect();
    let output = attributes.output.map(|output| output.value);
    if let Some(markings) = attributes.markings.as_ref().filter(|markings| markings.value == 0) {
        errors.at(markings.at, "with `markings = 0` the graph is never looked at: the least is 1");
    }
    let markings = attributes.markings.map(|markings| markings.value);
    Some(GraphModel { input, module, module_clashes, output, markings, nodes })
}

fn module_clashes(input: &DeriveInput, module: &Ident, errors: &Errors) -> bool {
    let name = module.unraw().to_string();
    let message = if RESERVED_MODULES.contains(&name.as_str()) {
        format!("the module of the nodes cannot be called `{name}`: `#[graph(module = name)]` gives it another name")
    } else if input.ident.unraw() == name {
        format!(
            "the module of the nodes would be called `{name}`, as the struct is: `#[graph(module = name)]` gives it another name"
        )
    } else {
        return false;
    };
    errors.over(module, message);
    true
}

fn node<'a>(field: &'a Field, errors: &Errors) -> Option<Node<'a>> {
    let ident = field.ident.as_ref()?;
    let name = ident.unraw().to_string();
    if name == EXIT || name == "entry" {
        let what = if name == EXIT { "where a run ends" } else { "the mark of the node where a run starts" };
        errors.over(ident, format_args!("`{name}` is {what}: call the node something else"));
    }
    let mut attributes = Attributes::default();
    let mut rows = field.attrs.iter().filter(|attribute| attribute.path().is_ident("node"));
    let mut unparsed = Unparsed::default();
    match rows.next() {
        Some(row) => attr::node(row, &mut attributes, &mut unparsed, errors),
        None => {
            let example = "#[node(input = Type, goto(exit))]";
            errors
                .over(ident, format_args!("field `{name}` has no row: every field of a graph is a node, `{example}`"));
            unparsed.add_everything();
        }
    }
    for row in rows {
        errors.over(row, format_args!("node `{name}` has two rows: put everything into one `#[node(…)]`"));
        attr::node(row, &mut attributes, &mut unparsed, errors);
    }
    Some(Node { field, ident, name, kind: kind(&field.ty, errors), attributes, unparsed })
}

/// The kind that a field's type stands for, by its last name.
fn kind(ty: &Type, errors: &Errors) -> Option<NodeKind> {
    let name = naming::last_name(ty).unwrap_or_default();
    let known = KINDS.iter().find(|(kind, _)| *kind == name);
    if known.is_none() {
        let spelled = spelling::of(ty);
        let message = match suggest::nearest(&name, KINDS.iter().map(|(kind, _)| *kind)) {
            Some(near) => format!("`{name}` is no node kind: did you mean `{near}`?"),
            None => {
                let others: Vec<String> = KINDS[1..].iter().map(|(kind, _)| format!("`{kind}<…>`")).collect();
                let others = others.join(", ");
                format!("`{spelled}` is no node kind: wrap the handler, `LLMNode<{spelled}>`, or one of {others}")
            }
        };
        errors.over(ty, message);
    }
    known.map(|(_, kind)| *kind)
}
