//! Tools that work on what a session keeps, where the command line works on
//! files: their arguments, and the same calls of the engine.

mod artifacts;
mod unknowns;
mod verify;
mod view;
mod web;

use rea::Result;
use rea::mcp::{Arguments, parsed};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::tool::Own;

pub use artifacts::{COMPARE, COMPARE_BUNDLES, EXTRACT};
pub use unknowns::{LIST_UNKNOWNS, RECORD_UNKNOWN, UPDATE_UNKNOWN, VERIFY_RESOLUTION};
pub use verify::VERIFY;
pub use view::VIEW;
pub use web::{COMPARE_CAPTURES, COMPARE_SCREENSHOTS, COMPARE_SURFACES};

/// Arguments that have a schema.
trait Takes: JsonSchema + DeserializeOwned {
    /// The tool that takes them.
    const TOOL: &'static str;

    /// Reads them; they were checked against the schema.
    fn read(arguments: Arguments) -> Result<Self> {
        parsed(arguments, Self::TOOL)
    }

    /// Their schema.
    fn schema() -> serde_json::Value {
        crate::tool::schema_of::<Self>(Self::TOOL)
    }
}
