//! The limit.
fn main() {}
