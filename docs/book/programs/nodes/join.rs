use interlocking::prelude::*;

#[derive(Graph, Default)]
#[graph(output = String)]
struct Translation {
    #[node(entry, input = String, fork(draft, glossary))]
    share: ForkNode<Share>,
    #[node(input = String, goto(read), visits = 3)]
    draft: LogicNode<Draft>,
    #[node(input = String, goto(read))]
    glossary: LogicNode<Glossary>,
    // Takes one value from each slot. A latched slot keeps its value: the second draft is joined with the same glossary.
    #[node(join(draft: String, glossary: Vec<String> latched), goto(draft, exit))]
    read: JoinNode<Read>,
}

#[derive(Default)]
struct Share;
impl ForkHandler<translation::share> for Share {
    async fn fork(&self, text: String, cx: &mut Cx<'_, translation::share>) -> Route<translation::share> {
        fork!(cx, (text.clone(), text))
    }
}

#[derive(Default)]
struct Draft;
impl LogicHandler<translation::draft> for Draft {
    async fn run(&self, text: String, cx: &mut Cx<'_, translation::draft>) -> Route<translation::draft> {
        let draft = if cx.visit() == 1 { text } else { text.replace("Stellwerk", "interlocking") };
        goto!(cx, translation::read, draft)
    }
}

#[derive(Default)]
struct Glossary;
impl LogicHandler<translation::glossary> for Glossary {
    async fn run(&self, text: String, cx: &mut Cx<'_, translation::glossary>) -> Route<translation::glossary> {
        let words = text.split(' ').filter(|word| word.starts_with(char::is_uppercase)).map(str::to_owned);
        goto!(cx, translation::read, words.collect())
    }
}

#[derive(Default)]
struct Read;
impl JoinHandler<translation::read> for Read {
    async fn join(
        &self,
        (draft, glossary): (String, Vec<String>),
        cx: &mut Cx<'_, translation::read>,
    ) -> Route<translation::read> {
        match glossary.iter().any(|word| draft.contains(word)) && !cx.is_final_visit() {
            true => goto!(cx, translation::draft, draft),
            false => goto!(cx, translation::exit, draft),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = Run::new(Translation::default()).start("the Stellwerk is red".to_owned()).await?;
    assert_eq!(report.visits_of("read"), 2);
    assert_eq!(report.visits_of("glossary"), 1);
    assert_eq!(report.outcome.finished().as_deref(), Some("the interlocking is red"));
    Ok(())
}
