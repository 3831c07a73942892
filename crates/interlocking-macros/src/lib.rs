//! The derive macro of Interlocking.
