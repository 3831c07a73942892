//! Nothing: only the features of its dependencies count.
