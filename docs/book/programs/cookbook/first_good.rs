use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One attempt. A child run without a good answer fails, and does not count towards the quorum.
#[derive(Graph, Default)]
#[graph(output = u32)]
struct Guess {
    #[node(entry, input = Riddle, output = Answer, goto(check))]
    guess: LLMNode,
    #[node(input = Answer, goto(exit))]
    check: LogicNode<Check>,
}

#[derive(Graph, Default)]
#[graph(output = u32)]
struct Race {
    // The first child that succeeds is the quorum, and the others are cancelled.
    #[node(entry, input = Vec<Riddle>, map = Guess, quorum = 1, goto(exit))]
    guesses: MapNode<Guesses>,
}

#[derive(Clone, Serialize, Deserialize, Template)]
#[template(source = "{{ from }}: which factor of 91 is larger than 7?", ext = "txt")]
struct Riddle {
    from: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    number: u32,
}

#[derive(Default)]
struct Check;
impl LogicHandler<guess::check> for Check {
    async fn run(&self, answer: Answer, cx: &mut Cx<'_, guess::check>) -> Route<guess::check> {
        match answer.number {
            number if number > 7 && 91 % number == 0 => goto!(cx, guess::exit, number),
            number => Err(format!("{number} is no such factor").into()),
        }
    }
}

#[derive(Default)]
struct Guesses;
impl MapHandler<race::guesses> for Guesses {
    fn graph(&self, _: &Cx<'_, race::guesses>) -> Result<Arc<Guess>, NodeError> {
        Ok(Arc::new(Guess::default()))
    }

    async fn items(&self, riddles: &Vec<Riddle>, _: &mut Cx<'_, race::guesses>) -> Result<Vec<Item<Guess>>, NodeError> {
        Ok(riddles.iter().map(|riddle| Item::new(riddle.clone()).with_key(&riddle.from)).collect())
    }

    async fn gather(
        &self,
        _: Vec<Riddle>,
        children: Children<Guess>,
        cx: &mut Cx<'_, race::guesses>,
    ) -> Route<race::guesses> {
        let good = children.all().await.into_iter().find_map(|child| child.result.ok());
        goto!(cx, race::exit, good.ok_or("nobody had a good answer")?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = r#"turn = [
        { contains = ["the hasty: which"], output = { number = 9 } },
        { contains = ["the quick: which"], delay = "20ms", output = { number = 13 } },
        { contains = ["the thorough: which"], delay = "1h", output = { number = 91 } },
    ]"#;
    let riddles = ["the hasty", "the quick", "the thorough"].map(|from| Riddle { from: from.into() });
    let run = Run::new(Race::default()).with_agent_for_others(ScriptedAgent::parse("race.toml", script)?);
    assert_eq!(run.start(riddles.to_vec()).await?.outcome.finished(), Some(13));
    Ok(())
}
