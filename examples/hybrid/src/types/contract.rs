//! The contract both blind agents work from: functions, each with examples and properties.

use super::NonEmpty;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One function of the contract (HY-79). Without an example or without a property it does not parse (HY-80).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FunctionSpec {
    /// The function's name, with its type when it is a method: `BoundedStack::push`.
    #[serde(alias = "fnName")]
    pub name: String,
    /// Its Rust signature, without a body.
    #[serde(alias = "fnSignature")]
    pub signature: String,
    /// What it does, in one line.
    #[serde(alias = "fnBrief")]
    pub brief: String,
    /// What it does, in full, with its edge cases, in prose.
    #[serde(alias = "fnBehavior")]
    pub behavior: String,
    /// Cases that ground the behaviour; at least one.
    #[serde(alias = "fnExamples")]
    pub examples: NonEmpty<ConcreteExample>,
    /// Laws that define what a test has to check; at least one.
    #[serde(alias = "fnProperties")]
    pub properties: NonEmpty<PropertySketch>,
    /// In which order to work: lower first. A hint only.
    #[serde(alias = "fnPriority")]
    pub priority: i64,
}

/// One case of a function's behaviour (HY-76).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConcreteExample {
    /// What the case shows.
    #[serde(alias = "ceDescription")]
    pub description: String,
    /// The input, in words or as a Rust expression.
    #[serde(alias = "ceInput")]
    pub input: String,
    /// The outcome, in words or as a Rust expression.
    #[serde(alias = "ceExpected")]
    pub expected: String,
    /// Whether it lies at an edge of the domain.
    #[serde(alias = "ceEdgeCase")]
    pub edge_case: bool,
}

/// A law in prose or pseudo-code, never in code that could be run (HY-77).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PropertySketch {
    /// The name the property test should bear.
    #[serde(alias = "psName")]
    pub name: String,
    /// What the law says.
    #[serde(alias = "psDescription")]
    pub description: String,
    /// The law itself, as a formula or sentence.
    #[serde(alias = "psInvariant")]
    pub invariant: String,
    /// What kind of law it is.
    #[serde(rename = "type", alias = "psType")]
    pub property_type: PropertyType,
}

/// The kinds of laws (HY-78).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum PropertyType {
    /// One function undoes another.
    Inverse,
    /// Doing it twice is doing it once.
    Idempotent,
    /// The order of the operands does not matter.
    Commutative,
    /// The grouping of the operands does not matter.
    Associative,
    /// There is an element that changes nothing.
    Identity,
    /// Something stays as it was.
    Preservation,
    /// What happens at the edge of the domain.
    Boundary,
    /// More of the input never gives less of the output.
    Monotonic,
    /// Another kind, named.
    Other(String),
}
