use interlocking::graph::ReportsOf;
use interlocking::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Graph, Default)]
#[graph(output = Article)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), spawn(spelling))]
    write: LogicNode<Write>,
    // Runs beside the graph: only the exit waits for its report, and its failure does not fail the run.
    #[node(input = String, report = Vec<String>, reports_to(exit))]
    spelling: AdvisoryNode<Spelling>,
}

#[derive(Serialize, Deserialize)]
struct Article {
    text: String,
    remarks: Vec<String>,
}

#[derive(Default)]
struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, text: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        cx.spawn::<newsroom::spelling>(text.clone());
        goto!(cx, newsroom::exit, Article { text, remarks: Vec::new() })
    }
}

#[derive(Default)]
struct Spelling;
impl AdvisoryHandler<newsroom::spelling> for Spelling {
    async fn advise(&self, text: String, _: &mut Cx<'_, newsroom::spelling>) -> Result<Vec<String>, NodeError> {
        Ok(text.split(' ').filter(|word| *word == "teh").map(|word| format!("{word}: the?")).collect())
    }
}

/// Makes the run's output from the value that reached the exit and from the reports.
impl Finish for Newsroom {
    async fn finish(&self, mut article: Article, reports: ReportsOf<Self>) -> Result<Article, NodeError> {
        for report in reports.spelling {
            // An advisory execution that failed or took too long adds no remarks.
            article.remarks.extend(report.result.unwrap_or_default());
        }
        Ok(article)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = Run::new(Newsroom::default()).start("teh news".to_owned()).await?;
    let article = report.outcome.finished().ok_or("no article")?;
    assert_eq!((article.text.as_str(), article.remarks.as_slice()), ("teh news", &["teh: the?".to_owned()][..]));
    Ok(())
}
