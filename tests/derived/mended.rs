//! Graphs that do not compile, mended as their messages say. docs/book/src/soundness.md shows both, and this holds the page to the
//! files: what is wrong there is `compile-fail/soundness_….rs` with its message, what is right is a module here.

use interlocking::graph::Node;
use interlocking::prelude::*;
use std::path::Path;

const PAGE: &str = include_str!("../../docs/book/src/soundness.md");
const MENDED: &str = include_str!("mended.rs");

/// Cases about the messages only, and not about a rule.
const NOT_ON_THE_PAGE: [&str; 4] = ["after_structure", "beside_type_error", "late_for_quorum", "several"];

/// Handles everything, in graphs that are never run.
pub(super) struct Todo;

impl<N: Node> LogicHandler<N> for Todo {
    async fn run(&self, _: N::Input, _: &mut Cx<'_, N>) -> Route<N> {
        unimplemented!("never run")
    }
}

impl<N: Node> JoinHandler<N> for Todo {
    async fn join(&self, _: N::Input, _: &mut Cx<'_, N>) -> Route<N> {
        unimplemented!("never run")
    }
}

mod starved_join {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Gated);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Gated {
        #[node(entry, input = String, fork(skeleton, adversary))]
        types: LogicNode<Todo>,
        #[node(input = String, goto(gate))]
        skeleton: LogicNode<Todo>,
        #[node(input = String, goto(gate))]
        adversary: LogicNode<Todo>,
        #[node(join(skeleton: String, adversary: String), goto(types_fix, exit))]
        gate: JoinNode<Todo>,
        #[node(input = String, fork(skeleton, adversary), visits = 5)]
        types_fix: LogicNode<Todo>,
    }
}

mod second_round {
    use super::Todo;
    use interlocking::prelude::*;

    held!(V3);

    #[derive(Graph)]
    #[graph(output = String)]
    struct V3 {
        #[node(entry, input = String, goto(fork, exit), visits = 5)]
        scaffold: LogicNode<Todo>,
        #[node(input = String, fork(write_tests, children | barrier.merges))]
        fork: LogicNode<Todo>,
        #[node(input = String, goto(barrier.merges), goto(exit, cancels(*)))]
        children: LogicNode<Todo>,
        #[node(input = String, goto(barrier.tests), goto(scaffold, cancels(children, barrier)), visits = 12)]
        write_tests: LogicNode<Todo>,
        #[node(join(tests: String from(write_tests), merges: String from(children, fork) latched), goto(implement))]
        barrier: JoinNode<Todo>,
        #[node(input = String, goto(implement, review, exit), goto(scaffold, cancels(barrier)), attempts = 5, visits = 12)]
        implement: LogicNode<Todo>,
        #[node(input = String, goto(write_tests, exit), visits = 12)]
        review: LogicNode<Todo>,
    }
}

mod deadlock {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Trade);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Trade {
        #[node(entry, input = String, fork(offer.goods, offer.paid, demand.money))]
        open: LogicNode<Todo>,
        #[node(join(goods: String from(open), paid: String from(open)), goto(demand.delivered))]
        offer: JoinNode<Todo>,
        #[node(join(money: String from(open), delivered: String from(offer)), goto(exit))]
        demand: JoinNode<Todo>,
    }
}

mod branches_without_join {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Newsroom);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Newsroom {
        #[node(entry, input = String, fork(spelling, facts))]
        write: LogicNode<Todo>,
        #[node(input = String, goto(desk))]
        spelling: LogicNode<Todo>,
        #[node(input = String, goto(desk))]
        facts: LogicNode<Todo>,
        #[node(join(spelling: String, facts: String), goto(print))]
        desk: JoinNode<Todo>,
        #[node(input = String, goto(exit))]
        print: LogicNode<Todo>,
    }
}

mod double_token {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Newsroom);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Newsroom {
        #[node(entry, input = String, fork(spelling, facts), visits = 3)]
        write: LogicNode<Todo>,
        #[node(input = String, goto(desk))]
        spelling: LogicNode<Todo>,
        #[node(input = String, goto(desk), goto(write, cancels(spelling, desk)))]
        facts: LogicNode<Todo>,
        #[node(join(spelling: String, facts: String), goto(exit))]
        desk: JoinNode<Todo>,
    }
}

mod live_at_exit {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Hybrid);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Hybrid {
        #[node(entry, input = String, goto(post, exit))]
        validate: LogicNode<Todo>,
        #[node(input = String, fork(finish, mutation))]
        post: LogicNode<Todo>,
        #[node(input = String, goto(settle))]
        finish: LogicNode<Todo>,
        #[node(input = String, goto(settle))]
        mutation: LogicNode<Todo>,
        #[node(join(finish: String, mutation: String), goto(exit))]
        settle: JoinNode<Todo>,
    }
}

mod unbounded_cycle {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Newsroom);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Newsroom {
        #[node(entry, input = String, goto(review))]
        write: LogicNode<Todo>,
        #[node(input = String, goto(write, print), visits = 3)]
        review: LogicNode<Todo>,
        #[node(input = String, goto(print, exit), visits = unbounded)]
        print: LogicNode<Todo>,
    }
}

