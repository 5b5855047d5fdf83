//! `rea inspect-wasm-artifact`: what a WebAssembly module or component is made
//! of.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::artifact::format::{self, Format};
use rea::binary::wasm::component::Item;
use rea::binary::wasm::facts::Part;
use rea::binary::wasm::walk::id;
use rea::binary::wasm::wat::{USUAL_MAX, Wat};
use rea::binary::wasm::{
    MAX_FILE, PROVIDER, USUAL_MAX_FILE, WasmInput, WasmOptions, WasmRecord, inspect_wasm, module,
};
use rea::evidence::Record;
use rea::operation::{Context, Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::inspect_artifact::{Detail, summary_needs_a_session};
use crate::paint::Tone;
use crate::quantity::{ByteSize, counted, human_bytes};
use crate::recursive::{self, Brief, Take, Target};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Cell, Column, Table};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Take a WebAssembly module or component apart
///
/// Validates the file with every known proposal and tells its sections,
/// imports and exports with their types, functions, memories, tables, globals,
/// tags, data and elements with their ranges, names, producers, target
/// features, debug information and linking data; of components also what is
/// inside them. The text form is included for files up to 1 MiB, or with
/// --wat. Scripts given as glue are searched for literals that name .wasm
/// files. Nothing is run and nothing is fetched; links are not followed.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,

    /// Script that may load it; may be given up to 16 times
    #[arg(long, alias = "glue_paths", value_name = "FILE")]
    #[serde(default)]
    pub glue_paths: Vec<PathBuf>,

    /// Other file that the scripts may mean; may be given up to 16 times
    #[arg(long, alias = "candidate_paths", value_name = "FILE")]
    #[serde(default)]
    pub candidate_paths: Vec<PathBuf>,

    /// Include the text of files beyond 1 MiB too
    #[arg(long)]
    #[serde(default)]
    pub wat: bool,

    /// Leave the text out where it comes to more than this
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_wat_bytes())]
    #[serde(default = "usual_max_wat_bytes")]
    pub max_wat_bytes: ByteSize,

    /// Refuse larger files
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_file_bytes())]
    #[serde(default = "usual_max_file_bytes")]
    pub max_file_bytes: ByteSize,

    /// How much of the record to deliver; `summary` needs a session
    #[arg(long, value_name = "DETAIL", default_value = "complete")]
    #[serde(default)]
    pub detail: Detail,
}

fn usual_max_wat_bytes() -> ByteSize {
    ByteSize(USUAL_MAX)
}

