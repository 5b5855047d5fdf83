//! `rea view`: a part of a record, as a record.

mod layout;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args, ValueEnum};
use rea::evidence::Record;
use rea::json::{Limits, Object, Text, Value, WriteJson, Writer};
use rea::operation::{Effect, Family, Operation};
use rea::view::{self, NothingRetained, Request, SourceForm, ViewRecord};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::paint::Tone;
use crate::quantity::{ByteSize, counted, human_bytes, safe_integer, thousands};
use crate::registry::{Command, OutputKind};
use crate::report::{Report, path_word};
use crate::table::{Cell, Column, Table};
use crate::tool::Form;
use crate::ui::Ui;

/// Show a part of a record: its summary, or rows of one of its lists
///
/// Reads one record of inspect-artifact, inventory-artifact or
/// inspect-binary-layout, inspect-macho or inspect-wasm-artifact, checks it, and
/// answers with a small record of its own: what was selected, how much of the
/// whole that is, and the id of the record it came from. Nothing is run or opened again,
/// and a record of any size is read in little memory. It is the same record
/// that inspect-analysis-view gives for the same selection.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[command(group(ArgGroup::new("selection").required(true).args([
    "summary", "mitigations", "linkage", "sections", "symbols", "collection", "wasm", "macho",
])))]
#[command(group(ArgGroup::new("list").args(["sections", "symbols", "collection"])))]
pub struct Input {
    /// File of one record, `-` for standard input
    pub evidence: PathBuf,

    /// What the record says as a whole, and how much there is of each list
    #[arg(long)]
    #[serde(default)]
    pub summary: bool,

    /// Of a layout: the protections
    #[arg(long)]
    #[serde(default)]
    pub mitigations: bool,

    /// Of a layout: what it is linked with
    #[arg(long)]
    #[serde(default)]
    pub linkage: bool,

    /// Of a layout: the same as --collection sections
    #[arg(long)]
    #[serde(default)]
    pub sections: bool,

    /// Of a layout: the same as --collection symbols
    #[arg(long)]
    #[serde(default)]
    pub symbols: bool,

    /// Rows of this list, as they stand in the record
    #[arg(long, value_name = "LIST")]
    #[serde(default)]
    pub collection: Option<Collection>,

    /// Of a layout's list: the one row with exactly this name
    #[arg(long, value_name = "NAME", requires = "list", conflicts_with_all = ["index", "path"])]
    #[serde(default)]
    pub name: Option<String>,

    /// Of a layout's list: the one row at this place, from 0
    #[arg(long, value_name = "N", requires = "list", conflicts_with = "path",
          value_parser = clap::value_parser!(u64).range(..=rea::json::MAX_SAFE_INTEGER))]
    #[serde(default)]
    #[schemars(range(max = rea::json::MAX_SAFE_INTEGER))]
    pub index: Option<u64>,

    /// This part of a module: rows, or a page of a text
    #[arg(long, value_name = "FACET")]
    #[serde(default)]
    pub wasm: Option<Facet>,

    /// This list of a Mach-O file's record
    #[arg(long, value_name = "FACET")]
    #[serde(default)]
    pub macho: Option<MachoFacet>,

    /// The first row that is selected; of texts the first UTF-16 code unit
    #[arg(long, value_name = "N", default_value_t = 0,
          conflicts_with_all = ["summary", "mitigations", "linkage", "name", "index"],
          value_parser = clap::value_parser!(u64).range(..=rea::json::MAX_SAFE_INTEGER))]
    #[serde(default, deserialize_with = "safe_integer")]
    #[schemars(range(max = rea::json::MAX_SAFE_INTEGER))]
    pub offset: u64,

    /// Rows at most; of texts UTF-16 code units at most
    #[arg(long, value_name = "N", default_value_t = LIMIT,
          conflicts_with_all = ["summary", "mitigations", "linkage", "name", "index"],
          value_parser = clap::value_parser!(u64).range(1..=rea::json::MAX_SAFE_INTEGER))]
    #[serde(default = "usual_limit", deserialize_with = "safe_integer")]
    #[schemars(range(min = 1, max = rea::json::MAX_SAFE_INTEGER))]
    pub limit: u64,

    /// Only occurrences with exactly this logical path; may be given again,
    /// in any order (the view holds each once, sorted)
    #[arg(long, value_name = "PATH", conflicts_with = "summary")]
    #[serde(default)]
    pub path: Vec<String>,

    /// Bytes to read of the record at most
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_input_bytes())]
    #[serde(default = "usual_max_input_bytes")]
    pub max_input_bytes: ByteSize,
}

