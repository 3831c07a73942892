//! Kinds: which attributes a node of each kind may have, and which it must have.

use crate::ast::{EXIT, GraphModel};
use crate::errors::Errors;
use interlocking_core::table::NodeKind;
use syn::Ident;

/// Each attribute belongs to some kinds: an input to kinds that take one value, slots to joins, prompts to kinds with
/// an agent, reports to kinds that work beside the graph.
pub(super) fn attributes_fit_the_kind(graph: &GraphModel<'_>, errors: &Errors) {
    for node in &graph.nodes {
        let Some(kind) = node.kind else { continue };
        for key in node.attributes.keys() {
            if let Some(message) = misfit(kind, &key.to_string()) {
                errors.over(key, message);
            }
        }
    }
}

/// Why a node of this kind has no such attribute; `None` if it may.
pub(crate) fn misfit(kind: NodeKind, key: &str) -> Option<String> {
    use NodeKind::{Advisory, Event, Fork, Graph, Human, Join, Llm, Map, Observer};
    let a = with_article(kind);
    Some(match (key, kind) {
        ("input", Join) => "a `JoinNode` takes one value a slot, not an input: `join(slot: Type, …)`".to_owned(),
        ("input", Event) => "an `EventNode` takes a message, not an input: `on(Message)`".to_owned(),
        ("input", Observer) => "an `ObserverNode` has no input: it sees the nodes in its `observes(…)`".to_owned(),
        ("join", Event) => "only a `JoinNode` has slots; an `EventNode` takes `on(Message)`".to_owned(),
        ("join", kind) if kind != Join => format!("only a `JoinNode` has slots; {a} takes `input = Type`"),
        ("goto", Fork) => {
            "a `ForkNode` always continues on all branches of its `fork(…)`: a `LogicNode` may have both".to_owned()
        }
        ("goto" | "fork" | "exhausted" | "timed_out" | "failed", Advisory | Observer) => {
            format!("{a} works beside the graph and leads nowhere: take its `{key}` away")
        }
        ("fork", Event) => {
            "a message redirects the run to one target, `goto(…)`: an `EventNode` has no `fork`".to_owned()
        }
        ("attempts", Advisory | Observer | Event) => {
            format!("no edge leads from {a} to itself, so it has no `attempts`")
        }
        ("attempts", Join) => "a `JoinNode` does not try again by itself: bound it with `visits`".to_owned(),
        ("prompt" | "output" | "agent" | "model", kind) if !matches!(kind, Llm | Advisory | Event) => {
            format!("only an `LLMNode`, an `AdvisoryNode` or an `EventNode` has an agent, so {a} has no `{key}`")
        }
        ("isolation" | "blind_to", kind) if !matches!(kind, Llm | Advisory | Event) => {
            format!(
                "only the agent of an `LLMNode`, an `AdvisoryNode` or an `EventNode` is kept in its workspace, so {a} has no `{key}`"
            )
        }
        ("timed_out" | "failed", Event) => {
            format!("an `EventNode` takes no token that could go elsewhere: it has no `{key}`")
        }
        ("graph", kind) if kind != Graph => format!("only a `GraphNode` runs a child graph once, so {a} has no `graph`"),
        ("depth", kind) if !matches!(kind, Map | Graph) => {
            format!("only a `MapNode` or a `GraphNode` runs child graphs, so {a} has no `depth`")
        }
        ("quorum", kind) if !matches!(kind, Map | Join) => {
            format!("only a `MapNode` or a `JoinNode` waits for several, so {a} has no `quorum`")
        }
        ("cancels", kind) if kind != Join => {
            format!("only a `JoinNode` with a `quorum` clears something by itself, so {a} has no `cancels`: `goto(target, cancels(…))`")
        }
        ("adds_to", kind) if kind != Event => {
            format!("only an `EventNode`, which runs while a map does, adds items to it: {a} has no `adds_to`")
        }
        ("exclusive", Map) => {
            "the children of a `MapNode` would each wait for the others' turn: say `exclusive` at a `GraphNode`, or at the nodes of the child graph".to_owned()
        }
        ("exclusive", Human) => {
            "a `HumanNode` waits for a person, and what is exclusive is never held while waiting: take its `exclusive` away".to_owned()
        }
        ("exclusive", Observer) => "an `ObserverNode` sees and reports, and no more: take its `exclusive` away".to_owned(),
        ("map" | "concurrency" | "adopt", kind) if kind != Map => {
            format!("only a `MapNode` runs child graphs, so {a} has no `{key}`")
        }
        ("question" | "answer", kind) if kind != Human => {
            format!("only a `HumanNode` asks a person, so {a} has no `{key}`")
        }
        ("on", kind) if kind != Event => format!("only an `EventNode` handles messages, so {a} has no `on`"),
        ("resume", kind) if kind != Event => {
            format!("only an `EventNode`, which takes no token, can leave the run as it is: {a} has no `resume`")
        }
        ("transient", kind) if kind != Event => {
            format!("only an `EventNode` takes messages, and may lose some: {a} has no `transient`")
        }
        ("report" | "reports_to", kind) if !matches!(kind, Advisory | Observer) => {
            format!("only an `AdvisoryNode` or an `ObserverNode` reports at the exit, so {a} has no `{key}`")
        }
        ("observes", kind) if kind != Observer => {
            format!("only an `ObserverNode` sees what other nodes do, so {a} has no `observes`")
        }
        ("spawn", Advisory | Observer) => {
            format!("{a} works beside the graph and starts nothing there: let a node of the graph do that")
        }
        ("memory", Observer) => {
            "an `ObserverNode` remembers its report, and no more: take its `memory` away".to_owned()
        }
        ("workspace" | "read_only" | "visits" | "timeout", Observer) => {
            format!("an `ObserverNode` sees and reports, and no more: take its `{key}` away")
        }
        _ => return None,
    })
}

