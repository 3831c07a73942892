//! What runs may use, all their child runs included, and how providers are spared.

pub mod allowance;
pub mod budget;
pub mod provider;
