//! Lists that cannot be empty.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A list with at least one element. An empty one does not parse, so later code need not check for it (HY-80).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<T>", into = "Vec<T>", bound(serialize = "T: Serialize + Clone"))]
pub struct NonEmpty<T>(Vec<T>);

/// An empty list was given where at least one element is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the list is empty; give at least one element")]
pub struct EmptyList;

impl<T> NonEmpty<T> {
    /// A list of one element.
    pub fn of(first: T) -> Self {
        Self(vec![first])
    }

    /// The same list with one more element.
    #[must_use]
    pub fn and(mut self, next: T) -> Self {
        self.0.push(next);
        self
    }
}

impl<T> TryFrom<Vec<T>> for NonEmpty<T> {
    type Error = EmptyList;

    fn try_from(list: Vec<T>) -> Result<Self, EmptyList> {
        if list.is_empty() { Err(EmptyList) } else { Ok(Self(list)) }
    }
}

impl<T> From<NonEmpty<T>> for Vec<T> {
    fn from(list: NonEmpty<T>) -> Self {
        list.0
    }
}

impl<T> Deref for NonEmpty<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, T> IntoIterator for &'a NonEmpty<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: JsonSchema> JsonSchema for NonEmpty<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("NonEmptyListOf{}", T::schema_name()).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("{}::NonEmpty<{}>", module_path!(), T::schema_id()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "array",
            "items": generator.subschema_for::<T>(),
            "minItems": 1,
        })
    }
}
