use interlocking::prelude::*;
use std::sync::Arc;

/// The child graph, which is run once for each item.
#[derive(Graph, Default)]
#[graph(output = usize)]
struct Counting {
    #[node(entry, input = String, goto(exit))]
    count: LogicNode<Count>,
}

#[derive(Graph, Default)]
#[graph(output = usize)]
struct Library {
    #[node(entry, input = Vec<String>, map = Counting, concurrency = 2, goto(exit))]
    books: MapNode<Books>,
}

#[derive(Default)]
struct Count;
impl LogicHandler<counting::count> for Count {
    async fn run(&self, text: String, cx: &mut Cx<'_, counting::count>) -> Route<counting::count> {
        if text.is_empty() {
            return Err("there is nothing to read".into());
        }
        goto!(cx, counting::exit, text.split_whitespace().count())
    }
}

#[derive(Default)]
struct Books;
impl MapHandler<library::books> for Books {
    fn graph(&self, _: &Cx<'_, library::books>) -> Result<Arc<Counting>, NodeError> {
        Ok(Arc::new(Counting::default()))
    }

    // The key names a child in the journal. A resumed run finds the child by it.
    async fn items(
        &self,
        texts: &Vec<String>,
        _: &mut Cx<'_, library::books>,
    ) -> Result<Vec<Item<Counting>>, NodeError> {
        Ok(texts.iter().map(|text| Item::new(text.clone()).with_key(text.clone())).collect())
    }

    // A child's failure is an `Err` value here: it does not fail this node.
    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Counting>,
        cx: &mut Cx<'_, library::books>,
    ) -> Route<library::books> {
        let mut words = 0;
        for child in children.all().await {
            match child.result {
                Ok(count) => words += count,
                Err(failure) => cx.note(format!("{:?} is left out: {failure}", child.key)),
            }
        }
        goto!(cx, library::exit, words)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let texts = ["one two", "", "three"].map(str::to_owned).to_vec();
    let report = Run::new(Library::default()).start(texts).await?;
    assert_eq!(report.outcome.finished(), Some(3));
    Ok(())
}
