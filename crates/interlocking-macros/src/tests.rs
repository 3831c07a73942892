//! Tests of the generated code: its size and its content. Most of this file is one graph's whole expansion.

mod kinds;
mod manual;

use syn::DeriveInput;

fn chain(length: usize) -> DeriveInput {
    let node = |n: usize| {
        let entry = if n == 0 { "entry, " } else { "" };
        let next = if n + 1 == length { "exit".to_owned() } else { format!("node{}", n + 1) };
        format!("#[node({entry}input = Draft, goto({next}))] node{n}: LogicNode<Step>,\n")
    };
    let nodes: String = (0..length).map(node).collect();
    syn::parse_str(&format!("#[graph(output = Article)] pub struct Chain {{ {nodes} }}")).unwrap()
}

/// Every byte is compiled in the user's crate.
#[test]
fn a_node_costs_at_most_850_bytes_of_code() {
    let written = super::derive(&chain(100)).to_string();
    let per_node = written.len() / 100;
    assert!(per_node <= 850, "{per_node} bytes a node");
}

/// Each block has the first of its nodes and the first and last of its places. A join has several places.
#[test]
fn more_than_sixteen_nodes_are_listed_in_blocks() {
    let mut fields = String::from("#[node(entry, input = A, fork(meet, b))] a: ForkNode<H>, ");
    fields.push_str("#[node(input = A, goto(meet))] b: LogicNode<H>, ");
    fields.push_str("#[node(join(a: A, b: A), goto(n3))] meet: JoinNode<H>, ");
    for n in 3..18 {
        let next = if n == 17 { "exit".to_owned() } else { format!("n{}", n + 1) };
        fields.push_str(&format!("#[node(input = A, goto({next}))] n{n}: LogicNode<H>, "));
    }
    let input = syn::parse_str(&format!("#[graph(output = A)] struct Long {{ {fields} }}")).unwrap();
    let written = super::derive(&input).to_string().replace(' ', "");
    let markers = |from: usize, to: usize| (from..to).map(|n| format!("long::n{n},")).collect::<String>();
    let padding = |count: usize| vec!["__p::Padding<Long>"; count].join(",");
    let first = format!("__p::Few<(long::a,long::b,long::meet,{}),0,0,16>", markers(3, 16).trim_end_matches(','));
    let second = format!("__p::Few<({}{}),16,17,18>", markers(16, 18), padding(14));
    let both = format!("<__p::Many<({first},{second},{}),0,16,0,65535>as__p::Nodes<Self>>", padding(14));
    assert!(written.contains(&both), "{both}\n is not in\n{written}");
}

/// No code is written for routes where there are none: the trait has a default.
#[test]
fn the_routes_of_failures_are_one_match() {
    let with = |routes: &str| {
        let input = format!(
            "#[graph(output = Article)] struct Newsroom {{
                #[node(entry, input = Draft, goto(check), attempts = 2, timeout = \"1m\" {routes})]
                write: LogicNode<Write>,
                #[node(input = Failure, goto(exit))]
                check: LogicNode<Check>,
            }}"
        );
        let input = if routes.is_empty() { input.replace("attempts = 2,", "") } else { input };
        let written = super::derive(&syn::parse_str(&input).unwrap()).to_string();
        written.replace(' ', "")
    };
    assert!(!with("").contains("fnfailed"));
    let written = with(", timed_out(check), failed(write)");
    let expected = "fnfailed(route:__u,failure:__p::Failure)->__O<__p::Step<__T>>{matchroute{\
        1=>__Y(__p::timed_out::<newsroom::check>(1,failure)),2=>__Y(__p::failed::<newsroom::write>(2,failure)),_=>__No}}";
    assert!(written.contains(expected), "{expected}\n is not in\n{written}");
    assert!(written.contains("Timedout:`check`.Failed:`write`."), "what the marker's documentation says: {written}");
}

