//! What is left to do after a run, for a person or for the next run.

use super::PropertySketch;
use serde::{Deserialize, Serialize};

/// One thing to do, from the run's findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkItem {
    /// What to do.
    pub action: Action,
    /// The function, sketched property or invariant that it is about.
    pub about: String,
    /// Why, and how, in words.
    pub detail: String,
    /// A property to write, if one was suggested: it can be used in the next contract as it is (HY-244).
    pub suggested_property: Option<PropertySketch>,
}

/// The kinds of things to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Action {
    /// Redesign a type with a newtype or a smart constructor, so that the invalid value cannot be made (HY-239).
    RedesignType,
    /// Hide what can be reached or relied upon from outside.
    HideInside,
    /// Give a function an answer for every input that its type allows.
    MakeTotal,
    /// Make two types of one that has two meanings.
    SplitType,
    /// Add the boundary property that would have caught a mutant (HY-240).
    AddBoundaryProperty,
    /// Add the property that would have caught another mutant.
    AddProperty,
    /// Examine a change of the program's own making that no test detects: either a property is missing, or the change is
    /// equivalent.
    LookAtMutant,
    /// Write properties for a function that none exercises (HY-241).
    CoverFunction,
    /// Write a sketched property that is missing (HY-242).
    WriteSketch,
    /// Include examples of the contract that no property includes (HY-243).
    ExpandExamples,
}
