//! TOML as a tree.

use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use crate::lines::Lines;
use crate::node::{Key, Node, Text, Value};
use crate::place::Position;
use crate::problems::Problems;
use crate::source::Source;

/// The tree of a text. The parser itself refuses duplicate keys.
pub(crate) fn parse(source: &Source<'_>) -> Result<Node, Problems> {
    let text = source.text()?;
    let mut problems = Problems::of(source.file);
    let tree = Tree { source, lines: Lines::of(text) };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let position = error.span().map_or(source.in_file(Position::START), |span| tree.position(span.start));
        problems.add(position, "", format!("this is not TOML: {}", error.message()));
    }
    if !problems.is_empty() {
        return Err(problems.sorted());
    }
    let root = tree.table(table.into_inner(), 1);
    let value = root.map_err(|(position, message)| {
        problems.add(position, "", message);
        problems
    })?;
    Ok(Node { position: source.in_file(Position::START), value })
}

struct Tree<'s, 't> {
    source: &'s Source<'t>,
    lines: Lines<'t>,
}

type Refused = (Position, String);

impl Tree<'_, '_> {
    fn position(&self, offset: usize) -> Position {
        self.source.in_file(self.lines.position(offset))
    }

    fn node(&self, value: Spanned<DeValue<'_>>, depth: usize) -> Result<Node, Refused> {
        let position = self.position(value.span().start);
        let is_deeper = depth > self.source.limits.depth;
        let value = match value.into_inner() {
            DeValue::Table(_) | DeValue::Array(_) if is_deeper => return Err((position, self.source.too_deep())),
            DeValue::Table(table) => self.table(table, depth)?,
            DeValue::Array(items) => Value::List(self.list(items, depth)?),
            DeValue::String(text) => Value::Text(Text::quoted(text)),
            DeValue::Datetime(moment) => Value::Text(Text::quoted(moment.to_string())),
            DeValue::Boolean(truth) => Value::Bool(truth),
            DeValue::Integer(number) => Value::Integer(integer(&number).map_err(|message| (position, message))?),
            DeValue::Float(number) => {
                let read = number.as_str().parse();
                Value::Float(read.map_err(|_| (position, format!("`{number}` is not a number")))?)
            }
        };
        Ok(Node { position, value })
    }

    fn list(&self, items: DeArray<'_>, depth: usize) -> Result<Vec<Node>, Refused> {
        items.into_iter().map(|item| self.node(item, depth + 1)).collect()
    }

    fn table(&self, table: DeTable<'_>, depth: usize) -> Result<Value, Refused> {
        let entries = table.into_iter().map(|(key, value)| {
            let position = self.position(key.span().start);
            let key = Key { name: key.into_inner().into_owned(), position };
            Ok((key, self.node(value, depth + 1)?))
        });
        let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
        // The parser sorts entries by name.
        entries.sort_by_key(|(key, _)| key.position);
        Ok(Value::Table(entries))
    }
}

fn integer(number: &DeInteger<'_>) -> Result<i128, String> {
    i128::from_str_radix(number.as_str(), number.radix()).map_err(|_| format!("`{number}` is too large a number"))
}
