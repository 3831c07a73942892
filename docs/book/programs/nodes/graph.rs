use interlocking::prelude::*;
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = String)]
struct Polish {
    #[node(entry, input = String, goto(exit))]
    trim: LogicNode<Trim>,
}

#[derive(Graph, Default)]
#[graph(output = String)]
struct Press {
    // The types fit and there is one target: the node holds the child graph itself and needs no handler.
    #[node(entry, input = String, graph = Polish, goto(print))]
    polish: GraphNode<Polish>,
    // With more than one target, a handler chooses.
    #[node(input = String, graph = Polish, goto(polish, exit), visits = 2)]
    print: GraphNode<Print>,
}

#[derive(Default)]
struct Trim;
impl LogicHandler<polish::trim> for Trim {
    async fn run(&self, text: String, cx: &mut Cx<'_, polish::trim>) -> Route<polish::trim> {
        let text = text.strip_prefix(' ').map(str::to_owned).unwrap_or(text);
        goto!(cx, polish::exit, text)
    }
}

#[derive(Default)]
struct Print;
impl GraphHandler<press::print> for Print {
    fn graph(&self, _: &Cx<'_, press::print>) -> Result<Arc<Polish>, NodeError> {
        Ok(Arc::new(Polish::default()))
    }

    async fn entry(&self, text: &String, _: &mut Cx<'_, press::print>) -> Result<String, NodeError> {
        Ok(text.clone())
    }

    async fn after(&self, _: String, text: String, cx: &mut Cx<'_, press::print>) -> Route<press::print> {
        if text.starts_with(' ') && !cx.is_final_visit() {
            return goto!(cx, press::polish, text);
        }
        goto!(cx, press::exit, text)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = Run::new(Press::default()).start("   three spaces".to_owned()).await?;
    assert_eq!(report.visits_of("polish"), 2);
    assert_eq!(report.outcome.finished().as_deref(), Some("three spaces"));
    Ok(())
}
