//! A URL shortener.
