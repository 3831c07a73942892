//! Crates whose compilation is measured: a hundred nodes with the derive, the same by hand, and neither.

use std::fmt::Write;

/// The manifest of a package, with the dependencies of all generated crates.
pub fn manifest(name: &str, interlocking: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         interlocking = {{ path = {interlocking:?}, default-features = false }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n\
         clap = {{ version = \"4\", default-features = false, features = [\"std\", \"derive\"] }}\n"
    )
}

/// The payload types of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payloads {
    /// All nodes take the same type.
    One,
    /// Each node takes a type of its own.
    Each,
}

impl Payloads {
    /// The payload type of `node`.
    fn of(self, node: usize) -> String {
        match self {
            Self::One => "Ball".to_owned(),
            Self::Each => format!("Ball{node}"),
        }
    }

    /// The expression for the payload of `node`, from the previous payload.
    fn made_for(self, node: usize) -> String {
        match self {
            Self::One => "ball".to_owned(),
            Self::Each => format!("Ball{node} {{ hits: ball.hits, text: ball.text }}"),
        }
    }

    /// The expression for the output, from the last payload.
    fn made_for_exit(self) -> &'static str {
        match self {
            Self::One => "ball",
            Self::Each => "Ball { hits: ball.hits, text: ball.text }",
        }
    }
}

/// Only the payloads, to measure the fixed cost of the compiler.
pub fn empty(size: usize, payloads: Payloads) -> String {
    let mut text = PAYLOAD.to_owned();
    if payloads == Payloads::Each {
        for node in 0..size {
            text.push_str(&PAYLOAD.replace("Ball", &payloads.of(node)));
        }
    }
    text
}

/// A ring of `size` nodes with the derive, its codec, and one handler per node.
pub fn derived(size: usize, payloads: Payloads) -> String {
    let mut text = format!("{}{DERIVED}", empty(size, payloads));
    text.push_str("#[derive(Graph)]\n#[graph(output = Ball)]\npub struct Ring {\n");
    for node in 0..size {
        let (entry, next) = (if node == 0 { "entry, " } else { "" }, (node + 1) % size);
        let ball = payloads.of(node);
        let _ = writeln!(text, "    #[node({entry}input = {ball}, goto(n{next}, exit), visits = unbounded)]");
        let _ = writeln!(text, "    pub n{node}: LogicNode<Pass>,");
    }
    text.push_str("}\n");
    for node in 0..size {
        let next = (node + 1) % size;
        let (ball, passed, out) = (payloads.of(node), payloads.made_for(next), payloads.made_for_exit());
        let _ = write!(
            text,
            "impl LogicHandler<ring::n{node}> for Pass {{
    async fn run(&self, mut ball: {ball}, cx: &mut Cx<'_, ring::n{node}>) -> Route<ring::n{node}> {{
        ball.hits += 1;
        if ball.hits > 9 {{ goto!(cx, ring::exit, {out}) }} else {{ goto!(cx, ring::n{next}, {passed}) }}
    }}
}}
"
        );
    }
    text
}

/// The struct and handlers of a graph with the derive: ten branches of nine nodes between a fork and a join, of which
/// two may clear all ten and start them again. The additional compile time compared to the ring is the check for
/// soundness.
pub fn branches() -> String {
    let mut text = format!("{}{DERIVED}", empty(0, Payloads::One));
    let list = |prefix: &str| (0..10).map(|branch| format!("{prefix}{branch}")).collect::<Vec<_>>();
    let all: Vec<String> = list("b").iter().flat_map(|b| (0..9).map(move |nth| format!("{b}_{nth}"))).collect();
    let (heads, all) = (list("b").iter().map(|b| format!("{b}_0")).collect::<Vec<_>>().join(", "), all.join(", "));
    let _ = writeln!(
        text,
        "#[derive(Graph)]\n#[graph(output = Ball)]\npub struct Ring {{
    #[node(entry, input = Ball, fork({heads}), visits = 4)]\n    pub split: ForkNode<Split>,"
    );
    for branch in 0..10 {
        for nth in 0..9 {
            let next = if nth == 8 { "meet".to_owned() } else { format!("b{branch}_{}", nth + 1) };
            let again = nth == 4 && branch % 5 == 0;
            let again = if again { format!(", goto(split, cancels({all}, meet))") } else { String::new() };
            let _ = writeln!(text, "    #[node(input = Ball, goto({next}){again})]");
            let _ = writeln!(text, "    pub b{branch}_{nth}: LogicNode<Pass>,");
        }
    }
    let slots: Vec<String> = (0..10).map(|branch| format!("s{branch}: Ball from(b{branch}_8)")).collect();
    let _ = writeln!(text, "    #[node(join({}), goto(exit))]\n    pub meet: JoinNode<Meet>,\n}}", slots.join(", "));
    let balls = ["Ball { hits: ball.hits, text: String::new() }"; 10].join(", ");
    let _ = writeln!(
        text,
        "pub struct Split;
impl ForkHandler<ring::split> for Split {{
    async fn fork(&self, ball: Ball, cx: &mut Cx<'_, ring::split>) -> Route<ring::split> {{ fork!(cx, ({balls})) }}
}}
pub struct Meet;
impl JoinHandler<ring::meet> for Meet {{
    async fn join(&self, balls: ({}), cx: &mut Cx<'_, ring::meet>) -> Route<ring::meet> {{ goto!(cx, ring::exit, balls.0) }}
}}",
        ["Ball"; 10].join(", ")
    );
    for branch in 0..10 {
        for nth in 0..9 {
            let next = if nth == 8 { "meet".to_owned() } else { format!("b{branch}_{}", nth + 1) };
            let node = format!("ring::b{branch}_{nth}");
            let _ = writeln!(
                text,
                "impl LogicHandler<{node}> for Pass {{
    async fn run(&self, mut ball: Ball, cx: &mut Cx<'_, {node}>) -> Route<{node}> {{
        ball.hits += 1;
        goto!(cx, ring::{next}, ball)
    }}
}}"
            );
        }
    }
    text
}

