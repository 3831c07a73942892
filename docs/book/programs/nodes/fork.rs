use interlocking::prelude::*;

#[derive(Graph, Default)]
#[graph(output = String)]
struct Shop {
    // Starts both branches at once. `|` separates the alternatives of a branch: the second one here is the join's slot `gift`.
    #[node(entry, input = Order, fork(pack, gift | ship.gift))]
    share: ForkNode<Share>,
    #[node(input = Order, goto(ship))]
    pack: LogicNode<Pack>,
    #[node(input = String, goto(ship))]
    gift: LogicNode<Wrap>,
    #[node(join(pack: String, gift: Option<String> from(gift, share)), goto(exit))]
    ship: JoinNode<Ship>,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Order {
    item: String,
    greeting: Option<String>,
}

#[derive(Default)]
struct Share;
impl ForkHandler<shop::share> for Share {
    async fn fork(&self, order: Order, cx: &mut Cx<'_, shop::share>) -> Route<shop::share> {
        match order.greeting.clone() {
            Some(greeting) => fork!(cx, (order, cx.branch::<shop::gift>(greeting))),
            None => fork!(cx, (order, cx.branch::<shop::ship_gift>(None))),
        }
    }
}

#[derive(Default)]
struct Pack;
impl LogicHandler<shop::pack> for Pack {
    async fn run(&self, order: Order, cx: &mut Cx<'_, shop::pack>) -> Route<shop::pack> {
        goto!(cx, shop::ship, format!("a parcel with {}", order.item))
    }
}

#[derive(Default)]
struct Wrap;
impl LogicHandler<shop::gift> for Wrap {
    async fn run(&self, greeting: String, cx: &mut Cx<'_, shop::gift>) -> Route<shop::gift> {
        goto!(cx, shop::ship, Some(format!("a card that says {greeting:?}")))
    }
}

#[derive(Default)]
struct Ship;
impl JoinHandler<shop::ship> for Ship {
    async fn join(&self, (parcel, card): (String, Option<String>), cx: &mut Cx<'_, shop::ship>) -> Route<shop::ship> {
        let card = card.map_or(String::new(), |card| format!(" and {card}"));
        goto!(cx, shop::exit, parcel + &card)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let order = |greeting: Option<&str>| Order { item: "a lamp".into(), greeting: greeting.map(Into::into) };
    let plain = Run::new(Shop::default()).start(order(None)).await?;
    assert_eq!(plain.outcome.finished().as_deref(), Some("a parcel with a lamp"));
    let gift = Run::new(Shop::default()).start(order(Some("Hello"))).await?;
    assert_eq!(gift.outcome.finished().as_deref(), Some("a parcel with a lamp and a card that says \"Hello\""));
    Ok(())
}
