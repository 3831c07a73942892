//! YAML as a tree whose parts know where they stand, of a bounded size.
//!
//! Scalars stay text: nothing here takes `6.10` for a number. Anchors, aliases and tags are refused, so a file's tree is
//! never larger than the file.

use crate::place::Spot;
use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span};

/// The most bytes that a file may have.
pub(crate) const LARGEST: usize = 1 << 20;

/// Deeper than any field of a protocol; the reader below recurses as deep.
const DEEPEST: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Spot,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) style: ScalarStyle,
}

/// Why a text is not a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlProblem {
    /// It is not YAML.
    #[error("this is not YAML: {0}")]
    Syntax(String),
    /// It has more bytes than any protocol needs.
    #[error("the file is larger than {LARGEST} bytes: no protocol needs as much")]
    TooLarge,
    /// It is not UTF-8.
    #[error("the file is not UTF-8 from here on: store it as UTF-8")]
    NotUtf8,
    /// It uses an anchor or an alias, which can make a small file huge.
    #[error("anchors and aliases are not taken: write the text out")]
    Alias,
    /// It uses a tag.
    #[error("tags are not taken: remove `{0}`")]
    Tag(String),
    /// Lists and maps are nested deeper than in any protocol.
    #[error("lists and maps are nested more than {DEEPEST} deep: no field of a protocol is")]
    TooDeep,
    /// There is nothing in it, or more than one document.
    #[error("the file has {0} YAML documents: write exactly one")]
    Documents(usize),
}

pub(crate) type YamlError = (Spot, YamlProblem);

/// The only document of a text.
pub(crate) fn parse(bytes: &[u8]) -> Result<Node, YamlError> {
    if bytes.len() > LARGEST {
        return Err((Spot::START, YamlProblem::TooLarge));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (Spot { line, column }, YamlProblem::NotUtf8)
    })?;
    let options = granit_parser::options! {
        disallow_directives: true,
        // One more, so that it is refused in our words and not in the parser's.
        flow_nesting_limit: DEEPEST + 1,
        block_nesting_limit: DEEPEST + 1,
    };
    let mut tree = Tree { parser: Parser::new_from_str_with_options(text, without_comments(options)) };
    let mut documents = Vec::new();
    loop {
        match tree.next()? {
            (Event::StreamEnd, _) => break,
            (Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd, _) => {}
            (event, span) => documents.push(tree.node(event, span, 0)?),
        }
    }
    match <[Node; 1]>::try_from(documents) {
        Ok([node]) => Ok(node),
        Err(documents) => {
            let at = documents.get(1).map_or(Spot::START, |second| second.at);
            Err((at, YamlProblem::Documents(documents.len())))
        }
    }
}

/// Comments are events too where another crate asks the parser for them.
fn without_comments(mut options: Options) -> Options {
    options.set_emit_comments(false);
    options
}

struct Tree<'text> {
    parser: Parser<'text, granit_parser::StrInput<'text>>,
}

impl<'text> Tree<'text> {
    fn next(&mut self) -> Result<(Event<'text>, Span), YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(refused(&error)),
            None => Err((Spot::START, YamlProblem::Syntax("the file ends too early".to_owned()))),
        }
    }

    /// The node that an event begins.
    fn node(&mut self, event: Event<'text>, span: Span, depth: usize) -> Result<Node, YamlError> {
        let at = spot(span.start.line(), span.start.col());
        if event.is_alias() || event.anchor_id().is_some_and(|id| id != 0) {
            return Err((at, YamlProblem::Alias));
        }
        if let Some(tag) = event.tag() {
            return Err((at, YamlProblem::Tag(tag.original())));
        }
        if depth >= DEEPEST {
            return Err((at, YamlProblem::TooDeep));
        }
        let value = match event {
            Event::Scalar(text, style, ..) => Value::Scalar(Scalar { text: text.into_owned(), style }),
            Event::SequenceStart(..) => {
                let mut list = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Value::List(list),
                        (event, span) => list.push(self.node(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut map = Vec::new();
                loop {
                    let key = match self.next()? {
                        (Event::MappingEnd, _) => break Value::Map(map),
                        (event, span) => self.node(event, span, depth + 1)?,
                    };
                    let (event, span) = self.next()?;
                    map.push((key, self.node(event, span, depth + 1)?));
                }
            }
            other => return Err((at, YamlProblem::Syntax(format!("there is an unexpected {other:?}")))),
        };
        Ok(Node { at, value })
    }
}

fn refused(error: &ScanError) -> YamlError {
    let problem = match error.kind() {
        ErrorKind::RecursionLimitExceeded => YamlProblem::TooDeep,
        ErrorKind::UnknownAnchor => YamlProblem::Alias,
        _ => YamlProblem::Syntax(error.info()),
    };
    (spot(error.marker().line(), error.marker().col()), problem)
}

/// The parser counts columns from 0.
fn spot(line: usize, column: usize) -> Spot {
    Spot { line, column: column + 1 }
}

impl Scalar {
    /// Whether it stands for nothing: `null`, `~`, or no text at all, unquoted.
    pub(crate) fn is_null(&self) -> bool {
        self.style == ScalarStyle::Plain && matches!(&*self.text, "" | "~" | "null" | "Null" | "NULL")
    }
}
