//! Empty: only the features of its dependencies count.
