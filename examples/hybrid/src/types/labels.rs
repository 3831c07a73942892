//! How enums read in prompts and messages: the variant's name, or the text of an open one.

use std::fmt;

use super::{FixType, HoleType, MutationType, PropertyType, Severity};

macro_rules! reads_as_its_name {
    ($($name:ident $(or $open:ident)?),+ $(,)?) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$open(text) => f.write_str(text),)?
                    named => write!(f, "{named:?}"),
                }
            }
        }
    )+};
}

reads_as_its_name!(
    PropertyType or Other,
    FixType or OtherFix,
    MutationType or OtherMutation,
    HoleType,
    Severity,
);
