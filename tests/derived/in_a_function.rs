//! A graph may be declared inside a function.

use interlocking::graph::Graph as _;
use interlocking::prelude::*;

#[test]
fn a_graph_may_be_declared_in_a_function() {
    struct Count(u64);

    #[derive(Graph)]
    #[graph(output = u64)]
    struct Counting {
        #[node(entry, input = u64, goto(count, exit), visits = 3)]
        count: LogicNode<Count>,
    }
    crate::held::is_held::<Counting>(module_path!());

    impl LogicHandler<counting::count> for Count {
        async fn run(&self, value: u64, cx: &mut Cx<'_, counting::count>) -> Route<counting::count> {
            if value < self.0 { goto!(cx, self, value + 1) } else { goto!(cx, counting::exit, value) }
        }
    }

    let graph = Counting { count: LogicNode(Count(2)) };
    assert_eq!(graph.count.0.0, 2);
    assert_eq!(Counting::EDGES, 2);
}