/// A list of an inventory, or of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Collection {
    /// Of an inventory: distinct contents
    Nodes,
    /// Of an inventory: entries, by path
    Occurrences,
    /// Of an inventory: which content holds which entry
    Edges,
    /// Of an inventory: bytes that are not those that their container declares
    IntegrityContradictions,
    /// Of a layout
    Sections,
    /// Of a layout
    Segments,
    /// Of a layout
    Symbols,
    /// Of a layout
    Relocations,
    /// Of a layout: what it asks for
    Imports,
    /// Of a layout: what it offers
    Exports,
}

/// A part of a module's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Facet {
    /// Sections with their ranges
    Sections,
    /// Import forms
    Imports,
    /// Export forms
    Exports,
    /// Files that scripts may mean
    Candidates,
    /// Scripts and their references
    Glue,
    /// The text form
    Wat,
    /// A line for each section
    Headers,
    /// A line for each thing in the sections
    Details,
    /// What read the module, and its limits
    ToolProfile,
}

/// A list of a Mach-O file's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum MachoFacet {
    /// Where the program starts
    Entrypoints,
    /// Slices of the file
    Architectures,
    /// Platforms and tools that it was built for and with
    BuildMetadata,
    /// Load commands with their fields
    LoadCommands,
    /// Libraries that it loads
    Dependencies,
    /// What it asks for
    Imports,
    /// What it offers
    Exports,
    /// Segments with their sections
    Segments,
    /// Tools that were run: none
    Provenance,
}

const LIMIT: u64 = 64;

fn usual_limit() -> u64 {
    LIMIT
}

