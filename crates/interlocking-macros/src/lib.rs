//! The derive macro of Interlocking: a struct of annotated node fields becomes a routing table that the compiler checks.
//!
//! In reading order:
//!
//! - `ast`: the parsed attributes, with their tokens; `read` makes it, with `attr` and `duration`.
//! - `validate`: the rules of shape, one function per rule.
//! - `table`: the routing table as data, which `interlocking_core` compiles to a net.
//! - `soundness`: the violations of soundness, as errors at the fields that cause them.
//! - `expand`: the code of a checked graph, with `markers`; `expand::kinds`: the code for single kinds; `fallback`: the
//!   code that replaces it if there are errors.
//! - `labels`: `#[derive(Labels)]`.
//! - `naming`, `spelling`, `suggest`: names, types as text, "did you mean …?".
//! - `errors`: collects all errors of a struct, so that they are reported at once.

mod ast;
mod read;
mod attr;
mod duration;
mod validate;
mod table;
mod soundness;
mod expand;
mod markers;
mod fallback;
mod labels;
mod naming;
mod spelling;
mod suggest;
mod errors;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Each field of the struct is a node, and the field's `#[node(…)]` is the node's row in the routing table.
/// `interlocking::Graph` has an example.
///
/// A struct that compiles is a sound graph: no run of it hangs, leaves a branch behind or goes on for ever. If a run
/// can, the compiler error shows how. `docs/book/src/soundness.md` in the repository has each rule with a graph that
/// breaks it, and the limits of the proof.
///
/// On the struct: `#[graph(output = Type)]`, the type that a run ends with; `module = name`, if the module of the nodes
/// should not have the struct's name in snake case; `markings = n`, if the check for soundness should visit more than
/// 20,000 markings before it gives up.
///
/// On a field, whose type says the kind of node:
///
/// | kind | takes | continues by |
/// |---|---|---|
/// | `LLMNode<H>`, `LLMNode` | one input; an agent does the work; without a handler the agent's output goes to the one target | one `goto(…)`, or the `fork(…)` |
/// | `LogicNode<H>` | one input | the same |
/// | `ForkNode<H>` | one input | the `fork(…)` |
/// | `JoinNode<H>` | a value in each slot of `join(…)` | one `goto(…)`, or the `fork(…)` |
/// | `MapNode<H>` | one input, and runs a child graph for each of a list of items | the same |
/// | `GraphNode<Child>`, `GraphNode<H>` | one input, and runs a child graph once; without a handler the child starts with the input, and the child's output goes to the one target | the same |
/// | `HumanNode<H>` | one input, and waits for a person's answer | the same |
/// | `AdvisoryNode<H>` | the input with which another node's handler spawns it | nothing: works beside the graph, and reports at the exit |
/// | `ObserverNode<H>` | the outcomes of the nodes in `observes(…)` | nothing: observes, and reports at the exit |
/// | `EventNode<H>` | a message from outside, `on(…)`, while the run pauses | `resume`, items for a map (`adds_to(…)`), or one `goto(…)` with a `cancels(…)` |
///
/// | attribute | means | on |
/// |---|---|---|
/// | `entry` | a run starts here | one node that takes one token |
/// | `input = Type` | the type it takes | all but joins, observers and events |
/// | `join(slot: Type, …)` | the slots it waits for. A slot is filled from the node with the slot's name, or from the nodes in `slot: Type from(a, b)`; `latched`, at the end, keeps the slot's value for later rounds | joins |
/// | `quorum = n`, `cancels(a, join, *)` | it fires when `n` slots have a value, or all are filled, and then clears the listed names. Each slot is an `Option` to the handler, and a slot that is not filled is `None`. `optional`, at the end of a slot, lets the slot's source send `None`, which does not count | joins; `n` is at least 1, and less than all slots |
/// | `on(Type)` | the message it handles | events |
/// | `goto(a, join, join.slot, exit)` | the targets of which the handler takes one. A join's name alone means the slot that lists this node. A node may have several groups | all but forks, advisory nodes and observers |
/// | `goto(a, times = n, exhausted(b))` | an edge that may be taken `n` times in a run, and the route after that. Without the route the run fails, and the failure names the loop. `b` takes a type that implements `From<Exhausted<Input>>`, where `Input` is what `a` takes | the same; one target per group |
/// | `fork(a, b \| c)` | the handler continues on all branches at once; a branch may have alternatives | forks must, others that take tokens may |
/// | `cancels(a, join, join.slot, *)` | at the end of a `goto`, `fork`, `exhausted`, `timed_out` or `failed`: what that step clears | events must |
/// | `resume` | the handler may leave the run as it is | events |
/// | `transient` | a message is dropped if the run cannot use it when it arrives: no token lies in a region that a `goto(…)` cancels, and no map of `adds_to(…)` runs | events that have one of these |
/// | `adds_to(a, b)` | the maps to which the handler may add items while they run, by `cx.add::<graph::map>(items)` | events |
/// | `spawn(a, b)` | the advisory nodes that the handler may start | all but advisory nodes and observers |
/// | `visits = n` | how often it may be entered in a run, or `unbounded` | all but observers |
/// | `attempts = n` | how often it may run in one visit, the first time included, so it goes to itself at most `n - 1` times | nodes that do |
/// | `exhausted(target)` | where an entry beyond these bounds goes; the target takes a type that implements `From<Exhausted<Input>>` | bounded nodes that lead anywhere |
/// | `timeout = "90s"` | how long one execution may take: `ms`, `s`, `m` or `h` | all but observers |
/// | `timed_out(target)` | where an execution goes that exceeded the timeout; the target takes a type that implements `From<TimedOut>` | nodes that take tokens and have a `timeout` |
/// | `failed(target)` | where an execution goes that failed, or that exceeded the timeout if there is no `timed_out`; the target takes a type that implements `From<Failure>` | nodes that take tokens |
/// | `prompt = Type<'_>`, `output = Type` | the type that the prompt is rendered from, and the type that the agent returns | LLM nodes must have an `output`, and without a `prompt` the input is the prompt; advisory nodes and events may have both or neither |
/// | `agent = "role"` | the role of the agent that does the work; by default the name of the node | nodes with a prompt |
/// | `model = "name"` | the model for the agent, where the agent that plays the role names none | nodes with a prompt |
/// | `workspace = "name"`, `read_only` | the workspace in which it works, and that it must leave the workspace unchanged. Nodes that can be live at once and may change the same workspace must be `exclusive` with the same name | all but observers |
/// | `exclusive = "name"` | executions with the same name never overlap, in the whole tree of runs: each waits for its turn and holds it for one execution, a graph node for the whole run of its child. That child must then wait for nothing outside | all but maps, human nodes and observers |
/// | `isolation = "worktree"`, `"clone"`, `"sandbox"` | how strictly its agent is confined to the workspace: it has its own directory; it also has its own repository, so that git shows nothing of other nodes; the kernel also confines it, so that nothing does. The nodes that share a workspace share the isolation: one of them declares it | nodes with a prompt and a workspace |
/// | `blind_to(a, b)` | the nodes whose workspaces the agent must not be able to read; `isolation` is then `"clone"`, unless it is given as `"sandbox"` | the same |
/// | `memory = Type`, `memory(group: Type)` | the type of the memory that it has in a run, alone or shared with its group. An observer's memory is its report | all but observers |
/// | `map = Graph` | the graph that the children run; it may be this graph | maps |
/// | `quorum = n` | the map continues once `n` of its children have succeeded, or once `n` no longer can; the rest are cancelled | maps |
/// | `quorum = enough` | the same, once the handler has enough, by an `impl EnoughHandler` | maps |
/// | `concurrency = n` | how many children may run at once | maps |
/// | `graph = Graph` | the graph that the child runs; it may be this graph | graph nodes |
/// | `depth = n` | how deep child runs may nest; required for a graph that runs itself (where another graph is between, the start of a run demands it) | maps, graph nodes |
/// | `adopt` | an entry after the first takes over the children of earlier entries whose items have equal keys; without `adopt` every entry starts new children | maps |
/// | `question = Type`, `answer = Type` | the type of the question to a person, and the type of the answer | human nodes |
/// | `observes(a, b)` | the nodes whose outcomes it observes | observers |
/// | `report = Type`, `reports_to(exit)` | the type that it reports at the exit; an observer's report starts as `Default` | advisory nodes, observers |
///
/// A graph with nodes that report implements `Finish`, which makes the run's output from the value that reached the
/// exit and from the reports: one field per node, with the node's name.
///
/// For each node the module has a type with the field's name, `newsroom::write`, and the field's visibility; for each
/// slot a type named `join_slot`; and `exit`. Handlers name nodes by these types:
/// `goto!(cx, newsroom::review, article)`.
#[proc_macro_derive(Graph, attributes(graph, node))]
pub fn derive_graph(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(&parse_macro_input!(input as DeriveInput)).into()
}

