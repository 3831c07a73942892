//! Reads values of any type that serde can deserialize, with errors that have a position.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};

use crate::node::{Key, Node, Plain, Value};
use crate::place::Position;
use crate::problems::Problems;
use crate::words;

/// Reads a value; `path` are the keys that lead to it. If it is not a `T`, adds a problem and returns `None`.
pub(crate) fn read<T: DeserializeOwned>(node: &Node, path: &str, problems: &mut Problems) -> Option<T> {
    T::deserialize(Reader(node))
        .map_err(|error| {
            let path = error.keys.iter().rev().fold(path.to_owned(), |path, key| words::joined(&path, key));
            problems.add(error.position.unwrap_or(node.position), &path, error.message);
        })
        .ok()
}

/// The message for a missing field.
pub(crate) fn missing(name: &str) -> String {
    format!("the field `{name}` is missing: write it")
}

/// An error with its place. The keys are added while the error is passed up the tree.
#[derive(Debug)]
pub(crate) struct Refused {
    /// `None` until the error leaves the innermost value.
    position: Option<Position>,
    /// The keys, innermost first.
    keys: Vec<String>,
    message: String,
}

impl Refused {
    fn here(node: &Node, wanted: impl fmt::Display) -> Self {
        let message = format!("expected {wanted}, found {node}");
        Self { position: Some(node.position), keys: Vec::new(), message }
    }

    fn at(mut self, position: Position) -> Self {
        self.position.get_or_insert(position);
        self
    }

    fn under(mut self, key: &Key) -> Self {
        self.keys.push(key.name.clone());
        self
    }
}

