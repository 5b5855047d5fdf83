//! `rea view`: a part of a record, as a record.

mod inventory;
mod layout;
mod selection;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use rea::evidence::Record;
use rea::json::{Limits, Object, Text, Value, WriteJson, Writer};
use rea::operation::{Effect, Family, Operation};
use rea::view::{self, NothingRetained, Request, SourceForm, ViewRecord};
use rea::web::openapi;
use rea::web::surface::Surface;
use rea::web::template::Rules;
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::compare_api_surfaces::TemplateRule;
use crate::quantity::{ByteSize, counted, safe_integer, thousands};
use crate::registry::{Command, OutputKind};
use crate::report::{Report, path_word};
use crate::table::{Cell, Column, Table};
use crate::tool::Form;
use crate::ui::Ui;
pub use selection::{Collection, Facet, MachoFacet};

/// Show a part of a record: its summary, or rows of one of its lists
///
/// Reads one record of inspect-artifact, inventory-artifact,
/// inspect-binary-layout, inspect-macho, inspect-wasm-artifact, list-names,
/// list-strings, search-strings or inspect-web-network-capture, checks it, and
/// answers with a small record of its own: what was selected, how much of the
/// whole that is, and the id of the record it came from. Nothing is run or
/// opened again, and a record of any size is read in little memory. It is the
/// same record that inspect-analysis-view gives for the same selection.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[command(group(ArgGroup::new("selection").required(true).args([
    "summary", "mitigations", "linkage", "sections", "symbols", "collection", "wasm", "macho",
    "items", "api_surface", "environment_manifest", "environment_state",
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

    /// Of a list of names or strings: rows, with their places in it
    #[arg(long)]
    #[serde(default)]
    pub items: bool,

    /// Of such rows only the address and this member; may be given again, in
    /// any order
    #[arg(long, value_name = "MEMBER", requires = "items")]
    #[serde(default)]
    pub field: Vec<String>,

    /// Of a web capture: its operations, by method, origin and path template
    #[arg(long)]
    #[serde(default)]
    pub api_surface: bool,

    /// With --api-surface: an OpenAPI 3.1 description in place of the record,
    /// of the origin that answered most in JSON; marked as inferred
    #[arg(long, requires = "api_surface", conflicts_with_all = ["offset", "limit"])]
    #[serde(default)]
    pub openapi: bool,

    /// Of a web capture: the tools of an environment that replays it
    #[arg(long)]
    #[serde(default)]
    pub environment_manifest: bool,

    /// Of a web capture: entities and documents that its reads observed
    #[arg(long)]
    #[serde(default)]
    pub environment_state: bool,

    /// Of a web capture: also apply this rule to path segments; may be given
    /// again, in any order
    #[arg(long = "template-rule", value_name = "RULE", conflicts_with_all = [
        "summary", "mitigations", "linkage", "sections", "symbols", "collection", "wasm", "macho",
    ])]
    #[serde(default)]
    pub template_rules: Vec<TemplateRule>,

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
        if self.openapi {
            return self.describe_api(ui, limits);
        }
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
        if self.items {
            view.insert("kind", "native-inventory");
            view.insert("offset", self.offset);
            view.insert("limit", self.limit);
            if !self.field.is_empty() {
                view.insert("fields", each_once(&self.field));
            }
            return view;
        }
        let web = [
            (self.api_surface, "api-surface"),
            (self.environment_manifest, "environment-manifest"),
            (self.environment_state, "environment-state"),
        ];
        if let Some((_, kind)) = web.into_iter().find(|(asked, _)| *asked) {
            view.insert("kind", kind);
            let rules = TemplateRule::distinct(&self.template_rules);
            let rules = rules.into_iter().map(|rule| rule.as_str().into()).collect();
            view.insert("template_rules", Value::Array(rules));
            if self.api_surface {
                view.insert("offset", self.offset);
                view.insert("limit", self.limit);
            }
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
            view.insert("logical_paths", each_once(&self.path));
        }
        view
    }

    /// The description of a recorded API, which is no record.
    fn describe_api(&self, ui: &Ui, limits: Limits) -> Result<ExitCode> {
        let context = ui.context(view::OPERATION);
        let document = ui.operate(&context, |context| {
            let recorded = view::recorded(
                rea::evidence::Source::open(&self.evidence)?,
                false,
                limits,
                context,
            )?;
            let mut rules = Rules::default();
            for rule in TemplateRule::distinct(&self.template_rules) {
                rules.add(rule);
            }
            let surface = Surface::new(&recorded.exchanges, rules);
            let (exchanges, shapes) = (&recorded.exchanges, &recorded.shapes);
            Ok(openapi::describe(
                &surface,
                exchanges,
                shapes,
                recorded.parent.id,
            ))
        })?;
        ui.document(&context, &document, |report| {
            let mut shown = Vec::new();
            let mut writer = Writer::indented(&mut shown);
            document.write_json(&mut writer);
            writer.finish_infallible();
            let shown = String::from_utf8_lossy(&shown).into_owned();
            report.lines(shown.lines());
        })?;
        Ok(ExitCode::SUCCESS)
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
        if self.api_surface {
            return self.next_operations(record, report);
        }
        let mut selected: Vec<OsString> = match (self.list(), self.wasm, self.macho) {
            (Some(collection), ..) => vec!["--collection".into(), collection.name().into()],
            (None, Some(facet), _) => vec!["--wasm".into(), facet.name().into()],
            (None, None, Some(facet)) => vec!["--macho".into(), facet.name().into()],
            (None, None, None) if self.items => vec!["--items".into()],
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
        words.append(&mut selected);
        words.extend(["--offset".into(), offset.to_string().into()]);
        words.extend(["--limit".into(), self.limit.to_string().into()]);
        for path in each_once(&self.path) {
            words.push(format!("--path={path}").into());
        }
        for field in each_once(&self.field) {
            words.push(format!("--field={field}").into());
        }
        report.next_steps([(words, "The next page.".to_owned())]);
    }
}

/// The words, each once and in one order: saying one twice or first does not
/// change what is selected.
fn each_once(words: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.sort_unstable();
    words.dedup();
    words
}

impl Input {
    fn next_operations(&self, record: &ViewRecord, report: &mut Report) {
        let Some(offset) = record.coverage().next_offset else {
            return;
        };
        if self.evidence.as_os_str() == "-" {
            return;
        }
        let mut words: Vec<OsString> = vec!["rea".into(), "view".into()];
        words.push(path_word(&self.evidence));
        words.push("--api-surface".into());
        words.extend(["--offset".into(), offset.to_string().into()]);
        words.extend(["--limit".into(), self.limit.to_string().into()]);
        for rule in TemplateRule::distinct(&self.template_rules) {
            words.push(format!("--template-rule={}", rule.as_str()).into());
        }
        report.next_steps([(words, "The next page.".to_owned())]);
    }
}

/// Operations whose results are lists of names and strings.
const LISTS: [&str; 5] = [
    "list_names",
    "list_procedures",
    "list_strings",
    "search_procedures",
    "search_strings",
];

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
    } else if matches!(
        record.kind(),
        "api-surface" | "environment-manifest" | "environment-state"
    ) {
        crate::web_view::describe(record, report);
    } else if *operation == *"inspect_binary_layout" {
        layout::describe(record, report);
    } else if LISTS.iter().any(|list| *operation == **list) {
        crate::native_view::describe(record, report);
    } else {
        inventory::describe(record, report);
    }
    report.list("Not known", record.unknowns().iter().map(text));
    report.list("Limitations", record.limitations().iter().map(text));
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

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

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
