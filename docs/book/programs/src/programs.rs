//! Runs each program to its end, with all its assertions.

use interlocking::draw::mermaid;
use interlocking::graph::Graph;

/// Diagrams of tables, each with its name, `DIRECTORY/PROGRAM GRAPH`.
type Pictures = Vec<(String, String)>;

macro_rules! programs {
    ($($directory:ident: $($program:ident($($graph:ident),+))+;)+) => {
        $(mod $directory {
            $(pub(super) mod $program {
                include!(concat!("../", stringify!($directory), "/", stringify!($program), ".rs"));

                #[test]
                fn it_runs() {
                    main().unwrap();
                }

                pub(crate) fn pictures() -> super::super::Pictures {
                    let name = concat!(stringify!($directory), "/", stringify!($program));
                    vec![$((format!("{name} {}", stringify!($graph)), super::super::picture::<$graph>())),+]
                }
            })+
        })+

        /// All programs, as pages name them.
        pub(crate) const PROGRAMS: &[&str] = &[$($(concat!(stringify!($directory), "/", stringify!($program))),+),+];

        /// The diagrams that pages can show.
        pub(crate) fn pictures() -> Pictures {
            [$($($directory::$program::pictures()),+),+].concat()
        }
    };
}

programs! {
    nodes: llm(Helpdesk) logic(Collatz) fork(Shop) join(Translation) map(Library, Counting) graph(Press, Polish) human(Purchase)
        event(Journey) advisory(Newsroom) observer(Haggling);
    cookbook: approval(Office) best_of_n(BestOf, Candidate) first_good(Race, Guess) waves(Waves, Work) recursion(Outlining)
        retry(Estimate) blind_pair(BlindPair) budgeted(Research) service(Refunds);
}

fn picture<G: Graph>() -> String {
    mermaid(G::net().table())
}

/// A file missing from the list above would be a program that no test runs.
#[test]
fn every_file_is_a_program() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for directory in ["nodes", "cookbook"] {
        for entry in std::fs::read_dir(root.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            found.push(format!("{directory}/{}", path.file_stem().unwrap().to_str().unwrap()));
        }
    }
    found.sort();
    let mut listed = PROGRAMS.to_vec();
    listed.sort_unstable();
    assert_eq!(found, listed);
}
