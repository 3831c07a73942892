//! Nothing yet: the types agent writes this file.
