//! Crates whose compilation is measured: a hundred nodes with the derive, the same by hand, and neither.

use std::fmt::Write;

/// A package that depends on what all of them depend on.
pub fn manifest(name: &str, interlocking: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         interlocking = {{ path = {interlocking:?}, default-features = false }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n"
    )
}

/// The payload alone, for what the compiler costs whatever is compiled.
pub fn empty() -> String {
    PAYLOAD.to_owned()
}

/// A ring of `size` nodes with the derive, its codec, and one handler a node.
pub fn derived(size: usize) -> String {
    let mut text = format!("{PAYLOAD}{DERIVED}");
    text.push_str("#[derive(Graph)]\n#[graph(output = Ball)]\npub struct Ring {\n");
    for node in 0..size {
        let (entry, next) = (if node == 0 { "entry, " } else { "" }, (node + 1) % size);
        let _ = writeln!(text, "    #[node({entry}input = Ball, goto(n{next}, exit), visits = unbounded)]");
        let _ = writeln!(text, "    pub n{node}: LogicNode<Pass>,");
    }
    text.push_str("}\n");
    for node in 0..size {
        let next = (node + 1) % size;
        let _ = write!(
            text,
            "impl LogicHandler<ring::n{node}> for Pass {{
    async fn run(&self, mut ball: Ball, cx: &mut Cx<'_, ring::n{node}>) -> Route<ring::n{node}> {{
        ball.hits += 1;
        if ball.hits > 9 {{ goto!(cx, ring::exit, ball) }} else {{ goto!(cx, ring::n{next}, ball) }}
    }}
}}
"
        );
    }
    text
}

/// The same ring as a trait, an enum and a `match`, with the same codec.
pub fn by_hand(size: usize) -> String {
    let mut text = format!("{PAYLOAD}{BY_HAND}");
    text.push_str("pub enum Token {\n");
    for node in 0..size {
        let _ = writeln!(text, "    N{node}(Ball),");
    }
    text.push_str("    Exit(Ball),\n}\npub struct Ring {\n");
    for node in 0..size {
        let _ = writeln!(text, "    pub n{node}: N{node},");
    }
    text.push_str("}\n");
    for node in 0..size {
        let next = (node + 1) % size;
        let _ = write!(
            text,
            "pub struct N{node};
impl Handler for N{node} {{
    async fn run(&self, mut ball: Ball) -> Token {{
        ball.hits += 1;
        if ball.hits > 9 {{ Token::Exit(ball) }} else {{ Token::N{next}(ball) }}
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

const BY_HAND: &str = "
use std::pin::Pin;

pub trait Handler {
    fn run(&self, ball: Ball) -> impl Future<Output = Token> + Send;
}

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
