//! How a command is offered to a session: what a row of the table adds to make
//! a tool of it.

use std::sync::Arc;

use rea::mcp::{Arguments, Call, Effects, Output, Reply, Run, Takes, Tool, parsed};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::registry::{COMMANDS, Command, Row};
use crate::ui::Ui;

/// Whether and how a command is a tool.
#[derive(Clone, Copy)]
pub enum Form {
    /// It is none: it is about the command line or its files.
    None,
    /// With the arguments of the command line.
    Same(Facts),
    /// With arguments of its own, because it works on what the session keeps.
    Own(Facts, Own),
}

/// Arguments that only a tool has.
#[derive(Clone, Copy)]
pub struct Own {
    /// The schema of them.
    pub schema: fn() -> Value,
    /// The work.
    pub run: fn(Arguments, &Call) -> Result<Reply>,
}

/// What a tool is beside its command.
#[derive(Clone, Copy)]
pub struct Facts {
    /// Where it belongs in the contract's catalog.
    pub surface: &'static str,
    /// What it may do.
    pub effects: Effects,
    /// Whether it works on what is open.
    pub takes: Takes,
    /// What it answers with.
    pub output: Output,
    /// Whether its records have a summary.
    pub summary: bool,
    /// A view of the first part of a record, as JSON.
    pub first_page: Option<&'static str>,
    /// Whether there may be several documents; the result is then a list.
    pub many: bool,
    /// Whether replies hold what a target says.
    pub returns_target_content: bool,
}

/// A record is kept; the same call gives the same one.
const RECORDED: Effects = Effects::MUTATES_SESSION.and(Effects::IDEMPOTENT);

const RECORD: Facts = Facts {
    surface: "artifact-provider",
    effects: RECORDED,
    takes: Takes::Nothing,
    output: Output::Evidence,
    summary: false,
    first_page: None,
    many: false,
    returns_target_content: true,
};

impl Facts {
    /// What a record has that another program may have to decode, in a folder
    /// of temporary files.
    pub const DECODED: Effects = RECORDED
        .and(Effects::WRITES_FILESYSTEM)
        .and(Effects::LAUNCHES_PROCESS);

    /// An inventory of some kind, which may need temporary files.
    pub const ARTIFACT: Self = Self {
        effects: RECORDED.and(Effects::WRITES_FILESYSTEM),
        takes: Takes::Target,
        ..RECORD
    };
    /// A record about the structure of a program.
    pub const STRUCTURE: Self = Self {
        surface: "native-provider",
        takes: Takes::Target,
        ..RECORD
    };
    /// A record about what a program has in memory.
    pub const MEMORY: Self = Self {
        surface: "official-proxy",
        takes: Takes::Binary,
        ..RECORD
    };
    /// A list of what is in a program.
    pub const LIST: Self = Self {
        summary: true,
        first_page: Some(r#"{"kind":"native-inventory","offset":0,"limit":64}"#),
        ..Self::MEMORY
    };
    /// A record made of records.
    pub const DERIVED: Self = Self {
        surface: "session",
        ..RECORD
    };
    /// Files that are written.
    pub const EXTRACTION: Self = Self {
        effects: Effects::MUTATES_SESSION.and(Effects::WRITES_FILESYSTEM),
        takes: Takes::Target,
        ..RECORD
    };
    /// A comparison of files of records.
    pub const COMPARING: Self = Self {
        surface: "session",
        output: Output::Result,
        ..RECORD
    };
    /// A part of a record.
    pub const VIEW: Self = Self {
        surface: "application",
        ..RECORD
    };
    /// A new question; nothing of a target is in the reply.
    pub const RECORDING: Self = Self {
        returns_target_content: false,
        ..Self::CHANGING
    };
    /// A result about what the session keeps.
    pub const READING: Self = Self {
        surface: "session",
        effects: Effects::IDEMPOTENT,
        output: Output::Result,
        ..RECORD
    };
    /// A change of what the session keeps.
    pub const CHANGING: Self = Self {
        effects: Effects::MUTATES_SESSION,
        ..Self::READING
    };

    /// The same with a summary and a first page.
    pub const fn with_summary(mut self, first_page: &'static str) -> Self {
        self.summary = true;
        self.first_page = Some(first_page);
        self
    }
}

/// What a tool does not need of a command line.
const ONLY_ON_THE_COMMAND_LINE: [&str; 3] = ["recursive", "filter", "exit_code"];

/// The tools of all commands that are tools.
pub fn tools() -> Vec<Tool> {
    COMMANDS.iter().filter_map(tool).collect()
}

/// The names of the tools that need a program.
pub fn of_programs() -> Vec<&'static str> {
    let needs = |row: &&Row| match row.tool {
        Form::None => false,
        Form::Same(facts) | Form::Own(facts, _) => facts.takes == Takes::Binary,
    };
    let rows = COMMANDS.iter().filter(needs);
    rows.map(|row| row.operation.name).collect()
}

