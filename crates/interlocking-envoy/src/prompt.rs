//! Prompts of a feature, for which agents follow protocols.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A prompt of a feature, or one of its variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The feature's branch.
    pub feature_branch: String,
    /// The prompt's number.
    pub number: u32,
    /// The variant; `None` if the prompt has no variants.
    pub variant: Option<Variant>,
    /// The purpose of the prompt.
    pub kind: PromptKind,
}

/// The purpose of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptKind {
    /// To implement something.
    Implementation,
    /// To find and fix a bug.
    Debug,
}

/// The letter of a variant, `A` to `Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Variant(char);

/// A text is not a variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no variant: write one letter, `A` to `Z`")]
pub struct VariantError(pub String);

/// The suffix of a feature's name in names of prompt branches, as git allows no branch below the feature's own branch.
const PROMPTS_SUFFIX: &str = "-prompts";

impl Prompt {
    /// The possible names of the branch of the prompt's worktree: `<feature>/implementation-<number>[-<variant>]`, and
    /// `<feature>-prompts/…`, because git allows no branch below another, and the feature has a branch itself.
    pub fn worktree_branches(&self) -> [String; 2] {
        let Self { feature_branch, number, variant, .. } = self;
        let variant = variant.map_or_else(String::new, |variant| format!("-{variant}"));
        ["", PROMPTS_SUFFIX].map(|suffix| format!("{feature_branch}{suffix}/implementation-{number}{variant}"))
    }

    /// The feature branch in the name of a worktree's branch; `None` if the name does not have this form.
    pub fn feature_of(worktree_branch: &str) -> Option<&str> {
        let (feature, prompt) = worktree_branch.rsplit_once("/implementation-")?;
        let (number, variant) =
            prompt.split_once('-').map_or((prompt, None), |(number, letter)| (number, Some(letter)));
        let is_named = number.parse::<u32>().is_ok() && variant.is_none_or(|letter| letter.parse::<Variant>().is_ok());
        is_named.then(|| Self::without_suffix(feature))
    }

    /// The name under which decisions about a feature are stored: a branch `tides-prompts/implementation-3-A` may be one of the feature
    /// `tides` and of `tides-prompts`.
    pub(crate) fn without_suffix(feature: &str) -> &str {
        feature.strip_suffix(PROMPTS_SUFFIX).unwrap_or(feature)
    }
}

impl Variant {
    /// The first letter.
    pub const FIRST: Self = Self('A');

    /// The letter after this one, if there is one.
    pub fn next(self) -> Option<Self> {
        (self.0 < 'Z').then(|| Self(char::from(self.0 as u8 + 1)))
    }
}

impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Self, VariantError> {
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            (Some(letter @ 'A'..='Z'), None) => Ok(Self(letter)),
            _ => Err(VariantError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Variant {
    type Error = VariantError;

    fn try_from(text: String) -> Result<Self, VariantError> {
        text.parse()
    }
}

impl From<Variant> for String {
    fn from(variant: Variant) -> Self {
        variant.to_string()
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { feature_branch, number, variant, .. } = self;
        let variant = variant.map_or_else(String::new, |variant| format!("_{variant}"));
        write!(f, "prompt {number}{variant} of {feature_branch}")
    }
}
