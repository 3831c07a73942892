//! What runs may use, all their child runs included, and how providers are spared.

pub mod allowance;
pub(crate) mod backoff;
pub mod budget;
pub mod provider;
pub(crate) mod shared;
