//! Nodes without a handler: a graph node that holds its child graph, an LLM node that holds nothing.

use crate::ast::GraphModel;
use crate::errors::Errors;
use interlocking_core::table::NodeKind;

/// A node without a handler has one target: with several, a handler must choose.
pub(super) fn a_handler_chooses(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.passes_on() && !node.unparsed.may_include_edges()) {
        let is_one = node.gotos().count() == 1 && node.attributes.fork.is_none();
        if !is_one && (node.attributes.fork.is_some() || node.gotos().next().is_some()) {
            let (module, name) = (&graph.module, node.ident);
            let (who, kind, handler) = match (node.kind, node.attributes.prompt.is_some()) {
                (Some(NodeKind::Llm), true) => ("an agent's answer", "LLMNode", "LLMHandler"),
                (Some(NodeKind::Llm), false) => ("an agent's answer", "LLMNode", "ReplyHandler"),
                _ => ("a child graph", "GraphNode", "GraphHandler"),
            };
            let message = format!(
                "`{name}` has several ways on, and {who} does not choose: hold a handler, `{kind}<Handler>` with `impl {handler}<{module}::{name}> for Handler`"
            );
            errors.over(&node.field.ty, message);
        }
    }
}

/// A prompt other than the input needs a handler, which makes the prompt from the input.
pub(super) fn a_handler_makes_the_prompt(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.passes_on() && node.kind == Some(NodeKind::Llm)) {
        let has_one_way = node.gotos().count() <= 1 && node.attributes.fork.is_none();
        if node.attributes.prompt.is_some() && has_one_way {
            let (module, name) = (&graph.module, node.ident);
            let message = format!(
                "no handler makes the prompt of `{name}`: hold a handler, `LLMNode<Handler>` with `impl LLMHandler<{module}::{name}> for Handler`, or leave `prompt` out, and the input is the prompt"
            );
            errors.over(&node.field.ty, message);
        }
    }
}