/// Shared with `inspect-analysis-view`.
pub fn usual_max_input_bytes() -> ByteSize {
    ByteSize(Limits::default().max_input_bytes)
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "view",
        family: Family::Everyday,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea view layout.json --symbols --name main";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(view::OPERATION);
        let limits = Limits {
            max_input_bytes: self.max_input_bytes.0,
            ..Limits::default()
        };
        self.check()?;
        let request = Request::new(SourceForm::File(self.evidence.clone()), self.view())?;
        let record = ui.operate(&context, |context| {
            view::inspect(request, &NothingRetained, limits, context)
        })?;
        ui.evidence(&context, &record, |report| {
            describe_view(&record, report);
            self.next_page(&record, report);
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Input {
    /// The list whose rows are wanted.
    fn list(&self) -> Option<Collection> {
        match (self.sections, self.symbols) {
            (true, _) => Some(Collection::Sections),
            (_, true) => Some(Collection::Symbols),
            _ => self.collection,
        }
    }

    /// The request's view.
    fn view(&self) -> Object {
        let mut view = Object::new();
        if let Some(facet) = self.wasm {
            view.insert("kind", "wasm");
            view.insert("facet", facet.name());
            view.insert("offset", self.offset);
            view.insert("limit", self.limit);
            return view;
        }
        if let Some(facet) = self.macho {
            view.insert("kind", "macho");
            view.insert("facet", facet.name());
            view.insert("offset", self.offset);
            view.insert("limit", self.limit);
            return view;
        }
        let Some(collection) = self.list() else {
            match (self.mitigations, self.linkage) {
                (true, _) => view.insert("facet", "mitigations"),
                (_, true) => view.insert("facet", "linkage"),
                _ => {
                    view.insert("kind", "summary");
                    return view;
                }
            }
            view.insert("kind", "facet");
            return view;
        };
        view.insert("collection", collection.name());
        let mut selector = Object::new();
        if let Some(name) = &self.name {
            selector.insert("name", name.as_str());
        }
        if let Some(index) = self.index {
            selector.insert("index", index);
        }
        if !selector.is_empty() {
            view.insert("kind", "item");
            view.insert("selector", selector);
            return view;
        }
        view.insert(
            "kind",
            if collection.of_layout() {
                "page"
            } else {
                "inventory"
            },
        );
        view.insert("offset", self.offset);
        view.insert("limit", self.limit);
        if !self.path.is_empty() {
            view.insert("logical_paths", self.paths());
        }
        view
    }

    /// The paths, each once and in one order: saying one twice or first does
    /// not change what is selected.
    fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = self.path.iter().map(String::as_str).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    fn check(&self) -> Result<()> {
        if self.path.is_empty() || self.collection == Some(Collection::Occurrences) {
            return Ok(());
        }
        let message = "--path selects from occurrences only";
        let operation = Self::OPERATION.name;
        Err(
            Error::invalid_request(operation, &["path"], "invalid_value", message)
                .action("Add `--collection occurrences`, or leave --path away."),
        )
    }

    fn next_page(&self, record: &ViewRecord, report: &mut Report) {
        let selected = match (self.list(), self.wasm, self.macho) {
            (Some(collection), ..) => ("--collection", collection.name()),
            (None, Some(facet), _) => ("--wasm", facet.name()),
            (None, None, Some(facet)) => ("--macho", facet.name()),
            (None, None, None) => return,
        };
        let Some(offset) = record.coverage().next_offset else {
            return;
        };
        if self.evidence.as_os_str() == "-" {
            return;
        }
        let mut words: Vec<OsString> = vec!["rea".into(), "view".into()];
        words.push(path_word(&self.evidence));
        words.extend([selected.0.into(), selected.1.into()]);
        words.extend(["--offset".into(), offset.to_string().into()]);
        words.extend(["--limit".into(), self.limit.to_string().into()]);
        for path in self.paths() {
            words.push(format!("--path={path}").into());
        }
        report.next_steps([(words, "The next page.".to_owned())]);
    }
}

impl Collection {
    fn of_layout(self) -> bool {
        !matches!(
            self,
            Self::Nodes | Self::Occurrences | Self::Edges | Self::IntegrityContradictions
        )
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sections => "sections",
            Self::Segments => "segments",
            Self::Symbols => "symbols",
            Self::Relocations => "relocations",
            Self::Imports => "imports",
            Self::Exports => "exports",
            Self::Nodes => "nodes",
            Self::Occurrences => "occurrences",
            Self::Edges => "edges",
            Self::IntegrityContradictions => "integrity_contradictions",
        }
    }
}

impl Facet {
    fn name(self) -> &'static str {
        match self {
            Self::Sections => "sections",
            Self::Imports => "imports",
            Self::Exports => "exports",
            Self::Candidates => "candidates",
            Self::Glue => "glue",
            Self::Wat => "wat",
            Self::Headers => "headers",
            Self::Details => "details",
            Self::ToolProfile => "tool_profile",
        }
    }
}

impl MachoFacet {
    fn name(self) -> &'static str {
        match self {
            Self::Entrypoints => "entrypoints",
            Self::Architectures => "architectures",
            Self::BuildMetadata => "build_metadata",
            Self::LoadCommands => "load_commands",
            Self::Dependencies => "dependencies",
            Self::Imports => "imports",
            Self::Exports => "exports",
            Self::Segments => "segments",
            Self::Provenance => "provenance",
        }
    }
}

/// The report of a view.
pub fn describe_view(record: &ViewRecord, report: &mut Report) {
    let subject = record.parent().subject.as_ref();
    let path = subject.and_then(|subject| {
        let path = subject.get("local_path").and_then(Value::as_str);
        path.filter(|path| !path.is_empty())
            .or_else(|| subject.get("name").and_then(Value::as_str))
    });
    report.title(path.unwrap_or("artifact"));
    report.fact("view", view_name(record));
    report.fact("evidence", record.id().to_string());
    report.fact("parent", record.parent().id.to_string());
    report.fact("operation", text(&record.parent().operation));
    let coverage = record.coverage();
    if coverage.status != "complete-within-view" {
        let mut shown = format!(
            "{} of {}",
            thousands(coverage.examined),
            match record.fact("item") {
                Some(_) => counted(coverage.total, "UTF-16 code unit", "UTF-16 code units"),
                None => counted(coverage.total, "row", "rows"),
            }
        );
        if let Some(next) = coverage.next_offset {
            shown.push_str(&format!("; the next page starts at {}", thousands(next)));
        }
        report.fact("page", shown);
    }
    let operation = &record.parent().operation;
    if *operation == *"inspect_wasm_artifact" {
        crate::wasm_view::describe(record, report);
    } else if *operation == *"inspect_macho" {
        crate::macho_view::describe(record, report);
    } else if *operation == *"inspect_binary_layout" {
        layout::describe(record, report);
    } else {
        describe_inventory_view(record, report);
    }
    report.list("Not known", record.unknowns().iter().map(text));
    report.list("Limitations", record.limitations().iter().map(text));
}

