use interlocking::prelude::*;

#[derive(Graph, Default)]
#[graph(output = u32)]
struct Collatz {
    #[node(entry, input = u32, goto(halve, triple, exit), visits = 200, memory = u32)]
    look: LogicNode<Look>,
    #[node(input = u32, goto(look))]
    halve: LogicNode<Halve>,
    #[node(input = u32, goto(look))]
    triple: LogicNode<Triple>,
}

/// Counts the steps in its memory, and ends the run with their number.
#[derive(Default)]
struct Look;
impl LogicHandler<collatz::look> for Look {
    async fn run(&self, number: u32, cx: &mut Cx<'_, collatz::look>) -> Route<collatz::look> {
        if number == 1 {
            return goto!(cx, collatz::exit, cx.memory());
        }
        cx.update_memory(|steps| *steps += 1);
        if number.is_multiple_of(2) { goto!(cx, collatz::halve, number) } else { goto!(cx, collatz::triple, number) }
    }
}

#[derive(Default)]
struct Halve;
impl LogicHandler<collatz::halve> for Halve {
    async fn run(&self, number: u32, cx: &mut Cx<'_, collatz::halve>) -> Route<collatz::halve> {
        goto!(cx, collatz::look, number / 2)
    }
}

#[derive(Default)]
struct Triple;
impl LogicHandler<collatz::triple> for Triple {
    async fn run(&self, number: u32, cx: &mut Cx<'_, collatz::triple>) -> Route<collatz::triple> {
        // `?` fails the node with this reason, and with it the run. Changes by this execution, as to its memory, are discarded.
        let tripled = number.checked_mul(3).ok_or_else(|| format!("{number} is too large"))?;
        goto!(cx, collatz::look, tripled + 1)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = Run::new(Collatz::default()).start(6).await?;
    assert_eq!(report.visits_of("triple"), 2);
    assert_eq!(report.outcome.finished(), Some(8));
    Ok(())
}