/// Each variant of the enum is a label. From `enum TestsExit { Written { files: u32 }, BlockedDependency { on: u32 } }`
/// the derive makes `enum TestsExitLabel { Written, BlockedDependency }`, a `LabelType` whose names are `WRITTEN` and
/// `BLOCKED_DEPENDENCY`, and the method `TestsExit::label`. A handler calls `cx.label(&exit)`; the journal's record,
/// the events and the command line then show the label with its severity and its route hint. `interlocking::Labels` has
/// the whole example.
///
/// Each variant has a `#[label(…)]`: `info`, `warn` or `blocker`, and optionally a `route_hint`, which is the target of
/// an edge of the node that `#[labels(node = …)]` names. With a node, only that node's handler can use the labels.
#[proc_macro_derive(Labels, attributes(label, labels))]
pub fn derive_labels(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    labels::derive(&parse_macro_input!(input as DeriveInput)).into()
}

fn derive(input: &DeriveInput) -> TokenStream {
    let errors = errors::Errors::new();
    let Some(graph) = read::graph(input, &errors) else {
        return errors.check().err().map(syn::Error::into_compile_error).unwrap_or_default();
    };
    validate::shape(&graph, &errors);
    if let Err(found) = errors.check() {
        return fallback::graph(&graph, &found);
    }
    match interlocking_core::net::Net::new(table::of(&graph)) {
        Ok(net) => {
            let errors = soundness::check(&graph, &net).err().map(syn::Error::into_compile_error);
            let expanded = expand::graph(&graph, &net);
            quote::quote!(#errors #expanded)
        }
        Err(wrong) => fallback::graph(&graph, &syn::Error::new(graph.input.ident.span(), wrong)),
    }
}
