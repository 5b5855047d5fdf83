//! Whether records say what their ids say: files, and what the session keeps
//! or is given.

use rea::Result;
use rea::evidence::Source;
use rea::json::{WriteJson, Writer};
use rea::mcp::{Arguments, Call, Reply};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Own, Takes};
use crate::quantity::ByteSize;
use crate::retained::Operand;
use crate::verify_evidence::{usual_max_input_bytes, verify};

/// `verify_evidence`.
pub const VERIFY: Own = Own {
    schema: Verify::schema,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Verify {
    /// Files of records and bundles, records themselves, and references to
    /// retained ones
    #[schemars(length(min = 1))]
    evidence: Vec<Given>,
    /// Bytes to read of one of them at most
    #[serde(default = "usual_max_input_bytes")]
    max_input_bytes: ByteSize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Given {
    File(#[schemars(length(min = 1))] String),
    Record(Operand),
}

impl Takes for Verify {
    const TOOL: &'static str = "verify_evidence";
}

fn run(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Verify::read(arguments)?;
    let context = call.context(Verify::TOOL);
    let mut text = Vec::new();
    let mut writer = Writer::canonical(&mut text);
    writer.begin_array();
    for one in &given.evidence {
        let source = match one {
            Given::File(path) if path == "-" => {
                return Err(crate::tool::no_standard_input(Verify::TOOL, "evidence"));
            }
            Given::File(path) => Source::open(path.as_ref()),
            Given::Record(operand) => operand
                .given(Verify::TOOL, "evidence", &call.session)
                .map(|text| Source::memory("evidence", text)),
        };
        verify(source, given.max_input_bytes, &context, &mut |verdict| {
            for one in std::iter::once(&verdict).chain(&verdict.nested) {
                one.write_json(&mut writer);
            }
            Ok(())
        })?;
    }
    writer.end_array();
    writer.finish_infallible();
    Ok(Reply::Result(text.into()))
}