fn tool(row: &'static Row) -> Option<Tool> {
    let (facts, schema, run): (Facts, Value, Run) = match row.tool {
        Form::None => return None,
        Form::Same(facts) => {
            let same = row.same;
            let run = move |arguments: Arguments, call: &Call| {
                refuse_standard_input(row.operation.name, &arguments)?;
                let (ui, capture) = Ui::in_session(call, facts.many);
                same(arguments, &ui)?;
                capture.reply(row.operation.name)
            };
            let schema = (row.input_schema)();
            (facts, same_schema(schema, facts), Arc::new(run))
        }
        Form::Own(facts, own) => {
            let mut schema = (own.schema)();
            rea::mcp::without_null(&mut schema);
            (facts, schema, Arc::new(own.run))
        }
    };
    Some(Tool {
        name: row.operation.name,
        surface: facts.surface,
        description: row.description(),
        effects: facts.effects,
        returns_target_content: facts.returns_target_content,
        input_schema: schema,
        output: facts.output,
        takes: facts.takes,
        summary: facts.summary,
        first_page: facts
            .first_page
            .and_then(|view| serde_json::from_str(view).ok()),
        run,
    })
}

/// Runs a command with the arguments of a tool.
pub fn same<C: Command + DeserializeOwned>(arguments: Arguments, ui: &Ui) -> Result<()> {
    let input: C = parsed(arguments, C::OPERATION.name)?;
    input.run(ui).map(drop)
}

/// The schema of a command's input, as a tool takes it.
fn same_schema(mut schema: Value, facts: Facts) -> Value {
    let target = facts.takes != Takes::Nothing;
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !(target && name == "path"));
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for name in ONLY_ON_THE_COMMAND_LINE {
            properties.remove(name);
        }
        if target {
            let path = json!({
                "type": "string", "minLength": 1,
                "description": "File, folder or application; the open target where it is left out",
            });
            properties.insert("path".to_owned(), path);
        }
        if facts.summary {
            let detail = json!({
                "enum": ["complete", "summary"], "default": "complete",
                "description": "The complete record, or a summary of it while the session keeps it",
            });
            properties.insert("detail".to_owned(), detail);
        }
    }
    if let Some(members) = schema.as_object_mut() {
        members.remove("description");
    }
    schema
}

/// Standard input belongs to the protocol.
fn refuse_standard_input(operation: &str, arguments: &Arguments) -> Result<()> {
    for (name, value) in arguments {
        let is_it = |value: &Value| value == "-";
        let inside = value
            .as_array()
            .is_some_and(|items| items.iter().any(is_it));
        if name != "pattern" && (is_it(value) || inside) {
            return Err(no_standard_input(operation, name));
        }
    }
    Ok(())
}

/// An argument is standard input.
pub fn no_standard_input(operation: &str, name: &str) -> Error {
    let message = format!("{name} is standard input, which a session does not have");
    Error::invalid_request(operation, &[name], "invalid_value", message)
        .action("Give the path of a file.")
}

/// The schema of a struct of arguments.
pub fn schema_of<I: JsonSchema>(name: &str) -> Value {
    rea::mcp::schema_of::<I>(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_takes_what_its_command_takes_but_for_the_command_line() {
        for tool in tools() {
            let schema = &tool.input_schema;
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            assert_eq!(schema["type"], "object", "{}", tool.name);
            for name in ONLY_ON_THE_COMMAND_LINE {
                assert!(
                    schema["properties"].get(name).is_none(),
                    "{} {name}",
                    tool.name
                );
            }
            assert!(!tool.description.is_empty());
            jsonschema::validator_for(schema).unwrap();
        }
    }

    #[test]
    fn standard_input_is_refused_and_a_hyphen_can_be_searched_for() {
        let arguments = |json: Value| json.as_object().unwrap().clone();
        let refused = |json| refuse_standard_input("x", &arguments(json)).is_err();
        assert!(refused(json!({"path": "-"})));
        assert!(refused(json!({"symbols": ["a", "-"]})));
        assert!(!refused(json!({"path": "a", "pattern": "-"})));
    }
}