/// A command line of `size` arguments with clap's derive.
pub fn arguments(size: usize) -> String {
    let mut text = "#[derive(clap::Parser)]\npub struct Arguments {\n".to_owned();
    for argument in 0..size {
        let _ =
            writeln!(text, "    /// What it is for.\n    #[arg(long)]\n    pub argument{argument}: Option<String>,");
    }
    text + "}\n"
}

/// The same ring as a trait, an enum and a `match`, with the same codec.
pub fn by_hand(size: usize, payloads: Payloads) -> String {
    let mut text = format!("{}{BY_HAND}", empty(size, payloads));
    text.push_str(match payloads {
        Payloads::One => {
            "pub trait Handler {\n    fn run(&self, ball: Ball) -> impl Future<Output = Token> + Send;\n}\n"
        }
        Payloads::Each => HANDLER_OF_EACH,
    });
    text.push_str("pub enum Token {\n");
    for node in 0..size {
        let _ = writeln!(text, "    N{node}({}),", payloads.of(node));
    }
    text.push_str("    Exit(Ball),\n}\npub struct Ring {\n");
    for node in 0..size {
        let _ = writeln!(text, "    pub n{node}: N{node},");
    }
    text.push_str("}\n");
    for node in 0..size {
        let next = (node + 1) % size;
        let (ball, passed, out) = (payloads.of(node), payloads.made_for(next), payloads.made_for_exit());
        let input = if payloads == Payloads::Each { format!("    type Input = {ball};\n") } else { String::new() };
        let _ = write!(
            text,
            "pub struct N{node};
impl Handler for N{node} {{
{input}    async fn run(&self, mut ball: {ball}) -> Token {{
        ball.hits += 1;
        if ball.hits > 9 {{ Token::Exit({out}) }} else {{ Token::N{next}({passed}) }}
    }}
}}
"
        );
    }
    text.push_str("impl Ring {\n    pub async fn step(&self, token: Token) -> Token {\n        match token {\n");
    for node in 0..size {
        let _ = writeln!(text, "            Token::N{node}(ball) => self.n{node}.run(ball).await,");
    }
    text.push_str("            exit @ Token::Exit(_) => exit,\n        }\n    }\n}\n");
    text.push_str("impl Token {\n    pub fn place(&self) -> u16 {\n        match self {\n");
    for node in 0..size {
        let _ = writeln!(text, "            Self::N{node}(_) => {node},");
    }
    let _ = writeln!(text, "            Self::Exit(_) => {size},\n        }}\n    }}");
    text.push_str(
        "    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {\n        match self {\n",
    );
    for node in 0..size {
        let _ = writeln!(text, "            Self::N{node}(ball) => serde::Serialize::serialize(ball, s),");
    }
    text.push_str("            Self::Exit(ball) => serde::Serialize::serialize(ball, s),\n        }\n    }\n");
    text.push_str(
        "    fn deserialize<'de, D: serde::Deserializer<'de>>(place: u16, d: D) -> Result<Self, D::Error> {\n",
    );
    text.push_str("        match place {\n");
    for node in 0..size {
        let _ = writeln!(text, "            {node} => serde::Deserialize::deserialize(d).map(Self::N{node}),");
    }
    let _ = writeln!(text, "            {size} => serde::Deserialize::deserialize(d).map(Self::Exit),");
    text.push_str("            _ => Err(serde::de::Error::custom(\"no such place\")),\n        }\n    }\n}\n");
    text
}

const PAYLOAD: &str = "
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Ball {
    pub hits: u64,
    pub text: String,
}
";

const DERIVED: &str = "
use interlocking::context::Entered;
use interlocking::graph::{Done, Graph as _, Token as _};
use interlocking::prelude::*;
use std::pin::Pin;

pub type Token = <Ring as interlocking::graph::Graph>::Token;
pub struct Pass;

pub fn store(token: &Token) -> String {
    let mut json = Vec::new();
    token.serialize(&mut serde_json::Serializer::new(&mut json)).unwrap();
    String::from_utf8(json).unwrap()
}

pub fn load(place: u16, text: &str) -> Token {
    Token::deserialize(place, &mut serde_json::Deserializer::from_str(text)).unwrap()
}

pub fn step<'r>(ring: &'r Ring, token: Token, at: Entered<'r, Ring>) -> Pin<Box<dyn Future<Output = Done<Ring>> + 'r>> {
    Box::pin(ring.step(token, at))
}

";

const HANDLER_OF_EACH: &str = "
pub trait Handler {
    type Input;
    fn run(&self, ball: Self::Input) -> impl Future<Output = Token> + Send;
}
";

const BY_HAND: &str = "
use std::pin::Pin;

pub fn store(token: &Token) -> String {
    let mut json = Vec::new();
    token.serialize(&mut serde_json::Serializer::new(&mut json)).unwrap();
    String::from_utf8(json).unwrap()
}

pub fn load(place: u16, text: &str) -> Token {
    Token::deserialize(place, &mut serde_json::Deserializer::from_str(text)).unwrap()
}

pub fn step(ring: &Ring, token: Token) -> Pin<Box<dyn Future<Output = Token> + '_>> {
    Box::pin(ring.step(token))
}

";
