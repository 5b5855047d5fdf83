//! The command line of `rea`.
fn main() {}