mod never_runs {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Newsroom);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Newsroom {
        #[node(entry, input = String, fork(spelling, facts))]
        write: LogicNode<Todo>,
        #[node(input = String, goto(desk))]
        spelling: LogicNode<Todo>,
        #[node(input = String, goto(desk))]
        facts: LogicNode<Todo>,
        #[node(join(spelling: String, facts: String), goto(correct, print))]
        desk: JoinNode<Todo>,
        #[node(input = String, goto(print))]
        correct: LogicNode<Todo>,
        #[node(input = String, goto(exit))]
        print: LogicNode<Todo>,
    }
}

mod exit_unreachable {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Watch);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Watch {
        #[node(entry, input = String, goto(left, right), visits = 9)]
        poll: LogicNode<Todo>,
        #[node(input = String, fork(poll, both.left, cancels(both.left)))]
        left: LogicNode<Todo>,
        #[node(input = String, fork(poll, both.right, cancels(both.right)))]
        right: LogicNode<Todo>,
        #[node(join(left: String, right: String), goto(exit, cancels(*)))]
        both: JoinNode<Todo>,
    }
}

mod no_way_out {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Watch);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Watch {
        #[node(entry, input = String, fork(poll, both.start))]
        start: LogicNode<Todo>,
        #[node(input = String, goto(poll), fork(poll, both.poll, cancels(both.poll)), visits = unbounded)]
        poll: LogicNode<Todo>,
        #[node(join(start: String, poll: String), goto(exit, cancels(*)))]
        both: JoinNode<Todo>,
    }
}

mod shared_workspace {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Newsroom);

    #[derive(Graph)]
    #[graph(output = String)]
    struct Newsroom {
        #[node(entry, input = String, fork(spelling, facts), workspace = "draft")]
        write: LogicNode<Todo>,
        #[node(input = String, goto(desk), workspace = "draft", exclusive = "draft")]
        spelling: LogicNode<Todo>,
        #[node(input = String, goto(desk), workspace = "draft", exclusive = "draft")]
        facts: LogicNode<Todo>,
        #[node(join(spelling: String, facts: String), goto(exit), workspace = "draft")]
        desk: JoinNode<Todo>,
    }
}

mod undecided {
    use super::Todo;
    use interlocking::prelude::*;

    held!(Newsroom);

    #[derive(Graph)]
    #[graph(output = String, markings = 20)]
    struct Newsroom {
        #[node(entry, input = String, fork(spelling, facts))]
        write: LogicNode<Todo>,
        #[node(input = String, goto(desk))]
        spelling: LogicNode<Todo>,
        #[node(input = String, goto(desk))]
        facts: LogicNode<Todo>,
        #[node(join(spelling: String, facts: String), goto(exit))]
        desk: JoinNode<Todo>,
    }
}

/// The page's text about one case.
struct Case<'p> {
    name: &'p str,
    wrong: &'p str,
    message: &'p str,
    mended: &'p str,
}

fn cases() -> Vec<Case<'static>> {
    let case = |text: &'static str| {
        let (name, rest) = text.split_once(" -->").expect("a name");
        let mut blocks = rest.split("\n```").skip(1).step_by(2);
        let mut block = |kind: &str| {
            let block = blocks.next().and_then(|block| block.strip_prefix(kind)?.strip_prefix('\n'));
            block.unwrap_or_else(|| panic!("{name}: where a block of {kind} should be is none"))
        };
        Case { name, wrong: block("rust"), message: block("text"), mended: block("rust") }
    };
    PAGE.split("<!-- case: ").skip(1).map(case).collect()
}

/// rustc's message without the location.
pub(super) fn without_place(stderr: &str) -> String {
    let lines =
        stderr.lines().filter(|line| !line.trim_start().starts_with("--> ")).map(|line| match line.split_once(" |") {
            Some((number, _)) if number.trim().parse::<u32>().is_ok() => {
                format!("{}{}", " ".repeat(number.len()), &line[number.len()..])
            }
            _ => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_shows_what_the_compiler_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("compile-fail");
    for Case { name, wrong, message, mended } in cases() {
        let read = |kind: &str| {
            let file = folder.join(format!("soundness_{name}.{kind}"));
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        };
        let whole = |graph: &str| graph.starts_with("#[derive(Graph)]\n") && graph.ends_with("\n}");
        assert!(whole(wrong) && read("rs").contains(&format!("\n{wrong}\n")), "{name}: the wrong graph differs");
        assert_eq!(message, without_place(read("stderr").trim_end()), "{name}: the message differs");
        let module = MENDED.split_once(&format!("\nmod {name} {{\n")).expect("a module of that name").1;
        let module = module.split_once("\n}\n").unwrap().0;
        let module: Vec<&str> = module.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
        assert!(whole(mended) && module.join("\n").ends_with(mended), "{name}: the mended graph differs");
    }
}

#[test]
fn the_page_shows_every_rule() {
    let mut shown: Vec<String> = cases().iter().map(|case| case.name.to_owned()).collect();
    shown.extend(NOT_ON_THE_PAGE.map(str::to_owned));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("compile-fail");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut there: Vec<String> =
        files.filter_map(|file| Some(file.strip_prefix("soundness_")?.strip_suffix(".rs")?.to_owned())).collect();
    shown.sort();
    there.sort();
    assert_eq!(shown, there);
}
