//! Tools that work on what a session keeps, where the command line works on
//! files: their arguments, and the same calls of the engine.

mod artifacts;
mod unknowns;
mod view;

use rea::Result;
use rea::evidence::Record;
use rea::json::{WriteJson, Writer};
use rea::mcp::{Arguments, Reply, parsed};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::tool::Own;

pub use artifacts::{COMPARE, COMPARE_BUNDLES, EXTRACT};
pub use unknowns::{LIST_UNKNOWNS, RECORD_UNKNOWN, UPDATE_UNKNOWN, VERIFY_RESOLUTION};
pub use view::VIEW;

/// A record as a reply.
fn record(record: &dyn Record) -> Reply {
    let mut text = Vec::new();
    let mut writer = Writer::canonical(&mut text);
    record.write_record(&mut writer);
    writer.finish_infallible();
    Reply::Evidence {
        id: record.id(),
        text: text.into(),
    }
}

/// A document as a reply.
fn result(document: &dyn WriteJson) -> Reply {
    let mut text = Vec::new();
    let mut writer = Writer::canonical(&mut text);
    document.write_json(&mut writer);
    writer.finish_infallible();
    Reply::Result(text.into())
}

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
