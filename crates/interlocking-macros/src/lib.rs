//! The derive macro of Interlocking: a struct of annotated node fields becomes a routing table that the compiler checks.
//!
//! In reading order:
//!
//! - `ast`: what the attributes say, with the tokens it was read from; `read` makes it, with `attr` and `duration`.
//! - `validate`: the rules of shape, one function a rule.
//! - `table`: the same as data, which `interlocking_core` compiles to a net.
//! - `soundness`: what that net can come to, as errors at the fields that are to blame.
//! - `expand`: a checked graph as code, with `markers`; `expand::kinds`: what only some kinds have; `fallback`: what stands
//!   in for it beside errors.
//! - `labels`: the other derive.
//! - `naming`, `spelling`, `suggest`: names, types as text, "did you mean …?".
//! - `errors`: collects, so that all errors of a struct are reported at once.

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

/// Each field of the struct is a node, and its `#[node(…)]` is the node's row in the routing table. `interlocking::Graph` has an
/// example.
///
/// A struct that compiles is a sound graph: no run of it hangs, leaves a branch behind or goes on for ever. Where one can,
/// the error shows how. `docs/book/src/soundness.md` in the repository has each rule with a graph that breaks it, and the limits of
/// what is proved.
///
/// On the struct: `#[graph(output = Type)]`, what a run ends with; `module = name`, if the module of the nodes should
/// not be called like the struct in snake case; `markings = n`, if the check for soundness should look further than
/// 20,000 markings before it gives up.
///
/// On a field, whose type says the kind of node:
///
/// | kind | takes | goes on by |
/// |---|---|---|
/// | `LLMNode<H>`, `LLMNode` | one input; an agent does the work; without a handler its output goes to the one target | one `goto(…)`, or its `fork(…)` |
/// | `LogicNode<H>` | one input | the same |
/// | `ForkNode<H>` | one input | its `fork(…)` |
/// | `JoinNode<H>` | a value in each slot of `join(…)` | one `goto(…)`, or its `fork(…)` |
/// | `MapNode<H>` | one input, and runs a child graph for each of its items | the same |
/// | `GraphNode<Child>`, `GraphNode<H>` | one input, and runs a child graph once; without a handler it starts with the input, and its output goes to the one target | the same |
/// | `HumanNode<H>` | one input, and waits for a person's answer | the same |
/// | `AdvisoryNode<H>` | an input that another node's handler spawns it with | nothing: works beside the graph, and reports at the exit |
/// | `ObserverNode<H>` | the outcomes of the nodes in `observes(…)` | nothing: sees, and reports at the exit |
/// | `EventNode<H>` | a message from outside, `on(…)`, while the run pauses | `resume`, items for a map (`adds_to(…)`), or one `goto(…)` that says what it cancels |
///
/// | attribute | means | on |
/// |---|---|---|
/// | `entry` | a run starts here | one node that takes one token |
/// | `input = Type` | what it takes | all but joins, observers and events |
/// | `join(slot: Type, …)` | what it waits for. A slot is filled from the node it is named after, or from those in `slot: Type from(a, b)`; `latched`, at the end, keeps its value for later rounds | joins |
/// | `quorum = n`, `cancels(a, join, *)` | it fires when so many slots have a value, or all are filled, and clears this then: a slot that has not come is `None` to its handler, and each is an `Option`. `optional`, at the end of a slot, lets its source send `None`, which does not count | joins; `n` is at least 1, and less than all slots |
/// | `on(Type)` | the message it handles | events |
/// | `goto(a, join, join.slot, exit)` | the handler takes one of these. A bare join means the slot that lists this node. Several groups may stand on one node | all but forks, advisory nodes and observers |
/// | `goto(a, times = n, exhausted(b))` | an edge that may be taken so often in a run, and where the run goes from then on; without that it fails, by the name of the loop. `b` takes a type that is `From<Exhausted<Input>>`, with what `a` would have got | the same; one target a group |
/// | `fork(a, b \| c)` | the handler continues on all branches at once; a branch may have alternatives | forks must, others that take tokens may |
/// | `cancels(a, join, join.slot, *)` | at the end of a `goto`, `fork`, `exhausted`, `timed_out` or `failed`: what is cleared on the way | events must |
/// | `resume` | the handler may leave the run as it is | events |
/// | `transient` | a message is lost that comes while nobody waits for it: no token lies where a `goto(…)` would take it from, and no map runs to which it would add | events that have one of these |
/// | `adds_to(a, b)` | the maps to which the handler may add items while they run, by `cx.add` | events |
/// | `spawn(a, b)` | the advisory nodes that the handler may start | all but advisory nodes and observers |
/// | `visits = n` | how often it may be entered in a run; or `unbounded` | all but observers |
/// | `attempts = n` | how often it may go to itself in one visit | nodes that do |
/// | `exhausted(target)` | where an entry beyond these bounds goes; the target takes a type that is `From<Exhausted<Input>>` | bounded nodes that lead anywhere |
/// | `timeout = "90s"` | how long one execution may take: `ms`, `s`, `m` or `h` | all but observers |
/// | `timed_out(target)` | where an execution goes that took longer; the target takes a type that is `From<TimedOut>` | nodes that take tokens and have a `timeout` |
/// | `failed(target)` | where an execution goes that failed, or took longer where no `timed_out` says more; the target takes a type that is `From<Failure>` | nodes that take tokens |
/// | `prompt = Type<'_>`, `output = Type` | what its prompt is rendered from, and what the agent returns | LLM nodes must have an `output`, and without a `prompt` their input is the prompt; advisory nodes and events may, both together |
/// | `agent = "role"` | who does the work; by default the role is called like the node | nodes with a prompt |
/// | `model = "name"` | the model that its agent uses, where who plays the role names none | nodes with a prompt |
/// | `workspace = "name"`, `read_only` | where it works, and whether it must leave that as it was. Nodes that can be live at once and may change one workspace are `exclusive` under one name | all but observers |
/// | `exclusive = "name"` | executions that say one name never overlap, in the whole tree of runs: each waits for its turn, and has it for one execution, a graph node for the whole run of its child, which then waits for nobody outside | all but maps, human nodes and observers |
/// | `isolation = "worktree"`, `"clone"`, `"sandbox"` | how far its agent is kept there: in a directory of its own; with a repository of its own, so that git shows nothing of the others; with the kernel's help, so that nothing does. The nodes that share a workspace share its isolation: one of them says it | nodes with a prompt and a workspace |
/// | `blind_to(a, b)` | the nodes whose work the agent must not be able to read; `isolation` is `"clone"` then, unless it says `"sandbox"` | the same |
/// | `memory = Type`, `memory(group: Type)` | what it remembers in a run, alone or with its group. An observer remembers its report | all but observers |
/// | `map = Graph` | the graph that its children run; it may be this one | maps |
/// | `adds_to(map, …)` | the handler may add items to a map that runs: `cx.add::<graph::map>(items)` | events |
/// | `quorum = n` | the map goes on once so many of its children have succeeded, or no longer can; the rest is cancelled | maps |
/// | `quorum = enough` | the same once its handler says so, with an `impl EnoughHandler` | maps |
/// | `concurrency = n` | how many children may run at once | maps |
/// | `graph = Graph` | the graph that its child runs; it may be this one | graph nodes |
/// | `depth = n` | how many runs deep children may nest; a graph that runs itself must say so | maps, graph nodes |
/// | `adopt` | an entry after the first takes over the children of earlier entries whose items have equal keys; without it every entry begins its items anew | maps |
/// | `question = Type`, `answer = Type` | what a person is asked, and what comes back | human nodes |
/// | `observes(a, b)` | the nodes that it sees | observers |
/// | `report = Type`, `reports_to(exit)` | what it reports at the exit; an observer's starts as its `Default` | advisory nodes, observers |
///
/// A graph with nodes that report implements `Finish`, which makes the run's output of what came to the exit and of the
/// reports: one field a node, named like it.
///
/// For each node the module has a type of the field's name, `newsroom::write`, with the field's visibility; for each
/// slot one called `join_slot`; and `exit`. Handlers name nodes by them: `goto!(cx, newsroom::review, article)`.
#[proc_macro_derive(Graph, attributes(graph, node))]
pub fn derive_graph(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(&parse_macro_input!(input as DeriveInput)).into()
}

/// Each variant of the enum is a label. Of `enum TestsExit { Written { files: u32 }, BlockedDependency { on: u32 } }` it makes
/// `enum TestsExitLabel { Written, BlockedDependency }`, a `LabelType` whose names are `WRITTEN` and `BLOCKED_DEPENDENCY`, and the method
/// `TestsExit::label`. A handler says `cx.label(&exit)`, and the journal's record, the events and the command line have the label with its
/// severity and its route hint. `interlocking::Labels` has the whole example.
///
/// Each variant has a `#[label(…)]`: `info`, `warn` or `blocker`, and perhaps a `route_hint`, which is the target of an edge of the node that
/// `#[labels(node = …)]` names. With a node, the labels are those of that node's handler alone.
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
