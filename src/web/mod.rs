//! Recorded web traffic: captures, the surface that they show, and what two of
//! them differ in. Nothing here opens a connection.

pub mod exchange;
pub mod har;
pub mod line;
pub mod manifest;
pub mod shape;
pub mod state;
pub mod surface;
pub mod template;
