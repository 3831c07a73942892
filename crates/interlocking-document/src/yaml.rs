//! YAML as a tree, of a bounded size.
//!
//! Anchors, aliases and tags are refused, so a tree is never larger than its text.
//!
//! Built on the events of [granit-parser](https://docs.rs/granit-parser). How the crates compare:
//!
//! | crate | |
//! |---|---|
//! | granit-parser 2.1 | used: events with spans, scalars as text, nesting limits; refuses control characters; stable, small |
//! | saphyr-parser 0.3 | the same events (granit-parser is derived from it); no limit for nested blocks |
//! | saphyr 0.3 | reads `6.1` and `6.10` as the same number, and so as a duplicate key |
//! | yaml-rust2 0.13 | keys that look like numbers become numbers; values have no positions |
//! | marked-yaml 0.8 | positions and text, but lists nested 100,000 deep overflow the stack |
//! | serde-saphyr 2.1 | built on granit-parser; positions only for types that ask; stops at the first mistake; 15 dependencies |
//! | serde_yaml | no longer maintained |

use std::collections::BTreeMap;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span, StrInput};

use crate::node::{Key, Node, Text, TextStyle, Value};
use crate::place::Position;
use crate::problems::Problems;
use crate::source::Source;
use crate::words;

/// The tree of a text's only document, and the problems of keys that are duplicate or not texts.
pub(crate) fn parse(source: &Source<'_>) -> Result<(Node, Problems), Problems> {
    let text = source.text()?;
    let depth = source.limits.depth;
    let options = granit_parser::options! {
        disallow_directives: true,
        // One more than the limit, so that the message is ours and not the parser's.
        flow_nesting_limit: depth + 1,
        block_nesting_limit: depth + 1,
    };
    let parser = Parser::new_from_str_with_options(text, without_comments(options));
    let mut tree = Tree { source, parser, problems: Problems::of(source.file) };
    match tree.document() {
        Ok(root) => Ok((root, tree.problems)),
        Err((position, message)) => {
            let mut problems = Problems::of(source.file);
            problems.add(source.in_file(position), "", message);
            Err(problems)
        }
    }
}

/// Turns off events for comments, which the parser emits if another crate enables that feature.
fn without_comments(mut options: Options) -> Options {
    options.set_emit_comments(false);
    options
}

struct Tree<'s, 't> {
    source: &'s Source<'t>,
    parser: Parser<'t, StrInput<'t>>,
    problems: Problems,
}

/// The error that ends parsing: a position in the text, and a message.
type Refused = (Position, String);

impl<'t> Tree<'_, 't> {
    fn document(&mut self) -> Result<Node, Refused> {
        let mut documents = Vec::new();
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => break,
                (Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd, _) => {}
                // A second document is refused without being read.
                (_, span) if !documents.is_empty() => {
                    return Err((begin(span), "a second YAML document begins here: write exactly one".to_owned()));
                }
                (event, span) => documents.push(self.node(event, span, 1)?),
            }
        }
        let nothing = || (Position::START, "there is no YAML document here: write one".to_owned());
        documents.pop().ok_or_else(nothing)
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Refused> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.refused(&error)),
            None => Err((Position::START, "this is not YAML: the text ends too early".to_owned())),
        }
    }

    /// Reads the node that begins with this event.
    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Refused> {
        let at = begin(span);
        if event.is_alias() || event.anchor_id().is_some_and(|id| id != 0) {
            return Err((at, ALIAS.to_owned()));
        }
        if let Some(tag) = event.tag() {
            return Err((at, format!("tags are not taken: remove {}", words::quoted(&tag.original()))));
        }
        let is_scalar = matches!(event, Event::Scalar(..));
        if depth > self.source.limits.depth && !is_scalar {
            return Err((at, self.source.too_deep()));
        }
        let value = match event {
            Event::Scalar(text, style, ..) => Value::Text(Text { content: text.into_owned(), style: style_of(style) }),
            Event::SequenceStart(..) => {
                let mut list = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Value::List(list),
                        (event, span) => list.push(self.node(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => Value::Table(self.table(depth)?),
            other => return Err((at, format!("this is not YAML: there is an unexpected {other:?}"))),
        };
        Ok(Node { position: self.source.in_file(at), value })
    }

    fn table(&mut self, depth: usize) -> Result<Vec<(Key, Node)>, Refused> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        let mut lines = BTreeMap::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(entries),
                (event, span) => self.node(event, span, depth + 1)?,
            };
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            let Some(name) = key.as_text().map(|text| text.content.clone()) else {
                self.problems.add(key.position, "", format!("a key is a text, and here is {key}: write a text"));
                continue;
            };
            match lines.get(&name) {
                Some(first) => self.problems.add(key.position, "", words::twice(&name, *first)),
                None => {
                    lines.insert(name.clone(), key.position.line);
                    entries.push((Key { name, position: key.position }, value));
                }
            }
        }
    }

    fn refused(&self, error: &ScanError) -> Refused {
        let message = match error.kind() {
            ErrorKind::RecursionLimitExceeded => self.source.too_deep(),
            ErrorKind::UnknownAnchor => ALIAS.to_owned(),
            _ => format!("this is not YAML: {}", error.info()),
        };
        (position(error.marker().line(), error.marker().col()), message)
    }
}

const ALIAS: &str = "anchors and aliases are not taken: write the text out";

fn style_of(style: ScalarStyle) -> TextStyle {
    match style {
        ScalarStyle::Plain => TextStyle::Plain,
        ScalarStyle::Literal => TextStyle::Block,
        _ => TextStyle::Quoted,
    }
}

fn begin(span: Span) -> Position {
    position(span.start.line(), span.start.col())
}

/// The parser counts columns from 0.
fn position(line: usize, column: usize) -> Position {
    Position { line, column: column + 1 }
}
