//! From the derive input to the model. What makes the struct no graph at all is reported here; everything else that is
//! wrong leaves a model behind, on which the rules go on.

use crate::ast::{Attributes, EXIT, GraphModel, Node};
use crate::attr::{self, GraphAttributes};
use crate::errors::Errors;
use crate::{naming, spelling, suggest};
use interlocking_core::table::NodeKind;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Field, Fields, Ident, Type};

/// The names that no module of markers may have.
const RESERVED_MODULES: [&str; 6] = ["crate", "self", "super", "std", "core", "alloc"];

const KINDS: [(&str, NodeKind); 4] = [
    ("LLMNode", NodeKind::Llm),
    ("LogicNode", NodeKind::Logic),
    ("ForkNode", NodeKind::Fork),
    ("JoinNode", NodeKind::Join),
];

/// Reads the struct; `None` if it cannot be a graph, which is then reported.
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
    let mut complete = true;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("graph")) {
        complete &= attr::graph(attribute, &mut attributes, errors);
    }
    if attributes.output.is_none() && complete {
        errors.over(&input.ident, "a graph ends with a value: say its type, `#[graph(output = Type)]`");
    }
    let module = match attributes.module {
        Some(module) => module.value,
        None => naming::module(&input.ident),
    };
    check_module(input, &module, errors);
    let nodes = fields.iter().filter_map(|field| node(field, errors)).collect();
    Some(GraphModel { input, module, output: attributes.output.map(|output| output.value), nodes })
}

fn check_module(input: &DeriveInput, module: &Ident, errors: &Errors) {
    let name = module.unraw().to_string();
    if RESERVED_MODULES.contains(&name.as_str()) {
        let message = format!("the nodes' module cannot be called `{name}`: choose another, `#[graph(module = name)]`");
        errors.over(module, message);
    } else if input.ident.unraw() == name {
        let message = format!(
            "the nodes' module would be called `{name}`, as the struct is: `#[graph(module = name)]` gives it another name"
        );
        errors.over(module, message);
    }
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
    let incomplete = match rows.next() {
        Some(row) => !attr::node(row, &mut attributes, errors),
        None => {
            let message = format!(
                "field `{name}` has no row: every field of a graph is a node, `#[node(input = Type, goto(exit))]`"
            );
            errors.over(ident, message);
            true
        }
    };
    for row in rows {
        errors.over(row, format_args!("node `{name}` has two rows: put everything into one `#[node(…)]`"));
    }
    Some(Node { field, ident, name, kind: kind(&field.ty, errors), attributes, incomplete })
}

/// The kind that a field's type stands for, by its last name.
fn kind(ty: &Type, errors: &Errors) -> Option<NodeKind> {
    let mut plain = ty;
    while let Type::Group(group) = plain {
        plain = &group.elem;
    }
    let name = match plain {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    };
    let name = name.unwrap_or_default();
    let known = KINDS.iter().find(|(kind, _)| *kind == name);
    if known.is_none() {
        let spelled = spelling::of(ty);
        let message = match suggest::nearest(&name, KINDS.iter().map(|(kind, _)| *kind)) {
            Some(near) => format!("`{name}` is no node kind: did you mean `{near}`?"),
            None => format!(
                "`{spelled}` is no node kind: wrap the handler, `LLMNode<{spelled}>`, `LogicNode<…>`, `ForkNode<…>` or `JoinNode<…>`"
            ),
        };
        errors.over(ty, message);
    }
    known.map(|(_, kind)| *kind)
}