/// How many rows a list has, who made it and what was asked.
fn describe_list_summary(summary: &Value, report: &mut Report) {
    let provider = summary.get("provider").unwrap_or(&Value::Null);
    let made_by = format!(
        "{} {}",
        member(provider, "name"),
        member(provider, "version")
    );
    report.fact("rows", member(summary, "row_count"));
    report.fact("provider", made_by.trim().to_owned());
    let asked = summary.get("query").and_then(Value::as_object);
    let asked = asked
        .into_iter()
        .flat_map(Object::iter)
        .map(|(name, value)| {
            let value = match value {
                Value::String(value) => text(value),
                other => {
                    let mut json = Vec::new();
                    let mut writer = Writer::canonical(&mut json);
                    other.write_json(&mut writer);
                    writer.finish_infallible();
                    String::from_utf8_lossy(&json).into_owned()
                }
            };
            format!("{} = {value}", text(name))
        });
    report.fact("query", asked.collect::<Vec<_>>().join(", "));
}

fn describe_inventory_view(record: &ViewRecord, report: &mut Report) {
    match record.fact("summary") {
        Some(summary) if summary.get("row_count").is_some() => {
            describe_list_summary(summary, report);
        }
        Some(summary) => describe_summary(summary, report),
        None => {}
    }
    if let Some(complete) = record.fact("source_complete") {
        source_complete(complete, report);
    }
    let collection = record.view().get("collection").and_then(Value::as_str);
    match collection {
        Some("nodes") => page(record, report, NODES, node),
        Some("occurrences") => page(record, report, OCCURRENCES, occurrence),
        Some("edges") => page(record, report, EDGES, edge),
        Some(_) => page(record, report, CONTRADICTIONS, contradiction),
        None => {}
    }
}

fn view_name(record: &ViewRecord) -> String {
    let word = |name| record.view().get(name).and_then(Value::as_str);
    match word("collection").or(word("facet")) {
        Some(what) => format!("{} {what}", record.kind()),
        None => record.kind().to_owned(),
    }
}

/// Text for people; lone surrogates cannot be shown.
fn text(text: &Text) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

