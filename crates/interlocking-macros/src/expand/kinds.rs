//! The code for attributes of single kinds: agents, children, questions, messages, reports.

use super::Expansion;
use super::pieces::{at, standing_at, with_lifetime};
use interlocking_core::table::NodeKind;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

impl Expansion<'_, '_> {
    /// The impls that only nodes of some kinds have.
    pub(super) fn of_its_kind(&self, index: usize) -> TokenStream {
        let node = &self.graph.nodes[index];
        let (attributes, marker, span) = (&node.attributes, self.node_marker(index), at(node.ident.span()));
        let mut impls = self.asks(index).unwrap_or_default();
        if let Some(map) = &attributes.map {
            let child = &map.value;
            let quorum = node.quorum_marker();
            impls.extend(quote_spanned! {at(child.span())=>
                impl __p::Maps for #marker { type Child = #child; type Quorum = __p::#quorum; }
            });
        }
        impls.extend(self.runs(index));
        if let Some(child) = node.child_graph() {
            impls.extend(quote_spanned!(at(child.span())=> impl __p::RunsChildren for #marker {}));
        }
        if let (Some(question), Some(answer)) = (&attributes.question, &attributes.answer) {
            let (question, answer) = (&question.value, &answer.value);
            impls.extend(quote_spanned! {span=>
                impl __p::Asks for #marker { type Question = #question; type Answer = #answer; }
            });
        }
        if let Some(report) = &attributes.report {
            let report = &report.value;
            impls.extend(quote_spanned!(span=> impl __p::Reports for #marker { type Report = #report; }));
        }
        for advisory in node.spawned() {
            let Some(spawned) = self.graph.find(advisory) else { continue };
            let spawned = self.node_marker(spawned);
            impls.extend(quote_spanned! {at(advisory.span())=>
                impl __p::Spawns<#spawned> for #marker { type To = #spawned; }
            });
        }
        for map in node.adds_to() {
            let Some(added) = self.graph.find(map) else { continue };
            let added = self.node_marker(added);
            impls.extend(quote_spanned!(at(map.span())=> impl __p::AddsTo<#added> for #marker {}));
        }
        if node.kind == Some(NodeKind::Event) && attributes.resume.is_some() {
            impls.extend(quote_spanned!(span=> impl __p::Resumes for #marker {}));
        }
        impls
    }

    /// The prompt and the output of the node's agent; without a handler, also the route of the output.
    fn asks(&self, index: usize) -> Option<TokenStream> {
        let node = &self.graph.nodes[index];
        let (marker, span) = (self.node_marker(index), at(node.ident.span()));
        let output = &node.attributes.output.as_ref()?.value;
        if let Some(prompt) = &node.attributes.prompt {
            let prompt = with_lifetime(&prompt.value);
            return Some(quote_spanned! {span=>
                impl __p::LLM for #marker {
                    type Prompt<'a> = #prompt;
                    type Output = #output;
                    type PromptFrom = __p::FromHandler;
                }
            });
        }
        let input = node.input_as_prompt()?;
        let go_on = self.goes_on(index, &output.to_token_stream(), &quote!(as_reply));
        let passes_on = go_on.map(|go_on| quote_spanned!(span=> impl __p::PassesReplyOn for #marker { #go_on }));
        Some(quote_spanned! {span=>
            impl __p::LLM for #marker {
                type Prompt<'a> = #input;
                type Output = #output;
                type PromptFrom = __p::FromInput;
            }
            impl __p::AsksWithInput for #marker {
                fn prompt(it: &#input) -> &#input { it }
            }
            #passes_on
        })
    }

    /// The child graph of a graph node; without a handler, also the route of the child's output.
    fn runs(&self, index: usize) -> Option<TokenStream> {
        let node = &self.graph.nodes[index];
        let (child, marker) = (&node.attributes.graph.as_ref()?.value, self.node_marker(index));
        let by = if node.passes_on() { quote!(__p::PassedOn) } else { quote!(__p::Handled) };
        let runs = quote_spanned! {at(child.span())=>
            impl __p::Runs for #marker { type Child = #child; type By = #by; }
        };
        let graph = quote_spanned!(at(child.span())=> <#marker as __p::Runs>::Child as __p::Graph);
        let output = quote_spanned!(at(node.ident.span())=> <#graph>::Output);
        let Some(go_on) = self.goes_on(index, &output, &quote!(as_payload)) else { return Some(runs) };
        let input = node.input()?;
        let entry = standing_at(quote!(__p::as_entry::<#input, <#graph>::Entry>(it)), input);
        Some(quote_spanned! {at(node.ident.span())=>
            #runs
            impl __p::PassesOn for #marker {
                fn entry(it: #input) -> <#graph>::Entry { #entry }
                #go_on
            }
        })
    }

    /// The route of a node without a handler to its one target, which takes the `output` as `convert` returns it.
    fn goes_on(&self, index: usize, output: &TokenStream, convert: &TokenStream) -> Option<TokenStream> {
        let node = &self.graph.nodes[index];
        let (target, _) = node.gotos().next().filter(|_| node.passes_on())?;
        let place = self.graph.resolve(index, target).ok()?;
        let (spelled, to) = (self.spelled_marker(place, target), self.place_marker(place));
        let payload = quote!(__p::#convert::<#output, <#to as __p::Place>::Payload>(it));
        let payload = standing_at(payload, &target.node);
        Some(quote_spanned! {at(node.ident.span())=>
            fn go_on(it: #output, cx: &__p::Cx<'_, Self>) -> __p::Route<Self> {
                cx.goto::<#spelled>(#payload)
            }
        })
    }

    /// The tables of this graph and of the graphs that its nodes run; no code where its nodes run none, as the trait's
    /// default adds the graph's own table.
    pub(super) fn nets(&self) -> TokenStream {
        let children: TokenStream = (self.graph.nodes.iter().enumerate())
            .filter(|(_, node)| node.child_graph().is_some())
            .map(|(index, node)| {
                let marker = self.node_marker(index);
                let nets = if node.attributes.map.is_some() { quote!(child_nets) } else { quote!(graph_nets) };
                quote_spanned!(at(node.ident.span())=> __p::#nets::<#marker>(nets);)
            })
            .collect();
        if children.is_empty() {
            return children;
        }
        quote!(
            fn nets(nets: &mut __p::Nets) {
                if nets.add(<Self as __p::Graph>::net()) { #children }
            }
        )
    }

    /// The struct of reports, if any node reports.
    pub(super) fn reports(&self) -> TokenStream {
        let graph = &self.graph.input.ident;
        let (mut fields, mut reads) = (TokenStream::new(), TokenStream::new());
        for (index, node) in self.graph.nodes.iter().enumerate().filter(|(_, node)| node.reports()) {
            let (name, marker) = (node.ident, self.node_marker(index));
            let report = node.attributes.report.as_ref().map(|report| &report.value);
            fields.extend(quote_spanned! {at(name.span())=> pub #name: __p::ReportsOfNode<#report>,});
            reads.extend(quote_spanned! {at(name.span())=> #name: __read::<#marker, _>(it)?,});
        }
        if fields.is_empty() {
            return TokenStream::new();
        }
        let observers = self.graph.nodes.iter().any(|node| node.kind == Some(NodeKind::Observer));
        let observation = observers.then(|| {
            quote!(
                use __p::Observation as __W;
            )
        });
        quote! {
            #observation
            pub struct __Reports { #fields }
            impl __Reports {
                fn read<__R: __p::ReportSource>(it: &mut __R) -> __p::Result<Self, __p::NodeError> {
                    use __p::reports as __read;
                    __p::Ok(Self { #reads })
                }
            }
            impl __p::Reporting for #graph { type Reports = __Reports; }
        }
    }

    /// `Graph::finish`, if any node reports. A missing `Finish` impl is reported at the struct's name.
    pub(super) fn finish(&self) -> TokenStream {
        if !self.graph.nodes.iter().any(|node| node.reports()) {
            return TokenStream::new();
        }
        let (graph, output) = (&self.graph.input.ident, &self.graph.output);
        let finish = standing_at(quote!(__p::finish::<Self, _>), graph);
        quote_spanned! {at(graph.span())=>
            fn finish<__R: __p::ReportSource>(
                &self,
                output: #output,
                mut source: __R,
            ) -> impl __p::Future<Output = __p::Result<#output, __p::NodeError>> + __p::Send {
                #finish(self, output, __Reports::read(&mut source))
            }
        }
    }
}