/// The whole generated code of a small graph: markers, token, impls, table.
#[test]
fn a_small_graph_expands_to_this() {
    let input: DeriveInput = syn::parse_str(
        r#"
        /// Writes and checks.
        #[graph(output = Article)]
        pub struct Newsroom {
            /// Starts.
            #[node(entry, input = Draft, fork(desk.text, check | desk.sound), memory = Vec<Note>)]
            write: ForkNode<Write>,
            #[node(input = u64, goto(desk), attempts = 2, goto(check), exhausted(exit, cancels(*)))]
            pub check: LogicNode<Check>,
            #[node(join(text: Draft from(write), sound: bool from(write, check) latched), goto(exit))]
            desk: JoinNode<Desk>,
        }"#,
    )
    .unwrap();
    let written = super::derive(&input);
    let file: syn::File = syn::parse2(written).unwrap();
    expect_test::expect![[r#"
        /// The nodes of [`Newsroom`](super::Newsroom), as types.
        #[allow(
            non_camel_case_types,
            missing_debug_implementations,
            unreachable_pub,
            unnameable_types,
            dead_code,
            rustdoc::broken_intra_doc_links
        )]
        pub mod newsroom {
            /// Starts.
            ///
            /// Entry. Takes `Draft`. Forks to `desk.text` and `check` or `desk.sound`.
            pub(super) enum write {}
            /// Takes `u64`. Next: `desk`, `check`. Exhausted: `exit`.
            pub enum check {}
            /// Next: `exit`.
            pub(super) enum desk {}
            /// Slot `text` of `desk`. Takes `Draft`.
            pub(super) enum desk_text {}
            /// Slot `sound` of `desk`. Takes `bool`.
            pub(super) enum desk_sound {}
            /// Where a run ends.
            pub enum exit {}
        }
        #[allow(
            non_camel_case_types,
            unreachable_pub,
            unnameable_types,
            private_interfaces,
            private_bounds,
            non_local_definitions,
            dead_code,
            unused_imports,
            unused_qualifications,
            single_use_lifetimes,
            missing_debug_implementations,
            deprecated,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]
        const _: () = {
            use ::interlocking::__private::{
                self as __p, Edge as __E, Field as __F, Node as __N, None as __No, Option as __O,
                Place as __P, Some as __Y, load as __get, store as __put, u16 as __u,
            };
            pub enum __T {
                write(Draft),
                check(u64),
                desk_text(Draft),
                desk_sound(bool),
                exit(Article),
                desk((Draft, bool)),
            }
            #[automatically_derived]
            impl __p::Payload for __T {
                fn place(&self) -> __u {
                    match self {
                        Self::write(_) => 0,
                        Self::check(_) => 1,
                        Self::desk_text(_) => 2,
                        Self::desk_sound(_) => 3,
                        Self::exit(_) => 4,
                        Self::desk(_) => __p::NO_PLACE,
                    }
                }
                fn copy(&self) -> __O<Self> {
                    match self {
                        Self::desk_sound(it) => __Y(Self::desk_sound(__p::keep(it))),
                        _ => __No,
                    }
                }
            }
            #[automatically_derived]
            impl __p::Addressed for __T {
                fn node(&self) -> __u {
                    match self {
                        Self::write(_) => 0,
                        Self::check(_) => 1,
                        Self::desk(_) => 2,
                        _ => __p::NO_PLACE,
                    }
                }
            }
            #[automatically_derived]
            impl __p::Token for __T {
                fn serialize<__S: __p::Serializer>(
                    &self,
                    s: __S,
                ) -> __p::Result<__S::Ok, __S::Error> {
                    match self {
                        Self::write(it) | Self::desk_text(it) => {
                            __put::<newsroom::write, _>(it, s)
                        }
                        Self::check(it) => __put::<newsroom::check, _>(it, s),
                        Self::desk_sound(it) => __put::<newsroom::desk_sound, _>(it, s),
                        Self::exit(it) => __put::<newsroom::exit, _>(it, s),
                        Self::desk(_) => __p::not_stored::<__S>(),
                    }
                }
                fn deserialize<'de, __D: __p::Deserializer<'de>>(
                    place: __u,
                    d: __D,
                ) -> __p::Result<Self, __D::Error> {
                    match place {
                        0 | 2 => {
                            __get::<
                                newsroom::write,
                                _,
                            >(
                                d,
                                |it| match place {
                                    0 => Self::write(it),
                                    _ => Self::desk_text(it),
                                },
                            )
                        }
                        1 => __get::<newsroom::check, _>(d, |it| Self::check(it)),
                        3 => __get::<newsroom::desk_sound, _>(d, |it| Self::desk_sound(it)),
                        4 => __get::<newsroom::exit, _>(d, |it| Self::exit(it)),
                        _ => __p::unknown_place::<_, __D>(place),
                    }
                }
            }
            impl __N for newsroom::write {
                type Graph = Newsroom;
                type Input = Draft;
                const INDEX: __u = 0;
                #[inline]
                fn take(it: __T) -> Draft {
                    match it {
                        __T::write(it) => it,
                        _ => __p::wrong_node(),
                    }
                }
            }
            impl __F for newsroom::write {
                type Kind = ForkNode<Write>;
                fn of(it: &Newsroom) -> &ForkNode<Write> {
                    &it.write
                }
            }
            impl __p::EndPlace for newsroom::write {
                type Graph = Newsroom;
                type End = __p::Beginning;
                fn put(it: Draft) -> __T {
                    __T::write(it)
                }
            }
            impl __p::Forks for newsroom::write {
                type Branches = (Draft, __p::Choice<newsroom::write, __p::Nth<1>>);
                const ALTERNATIVE: __u = 0;
                fn tokens((b0, b1): Self::Branches) -> __p::Vec<__T> {
                    __p::Vec::from([__T::desk_text(b0), b1.into_token()])
                }
            }
            impl __p::Branch<newsroom::check> for newsroom::write {
                type To = newsroom::check;
                type Position = __p::Nth<1>;
            }
            impl __p::Branch<newsroom::desk_sound> for newsroom::write {
                type To = newsroom::desk_sound;
                type Position = __p::Nth<1>;
            }
            impl __p::Remembers for newsroom::write {
                type Memory = Vec<Note>;
                const GROUP: __u = 0;
            }
            impl __N for newsroom::check {
                type Graph = Newsroom;
                type Input = u64;
                const INDEX: __u = 1;
                #[inline]
                fn take(it: __T) -> u64 {
                    match it {
                        __T::check(it) => it,
                        _ => __p::wrong_node(),
                    }
                }
            }
            impl __F for newsroom::check {
                type Kind = LogicNode<Check>;
                fn of(it: &Newsroom) -> &LogicNode<Check> {
                    &it.check
                }
            }
            impl __P for newsroom::check {
                type Graph = Newsroom;
                type Payload = u64;
                fn put(it: u64) -> __T {
                    __T::check(it)
                }
            }
            impl __E<newsroom::desk> for newsroom::check {
                type To = newsroom::desk_sound;
                const ALTERNATIVE: __u = 1;
            }
            impl __E<newsroom::check> for newsroom::check {
                type To = newsroom::check;
                const ALTERNATIVE: __u = 2;
            }
            impl __N for newsroom::desk {
                type Graph = Newsroom;
                type Input = (Draft, bool);
                const INDEX: __u = 2;
                #[inline]
                fn take(it: __T) -> (Draft, bool) {
                    match it {
                        __T::desk(it) => it,
                        _ => __p::wrong_node(),
                    }
                }
            }
            impl __F for newsroom::desk {
                type Kind = JoinNode<Desk>;
                fn of(it: &Newsroom) -> &JoinNode<Desk> {
                    &it.desk
                }
            }
            impl __P for newsroom::desk_text {
                type Graph = Newsroom;
                type Payload = Draft;
                fn put(it: Draft) -> __T {
                    __T::desk_text(it)
                }
            }
            impl __P for newsroom::desk_sound {
                type Graph = Newsroom;
                type Payload = bool;
                fn put(it: bool) -> __T {
                    __T::desk_sound(it)
                }
            }
            impl __E<newsroom::exit> for newsroom::desk {
                type To = newsroom::exit;
                const ALTERNATIVE: __u = 4;
            }
            impl __p::EndPlace for newsroom::exit {
                type Graph = Newsroom;
                type End = __p::Ending;
                fn put(it: Article) -> __T {
                    __T::exit(it)
                }
            }
            #[automatically_derived]
            impl __p::Graph for Newsroom {
                type Entry = Draft;
                type Output = Article;
                type Token = __T;
                const NODES: __p::usize = 3;
                const EDGES: __p::usize = 7;
                const AGENT_CALLS: __p::AgentCalls = __p::AgentCalls {
                    at_most: __Y(0),
                    exact: true,
                };
                const HAS_NODES_BESIDE: __p::bool = false;
                const MAY_BE_CHAIN: __p::bool = true;
                fn net() -> &'static __p::Net {
                    static NET: __p::OnceLock<__p::Net> = __p::OnceLock::new();
                    NET.get_or_init(|| __p::net(
                        "Newsroom",
                        "Article",
                        &[
                            "fork write\nentry\ninput Draft\nfork desk.text,check|desk.sound \nmemory write Vec<Note>",
                            "logic check\ninput u64\ngoto desk \ngoto check \nexhausted exit *\nattempts 2",
                            "join desk\nslot text write once Draft\nslot sound write,check latched bool\ngoto exit ",
                        ],
                    ))
                }
                fn enter(entry: Draft) -> __T {
                    __T::write(entry)
                }
                fn leave(token: __T) -> __O<Article> {
                    if let __T::exit(it) = token { __Y(it) } else { __No }
                }
                fn join(node: __u, slots: __p::Vec<__T>) -> __O<__T> {
                    match node {
                        2 => {
                            match __p::slots(slots) {
                                __Y([__T::desk_text(s0), __T::desk_sound(s1)]) => {
                                    __Y(__T::desk((s0, s1)))
                                }
                                _ => __No,
                            }
                        }
                        _ => __No,
                    }
                }
                fn exhausted(_: __u, limit: __p::Limit, input: __T) -> __O<__p::Step<__T>> {
                    match input {
                        __T::check(it) => {
                            __Y(__p::exhausted::<newsroom::exit, u64>(3, "check", limit, it))
                        }
                        _ => __No,
                    }
                }
                fn step<'run>(
                    &'run self,
                    input: __T,
                    entered: __p::Entered<'run, Self>,
                ) -> impl __p::Future<Output = __p::Done<Self>> + __p::Send + 'run {
                    __p::Graph::chain(self, input, entered, __p::no_relay())
                }
                fn chain<'run>(
                    &'run self,
                    input: __T,
                    entered: __p::Entered<'run, Self>,
                    relay: &'run mut dyn __p::Relay,
                ) -> impl __p::Future<Output = __p::Done<Self>> + __p::Send + 'run {
                    <__p::Few<
                        (
                            newsroom::write,
                            newsroom::check,
                            newsroom::desk,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                            __p::Padding<Newsroom>,
                        ),
                        0,
                        0,
                        65535,
                    > as __p::Nodes<Self>>::chain(self, input, entered, relay)
                }
                fn visit_memory<__V: __p::MemoryVisitor>(
                    group: __u,
                    visitor: __V,
                ) -> __O<__V::Output> {
                    match group {
                        0 => __Y(visitor.visit::<Vec<Note>>()),
                        _ => __No,
                    }
                }
            }
        };
    "#]]
    .assert_eq(&prettyplease::unparse(&file));
}

/// A prompt borrows from the handler and the input; the lifetimes that the table elides are written out.
#[test]
fn elided_lifetimes_of_a_prompt_are_spelled() {
    for (elided, spelled) in [
        ("WritePrompt<'_>", "WritePrompt<'a>"),
        ("Pair<'_, &str, Vec<&'_ u8>>", "Pair<'a, &'a str, Vec<&'a u8>>"),
        ("(&'static str, &[u8])", "(&'static str, &'a [u8])"),
        ("Owned", "Owned"),
    ] {
        let ty = syn::parse_str(elided).unwrap();
        assert_eq!(super::spelling::of(super::expand::with_lifetime(&ty)), spelled);
    }
}