fn member(value: &Value, name: &str) -> String {
    match value.get(name) {
        Some(Value::String(found)) => text(found),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn describe_summary(summary: &Value, report: &mut Report) {
    let none = Value::Null;
    let part = |name| summary.get(name).unwrap_or(&none);
    let (manifest, available) = (part("manifest"), part("available"));
    report.fact("format", member(manifest, "root_format"));
    report.fact("sha256", member(manifest, "root_sha256"));
    report.fact("manifest", member(manifest, "manifest_id"));
    for (name, expected) in [
        ("occurrences", "occurrence_count"),
        ("nodes", "node_count"),
        ("edges", "edge_count"),
    ] {
        let shown = format!(
            "{} of {}",
            member(available, name),
            member(manifest, expected)
        );
        report.fact(name, shown);
    }
    report.fact(
        "contradictions",
        member(available, "integrity_contradictions"),
    );
    if let Some(kinds) = part("entry_kinds").as_object() {
        let kinds: Vec<String> = kinds
            .iter()
            .filter_map(|(name, count)| match count {
                Value::Number(count) if *count > 0.0 => Some(format!("{count} {}", text(name))),
                _ => None,
            })
            .collect();
        report.fact("entries", kinds.join(", "));
    }
    let source = part("source_coverage");
    let status = member(source, "status");
    let tone = if status == "complete" {
        Tone::Good
    } else {
        Tone::Warn
    };
    let coverage = format!("{status} ({})", member(source, "scope"));
    report.toned_fact("coverage", coverage, tone);
    source_complete(part("source_complete"), report);
}

fn source_complete(complete: &Value, report: &mut Report) {
    let (shown, tone) = match complete {
        Value::Bool(true) => ("the complete graph", Tone::Good),
        _ => ("not the complete graph", Tone::Warn),
    };
    report.toned_fact("source", shown, tone);
}

const NODES: &[Column] = &[
    Column::number("SIZE"),
    Column::text("FORMAT"),
    Column::text("STATE"),
    Column::text("SHA-256"),
];
const OCCURRENCES: &[Column] = &[
    Column::number("SIZE"),
    Column::text("KIND"),
    Column::text("FORMAT"),
    Column::text("STATUS"),
    Column::text("PATH"),
];
const EDGES: &[Column] = &[
    Column::text("RELATION"),
    Column::text("PARENT"),
    Column::text("OCCURRENCE"),
];
const CONTRADICTIONS: &[Column] = &[
    Column::text("DECLARED"),
    Column::text("OBSERVED"),
    Column::text("PATH"),
];

fn page<const N: usize>(
    record: &ViewRecord,
    report: &mut Report,
    columns: &'static [Column],
    row: fn(&Value) -> [Cell; N],
) {
    report.table("Rows", columns, |table: &mut Table| {
        let limit = table.limit();
        let mut shown = 0;
        for value in record.rows().take(limit) {
            table.row(row(&value));
            shown += 1;
        }
        table.skip(record.coverage().examined.saturating_sub(shown));
    });
}

fn size(row: &Value, name: &str) -> String {
    match row.get(name) {
        Some(Value::Number(bytes)) => human_bytes(*bytes as u64),
        _ => String::new(),
    }
}

fn node(row: &Value) -> [Cell; 4] {
    [
        size(row, "size").into(),
        member(row, "format").into(),
        member(row, "content_state").into(),
        Cell::toned(member(row, "sha256"), Tone::Dim),
    ]
}

fn occurrence(row: &Value) -> [Cell; 5] {
    let status = member(row, "hash_status");
    let tone = match status.as_str() {
        "verified" => Tone::Plain,
        "mismatched" => Tone::Bad,
        _ => Tone::Warn,
    };
    let entry = member(row, "entry_kind");
    let kind = match entry.as_str() {
        "file" => member(row, "artifact_kind"),
        _ => entry,
    };
    [
        size(row, "declared_size").into(),
        kind.into(),
        member(row, "artifact_format").into(),
        Cell::toned(status, tone),
        member(row, "logical_path").into(),
    ]
}

/// Enough of an id to tell it from others.
fn start(id: String) -> String {
    id.chars().take(20).collect()
}

fn edge(row: &Value) -> [Cell; 3] {
    [
        member(row, "relation").into(),
        start(member(row, "parent_artifact_id")).into(),
        start(member(row, "occurrence_id")).into(),
    ]
}

fn contradiction(row: &Value) -> [Cell; 3] {
    [
        start(member(row, "declared_sha256")).into(),
        start(member(row, "observed_sha256")).into(),
        member(row, "logical_path").into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_takes_its_members_and_no_others() {
        let input: Input =
            serde_json::from_str(r#"{"evidence": "a", "collection": "edges"}"#).unwrap();
        assert_eq!((input.offset, input.limit), (0, LIMIT));
        assert_eq!(input.collection, Some(Collection::Edges));
        assert!(serde_json::from_str::<Input>(r#"{"evidence": "a", "x": 1}"#).is_err());
    }

    #[test]
    fn lists_are_called_as_in_records() {
        for collection in Collection::value_variants() {
            let value = collection.to_possible_value().unwrap();
            assert_eq!(value.get_name(), collection.name());
            let json = serde_json::to_value(collection).unwrap();
            assert_eq!(json, collection.name());
        }
        for facet in Facet::value_variants() {
            let value = facet.to_possible_value().unwrap();
            assert_eq!(value.get_name(), facet.name());
            assert_eq!(serde_json::to_value(facet).unwrap(), facet.name());
        }
    }
}