impl de::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { position: None, keys: Vec::new(), message: message.to_string() }
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        Self::custom(format_args!("expected {wanted}, found {}", called(found)))
    }

    fn invalid_value(found: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        Self::invalid_type(found, wanted)
    }

    fn invalid_length(found: usize, wanted: &dyn de::Expected) -> Self {
        Self::custom(format_args!("expected {wanted}, found {found}"))
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        let near = words::nearest(found, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
        let known = words::any_of(known.iter().copied());
        Self::custom(format_args!("expected {known}, found {}{near}", words::quoted(found)))
    }

    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        Self::custom(words::unknown(found, known))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::custom(missing(name))
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::custom(format_args!("the field `{name}` is here twice: remove one"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

fn called(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(truth) => format!("`{truth}`"),
        Unexpected::Unsigned(number) => format!("`{number}`"),
        Unexpected::Signed(number) => format!("`{number}`"),
        Unexpected::Float(number) => format!("`{number}`"),
        Unexpected::Str(text) => words::quoted(text),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// Deserializes a value.
#[derive(Clone, Copy)]
struct Reader<'d>(&'d Node);

/// Deserializes whole numbers; the message for each type states the type's bounds.
macro_rules! integers {
    ($($deserialize:ident $visit:ident $number:ty),*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            let wanted = format_args!("a whole number from {} to {}", <$number>::MIN, <$number>::MAX);
            match self.0.plain() {
                Plain::Integer(number) => {
                    let number = <$number>::try_from(number).map_err(|_| Refused::here(self.0, wanted))?;
                    visitor.$visit(number)
                }
                _ => Err(Refused::here(self.0, wanted)),
            }
            .map_err(|error: Refused| error.at(self.0.position))
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let read = match self.0.plain() {
            Plain::Nothing => visitor.visit_unit(),
            Plain::Bool(truth) => visitor.visit_bool(truth),
            Plain::Integer(number) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => visitor.visit_i64(number),
                (_, Ok(number)) => visitor.visit_u64(number),
                _ => visitor.visit_i128(number),
            },
            Plain::Float(number) => visitor.visit_f64(number),
            Plain::Text(text) => visitor.visit_borrowed_str(text),
            Plain::List(items) => visitor.visit_seq(Items(items.iter())),
            Plain::Table(entries) => table(entries, visitor),
        };
        read.map_err(|error| error.at(self.0.position))
    }

    integers! {
        deserialize_i8 visit_i8 i8, deserialize_i16 visit_i16 i16, deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64, deserialize_i128 visit_i128 i128,
        deserialize_u8 visit_u8 u8, deserialize_u16 visit_u16 u16, deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64, deserialize_u128 visit_u128 u128
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0.plain() {
            Plain::Bool(truth) => visitor.visit_bool(truth),
            _ => Err(Refused::here(self.0, "`true` or `false`")),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0.plain() {
            Plain::Float(number) => visitor.visit_f64(number),
            Plain::Integer(number) => visitor.visit_f64(number as f64),
            _ => Err(Refused::here(self.0, "a number")),
        }
        .map_err(|error| error.at(self.0.position))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0.as_text() {
            Some(text) => visitor.visit_borrowed_str(&text.content).map_err(|error: Refused| error.at(self.0.position)),
            None => Err(Refused::here(self.0, "text")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.0.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
            .map_err(|error: Refused| error.at(self.0.position))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self).map_err(|error: Refused| error.at(self.0.position))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match &self.0.value {
            Value::List(items) => visitor.visit_seq(Items(items.iter())).map_err(|error| error.at(self.0.position)),
            _ => Err(Refused::here(self.0, "a list")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Refused> {
        match &self.0.value {
            Value::List(items) if items.len() != length => {
                let message = format!("expected a list of {length}, found one of {}", items.len());
                Err(Refused { position: Some(self.0.position), keys: Vec::new(), message })
            }
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match &self.0.value {
            Value::Table(entries) => table(entries, visitor).map_err(|error| error.at(self.0.position)),
            _ => Err(Refused::here(self.0, "a table")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let (name, content) = match (&self.0.value, self.0.as_text()) {
            (_, Some(text)) => (&*text.content, None),
            (Value::Table(entries), _) if let [(key, content)] = &entries[..] => (&*key.name, Some((key, content))),
            _ => {
                return Err(Refused::here(self.0, words::any_of(variants.iter().copied())));
            }
        };
        visitor.visit_enum(Variant { name, content }).map_err(|error| error.at(self.0.position))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

fn table<'de, V: Visitor<'de>>(entries: &'de [(Key, Node)], visitor: V) -> Result<V::Value, Refused> {
    visitor.visit_map(Entries { rest: entries.iter(), value: None })
}

/// The items of a list that are not yet read.
struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        self.0.next().map(|node| seed.deserialize(Reader(node)).map_err(|error| error.at(node.position))).transpose()
    }
}

/// The entries of a table.
struct Entries<'de> {
    rest: std::slice::Iter<'de, (Key, Node)>,
    value: Option<&'de (Key, Node)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        self.value = self.rest.next();
        let Some((key, _)) = self.value else { return Ok(None) };
        let name = StrDeserializer::new(&key.name);
        seed.deserialize(name).map(Some).map_err(|error: Refused| error.at(key.position).under(key))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        let (key, node) = self.value.take().ok_or_else(|| de::Error::custom("a value was asked for before its key"))?;
        seed.deserialize(Reader(node)).map_err(|error| error.at(node.position).under(key))
    }
}

/// A variant of an enum: a text, or a table with one entry.
struct Variant<'de> {
    name: &'de str,
    content: Option<(&'de Key, &'de Node)>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Refused;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Refused> {
        let name = seed.deserialize(StrDeserializer::<Refused>::new(self.name));
        let name = name.map_err(|error| match self.content {
            Some((key, _)) => error.at(key.position),
            None => error,
        })?;
        Ok((name, self))
    }
}

impl<'de> Variant<'de> {
    fn content<T>(self, read: impl FnOnce(Reader<'de>) -> Result<T, Refused>) -> Result<T, Refused> {
        match self.content {
            Some((key, node)) => read(Reader(node)).map_err(|error| error.at(node.position).under(key)),
            None => Err(de::Error::custom(format_args!(
                "`{0}` says more than its name: write a table, {{ {0} = … }}",
                self.name
            ))),
        }
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Refused;

    fn unit_variant(self) -> Result<(), Refused> {
        match self.content {
            None => Ok(()),
            Some((key, node)) => Err(Refused::here(node, "nothing").under(key)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refused> {
        self.content(|reader| seed.deserialize(reader))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Refused> {
        self.content(|reader| reader.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Refused> {
        self.content(|reader| reader.deserialize_map(visitor))
    }
}
