//! Recorded web traffic: captures, the surface that they show, and what two of
//! them differ in. Nothing here opens a connection.

pub mod compare_captures;
mod compare_scenarios;
pub mod compare_screenshots;
pub mod compare_surfaces;
pub mod exchange;
pub mod har;
pub mod line;
pub mod manifest;
pub mod openapi;
pub mod shape;
pub mod state;
pub mod surface;
pub mod template;
