//! Tests of the generated code for the kinds beside the graph, for maps and for questions.

use syn::DeriveInput;

/// The code that rows of the other kinds add: impls of their traits, the struct of reports, and `finish`.
#[test]
fn kinds_add_what_their_rows_say() {
    let input: DeriveInput = syn::parse_str(
        r#"
        #[graph(output = Edition)]
        struct Desk {
            #[node(entry, input = Plan, map = Desk, depth = 3, goto(approve), spawn(hint))]
            chapters: MapNode<Chapters>,
            #[node(input = Plan, question = Question, answer = bool, goto(exit, cancels(*)))]
            approve: HumanNode<Approve>,
            #[node(input = Draft, report = Hint, reports_to(exit), prompt = HintPrompt<'_>, output = Hint)]
            hint: AdvisoryNode<Critic>,
            #[node(observes(chapters), report = Seen, reports_to(exit))]
            witness: ObserverNode<Witness>,
            /// A sibling merged.
            #[node(on(Merged), resume, goto(chapters, cancels(approve)), visits = 2, exhausted(exit, cancels(*)))]
            rebase: EventNode<Rebase>,
        }"#,
    )
    .unwrap();
    let mut file: syn::File = syn::parse2(crate::derive(&input)).unwrap();
    let text = prettyplease::unparse(&file);
    let docs: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("/// ")).collect();
    expect_test::expect![[r#"
        /// The nodes of [`Desk`](super::Desk), as types.
        /// Entry. Takes `Plan`. Runs `Desk` for each item. Next: `approve`. May spawn `hint`.
        /// Takes `Plan`. Asks `Question` of a person, who answers `bool`. Next: `exit`.
        /// Takes `Draft`. Reports `Hint` at the exit.
        /// Sees `chapters`. Reports `Seen` at the exit.
        /// A sibling merged.
        /// On `Merged`. May leave the run as it is. Next: `chapters`. Exhausted: `exit`.
        /// Where a run ends."#]]
    .assert_eq(&docs.join("\n"));
    let items = std::mem::take(&mut file.items).into_iter().filter_map(|item| match item {
        syn::Item::Const(constant) => Some(*constant.expr),
        _ => None,
    });
    let items = items.flat_map(|body| match body {
        syn::Expr::Block(body) => body.block.stmts,
        _ => Vec::new(),
    });
    let items = items.filter_map(|statement| match statement {
        syn::Stmt::Item(item) => added(item),
        _ => None,
    });
    file.items = items.collect();
    expect_test::expect![[r#"
        impl __p::Maps for desk::chapters {
            type Child = Desk;
            type Quorum = __p::Counted;
        }
        impl __p::Spawns<desk::hint> for desk::chapters {
            type To = desk::hint;
        }
        impl __p::Asks for desk::approve {
            type Question = Question;
            type Answer = bool;
        }
        impl __p::LLM for desk::hint {
            type Prompt<'a> = HintPrompt<'a>;
            type Output = Hint;
            type PromptFrom = __p::FromHandler;
        }
        impl __p::Reports for desk::hint {
            type Report = Hint;
        }
        impl __p::Remembers for desk::witness {
            type Memory = Seen;
            const GROUP: __u = 0;
        }
        impl __p::Reports for desk::witness {
            type Report = Seen;
        }
        impl __p::Resumes for desk::rebase {}
        pub struct __Reports {
            pub hint: __p::ReportsOfNode<Hint>,
            pub witness: __p::ReportsOfNode<Seen>,
        }
        impl __Reports {
            fn read<__R: __p::ReportSource>(it: &mut __R) -> __p::Result<Self, __p::NodeError> {
                use __p::reports as __read;
                __p::Ok(Self {
                    hint: __read::<desk::hint, _>(it)?,
                    witness: __read::<desk::witness, _>(it)?,
                })
            }
        }
        impl __p::Reporting for Desk {
            type Reports = __Reports;
        }
        #[automatically_derived]
        impl __p::Graph for Desk {
            fn visit_memory<__V: __p::MemoryVisitor>(
                group: __u,
                visitor: __V,
            ) -> __O<__V::Output> {
                match group {
                    0 => __Y(__p::visit::<desk::witness, _>(visitor)),
                    _ => __No,
                }
            }
            fn finish<__R: __p::ReportSource>(
                &self,
                output: Edition,
                mut source: __R,
            ) -> impl __p::Future<Output = __p::Result<Edition, __p::NodeError>> + __p::Send {
                __p::finish::<Self, _>(self, output, __Reports::read(&mut source))
            }
        }
    "#]]
    .assert_eq(&prettyplease::unparse(&file));
}

/// The item, if a kind needs it; of the graph's own impl, only the methods that a kind needs.
fn added(item: syn::Item) -> Option<syn::Item> {
    const TRAITS: [&str; 8] = ["Maps", "Asks", "Reports", "Spawns", "Resumes", "Remembers", "LLM", "Reporting"];
    match item {
        syn::Item::Struct(item) => Some(syn::Item::Struct(item)),
        syn::Item::Impl(mut item) => {
            let name = item.trait_.as_ref().map(|(path, _)| path.segments.last().unwrap().ident.to_string());
            match name.as_deref() {
                Some("Graph") => item.items.retain(|item| match item {
                    syn::ImplItem::Fn(method) => method.sig.ident == "finish" || method.sig.ident == "visit_memory",
                    _ => false,
                }),
                Some(name) if !TRAITS.contains(&name) => return None,
                _ => {}
            }
            Some(syn::Item::Impl(item))
        }
        _ => None,
    }
}

/// Every byte is compiled in the user's crate. This measures twenty nodes of each of these kinds, whose rows are longer
/// than those of a chain.
#[test]
fn a_node_of_these_kinds_costs_at_most_1050_bytes_of_code() {
    let mut fields = String::new();
    for n in 0..20 {
        let entry = if n == 0 { "entry, " } else { "" };
        let next = if n == 19 { "exit".to_owned() } else { format!("map{}", n + 1) };
        fields.push_str(&format!(
            "#[node({entry}input = Draft, map = Child, concurrency = 4, goto(human{n}), spawn(hint{n}))] map{n}: MapNode<Step>,
            #[node(input = Draft, question = Draft, answer = Draft, goto({next}))] human{n}: HumanNode<Step>,
            #[node(input = Draft, report = Draft, reports_to(exit))] hint{n}: AdvisoryNode<Step>,
            #[node(observes(map{n}), report = Draft, reports_to(exit))] witness{n}: ObserverNode<Step>,
            #[node(on(Draft), resume, goto(map{n}, cancels(human{n})), visits = 2)] event{n}: EventNode<Step>,"
        ));
    }
    let graph = syn::parse_str(&format!("#[graph(output = Article, markings = 1)] pub struct Chain {{ {fields} }}"));
    let per_node = crate::derive(&graph.unwrap()).to_string().len() / 100;
    assert!(per_node <= 1050, "{per_node} bytes a node");
}