fn usual_max_file_bytes() -> ByteSize {
    ByteSize(USUAL_MAX_FILE)
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "inspect_wasm_artifact",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea inspect-wasm-artifact app.wasm | jq -c '.normalized_result.facts.imports[]'";
    const TOOL: Form = Form::Same(Facts {
        surface: "artifact-provider",
        ..Facts::STRUCTURE
            .with_summary(r#"{"kind":"wasm","facet":"sections","offset":0,"limit":64}"#)
    });

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        if self.detail == Detail::Summary {
            return Err(summary_needs_a_session(&Self::OPERATION, PROVIDER.id));
        }
        let options = WasmOptions {
            wat: self.wat,
            max_wat_bytes: self.max_wat_bytes.0,
        };
        if let Some(folder) = self.target.folder() {
            return recursive::run(ui, &context, folder, |path, context, take| {
                self.one_of_many(path, &options, context, take)
            });
        }
        let path = self.target.path(context.operation)?;
        let input = ui.operate(&context, |context| {
            WasmInput::read(
                path,
                &self.glue_paths,
                &self.candidate_paths,
                self.max_file_bytes.0.min(MAX_FILE),
                context,
            )
        })?;
        let record = ui.operate(&context, |context| inspect_wasm(&input, &options, context))?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Input {
    /// A file of a folder, where it is a module or component.
    fn one_of_many(
        &self,
        path: &Path,
        options: &WasmOptions,
        context: &Context,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let head = rea::recursive::head(path, 8, context.operation)?;
        if format::of_bytes(&head, head.len() as u64) != Format::Wasm {
            return Ok(());
        }
        let (glue, candidates) = (&self.glue_paths, &self.candidate_paths);
        let most = self.max_file_bytes.0.min(MAX_FILE);
        let input = WasmInput::read(path, glue, candidates, most, context)?;
        let record = inspect_wasm(&input, options, context)?;
        let part = record.part();
        let brief = Brief {
            format: part.unit.kind.as_str().to_owned(),
            what: part.own_name().unwrap_or_default().to_owned(),
        };
        take(&record, brief);
        Ok(())
    }
}

const SECTIONS: &[Column] = &[
    Column::text("SECTION"),
    Column::number("START"),
    Column::number("SIZE"),
    Column::number("ENTRIES"),
    Column::text("NAME"),
];
const IMPORTS: &[Column] = &[
    Column::text("KIND"),
    Column::text("FROM"),
    Column::text("NAME"),
    Column::text("TYPE"),
];
const EXPORTS: &[Column] = &[
    Column::text("KIND"),
    Column::text("NAME"),
    Column::text("TYPE"),
];
const NESTED: &[Column] = &[
    Column::text("KIND"),
    Column::number("START"),
    Column::number("SIZE"),
    Column::text("NAME"),
    Column::text("SHA-256"),
];
const PRODUCERS: &[Column] = &[
    Column::text("FIELD"),
    Column::text("NAME"),
    Column::text("VERSION"),
];
const GLUE: &[Column] = &[
    Column::text("SCRIPT"),
    Column::number("LINE"),
    Column::text("NAMES"),
    Column::text("WHICH IS"),
];

fn describe(record: &WasmRecord<'_>, report: &mut Report) {
    let part = record.part();
    let unit = &part.unit;
    report.title(record.path());
    report.fact("kind", unit.kind.as_str());
    report.fact("size", human_bytes(unit.end - unit.start));
    report.toned_fact("validation", "valid", Tone::Good);
    if let Some(name) = part.own_name() {
        report.fact("name", name);
    }
    if let Some(module) = &part.module {
        describe_module(part, module, report);
    }
    match record.wat() {
        Wat::Text(text) => report.fact("text", human_bytes(text.bytes)),
        Wat::Unavailable(_) => report.fact("text", "not included"),
    }
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Sections", SECTIONS, |table| sections(part, table));
    report.table("Nested", NESTED, |table| nested(part, table));
    match &part.module {
        Some(module) => {
            report.table("Imports", IMPORTS, |table| {
                module::imports(unit, |import| {
                    let ty = match table.is_full() {
                        true => None,
                        false => module.extern_text(&import.ty),
                    };
                    table.row([
                        Cell::from(module::kind_word(module::kind_of(&import.ty))),
                        import.module.into(),
                        import.name.into(),
                        ty.unwrap_or_default().into(),
                    ]);
                });
            });
            report.table("Exports", EXPORTS, |table| {
                for export in module::entries::<module::Export<'_>>(unit, id::EXPORT) {
                    let ty = match table.is_full() {
                        true => None,
                        false => module.item(export.kind, export.index).text,
                    };
                    table.row([
                        Cell::from(module::kind_word(export.kind)),
                        export.name.into(),
                        ty.unwrap_or_default().into(),
                    ]);
                }
            });
        }
        None => {
            report.table("Imports", EXPORTS, |table| {
                items(&part.surface.imports, "", table);
            });
            report.table("Exports", EXPORTS, |table| {
                items(&part.surface.exports, "", table);
            });
        }
    }
    report.table("Producers", PRODUCERS, |table| producers(part, table));
    report.table("Glue", GLUE, |table| {
        for glue in record.glue() {
            for (value, line, association) in glue.references() {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                table.row([
                    Cell::from(glue.path()),
                    line.to_string().into(),
                    value.into(),
                    association.into(),
                ]);
            }
        }
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}

fn describe_module(part: &Part<'_>, module: &module::Module<'_>, report: &mut Report) {
    let functions = module.functions.len() as u64;
    let imported = u64::from(module.imported.functions);
    report.fact(
        "functions",
        format!(
            "{}, {imported} imported",
            counted(functions, "function", "functions")
        ),
    );
    let memories: Vec<String> = module
        .memories
        .iter()
        .map(rea::binary::wasm::text::memory)
        .collect();
    if !memories.is_empty() {
        report.fact("memory", memories.join(" "));
    }
    let customs = &part.customs;
    let features: Vec<String> = customs
        .target_features
        .iter()
        .map(|(prefix, feature)| format!("{prefix}{feature}"))
        .collect();
    if !features.is_empty() {
        report.fact("features", features.join(" "));
    }
    if let Some(url) = customs.source_map {
        report.fact("source map", url);
    }
    if let Some(url) = customs.external_debug {
        report.fact("debug information", url);
    }
}

fn sections(part: &Part<'_>, table: &mut Table) {
    let unit = &part.unit;
    let mut customs = part.customs.sections.iter();
    for section in &unit.sections {
        let name = match section.id {
            id::CUSTOM => customs.next().map_or("", |custom| custom.name),
            _ => "",
        };
        let count = section
            .count
            .map_or(String::new(), |count| count.to_string());
        table.row([
            Cell::from(section.label(unit.kind)),
            format!("{:#x}", section.start).into(),
            (section.end - section.start).to_string().into(),
            count.into(),
            name.into(),
        ]);
    }
}

fn nested(part: &Part<'_>, table: &mut Table) {
    for inner in &part.nested {
        let unit = &inner.unit;
        let sha256 = inner.sha256.map_or(String::new(), |digest| digest.to_hex());
        table.row([
            Cell::from(unit.kind.as_str()),
            format!("{:#x}", unit.start).into(),
            (unit.end - unit.start).to_string().into(),
            inner.own_name().unwrap_or_default().into(),
            Cell::toned(sha256, Tone::Dim),
        ]);
        nested(inner, table);
    }
}

fn items(items: &[Item], within: &str, table: &mut Table) {
    for item in items {
        let name = match within {
            "" => item.name.clone(),
            within => format!("{within}#{}", item.name),
        };
        table.row([
            Cell::from(item.kind),
            name.as_str().into(),
            item.ty.as_deref().unwrap_or_default().into(),
        ]);
        self::items(&item.items, &name, table);
    }
}

fn producers(part: &Part<'_>, table: &mut Table) {
    for field in &part.customs.producers {
        for (name, version) in &field.values {
            table.row([Cell::from(field.name), (*name).into(), (*version).into()]);
        }
    }
}