fn with_article(kind: NodeKind) -> String {
    let article = match kind {
        NodeKind::Llm | NodeKind::Advisory | NodeKind::Observer | NodeKind::Event => "an",
        NodeKind::Logic | NodeKind::Fork | NodeKind::Join | NodeKind::Map | NodeKind::Graph | NodeKind::Human => "a",
    };
    format!("{article} `{kind}`")
}

/// Each kind has required attributes: most kinds an input, an LLM node an output, a fork its branches, a map its child
/// graph, a human node a question and an answer, an observer the nodes that it observes.
pub(super) fn required_attributes_are_there(graph: &GraphModel<'_>, errors: &Errors) {
    for node in &graph.nodes {
        let Some(kind) = node.kind else { continue };
        let (name, attributes) = (&node.name, &node.attributes);
        let require = |is_there: bool, key: &str, what: &str, example: &str| {
            if !is_there && !node.unparsed.may_include(key) {
                errors.over(node.ident, format_args!("{kind} `{name}` has no {what}: `{example}`"));
            }
        };
        match kind {
            NodeKind::Join => {
                require(attributes.slots.is_some(), "join", "slots", "join(first: Type, second: Type)");
            }
            NodeKind::Event => require(attributes.on.is_some(), "on", "message", "on(Message)"),
            NodeKind::Observer => {
                require(attributes.observes.is_some(), "observes", "node to see", "observes(first, second)");
            }
            _ => require(attributes.input.is_some(), "input", "input", "input = Type"),
        }
        if node.asks_an_agent() && kind != NodeKind::Llm {
            require(attributes.prompt.is_some(), "prompt", "prompt", "prompt = Template<'_>");
        }
        if node.asks_an_agent() {
            require(attributes.output.is_some(), "output", "output", "output = Type");
        }
        match kind {
            NodeKind::Fork => require(attributes.fork.is_some(), "fork", "branches", "fork(first, second)"),
            NodeKind::Map => require(attributes.map.is_some(), "map", "child graph", "map = ChildGraph"),
            NodeKind::Graph => require(attributes.graph.is_some(), "graph", "child graph", "graph = ChildGraph"),
            NodeKind::Human => {
                require(attributes.question.is_some(), "question", "question", "question = Type");
                require(attributes.answer.is_some(), "answer", "answer", "answer = Type");
            }
            NodeKind::Advisory | NodeKind::Observer => {
                require(attributes.report.is_some(), "report", "report", "report = Type");
            }
            _ => {}
        }
    }
}

/// Nodes beside the graph report at the exit and nowhere else; the row must say so, for its readers.
pub(super) fn reports_go_to_the_exit(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.reports()) {
        let Some(kind) = node.kind else { continue };
        let message = format!("{} reports to the exit: `reports_to(exit)`", with_article(kind));
        match &node.attributes.reports_to {
            None if node.unparsed.may_include("reports_to") => {}
            None => errors.over(node.ident, message),
            Some(targets) => {
                let is_wrong = |(nth, target): &(usize, &Ident)| *nth > 0 || *target != EXIT;
                if let Some((_, wrong)) = targets.value.iter().enumerate().find(is_wrong) {
                    errors.over(wrong, message);
                }
            }
        }
    }
}
