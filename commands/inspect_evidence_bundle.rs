//! `rea inspect-evidence-bundle`: a bundle, or a summary of its records.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rea::digest::Digest;
use rea::evidence::{Bundle, EvidenceId, Member, Source, Summary, SummaryFilter, first_member};
use rea::json::{Budget, Limits, Object, Reader, Text, Value, WriteJson as _};
use rea::operation::{Context, Effect, Family, Operation};
use rea::publish::display_path;
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bundle_options::{ReadingOptions, RecordId, Sha256, describe_counts};
use crate::paint::Tone;
use crate::quantity::counted;
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::tool::Form;
use crate::ui::Ui;

/// Deliver a bundle, or a summary of its records
///
/// The operand is the file of a bundle, or a request as JSON:
/// `{"path": FILE, "detail": "summary", "filters": {...}}`, given as text or
/// as the name of a file that holds it. Without detail, the complete bundle is
/// delivered in canonical form. With --detail summary, each record that
/// matches all filters is listed without its result; filters match exactly,
/// and never what is null.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The bundle's file, a request, or a request's file
    #[arg(value_name = "FILE|JSON")]
    pub request: PathBuf,

    /// How much of each record to deliver
    #[arg(long, value_name = "DETAIL")]
    #[serde(default)]
    pub detail: Option<BundleDetail>,

    #[command(flatten)]
    #[serde(flatten)]
    pub filters: Filters,

    #[command(flatten)]
    #[serde(flatten)]
    pub reading: ReadingOptions,
}

/// How much of each record is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BundleDetail {
    /// What it is about and who made it
    Summary,
}

// No doc comment here: clap would take it for the help of the command.
#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[command(next_help_heading = "Filters")]
#[serde(default)]
pub struct Filters {
    /// Only the record with this id
    #[arg(long, value_name = "ID")]
    pub evidence_id: Option<RecordId>,

    /// Only records of this operation, such as `inspect_artifact`
    #[arg(long, value_name = "NAME")]
    pub operation: Option<String>,

    /// Only records about the artifact with this SHA-256
    #[arg(long, value_name = "SHA256")]
    pub target_sha256: Option<Sha256>,

    /// Only records with the analysis profile of this digest
    #[arg(long, value_name = "SHA256")]
    pub analysis_profile_digest: Option<Sha256>,

    /// Only records about the function at this address
    #[arg(long, value_name = "ADDRESS")]
    pub procedure_address: Option<String>,
}

impl From<&Filters> for SummaryFilter {
    fn from(filters: &Filters) -> Self {
        let text = |text: &Option<String>| text.as_deref().map(Text::from);
        Self {
            evidence_id: filters.evidence_id.map(|id| id.0),
            operation: text(&filters.operation),
            target_sha256: filters.target_sha256.map(|digest| digest.0),
            analysis_profile_digest: filters.analysis_profile_digest.map(|digest| digest.0),
            procedure_address: text(&filters.procedure_address),
        }
    }
}

const NAME: &str = "inspect_evidence_bundle";

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: NAME,
        family: Family::Evidence,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea inspect-evidence-bundle bundle.json --detail summary --operation inspect_artifact";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(NAME);
        let request = self.request()?;
        if !request.summary && request.filtered {
            let message = "filters need the detail `summary`";
            return Err(invalid(&["filters"], "invalid_value", message)
                .action("Add --detail summary, or leave the filters out."));
        }
        let title = display_path(&request.path).into_owned();
        let (mut delivery, bundle) = ui.operate(&context, |context: &Context| {
            let operands = [request.path.as_path()];
            let mut delivery = ui.deliver_from(context, &operands, !request.summary)?;
            let bundle = self.reading.read(&request.path, context)?;
            if !request.summary {
                delivery.write_bundle(&bundle)?;
            }
            Ok((delivery, bundle))
        })?;
        let summary = bundle.summary(request.filter);
        if request.summary {
            delivery.write(&|w| summary.write_json(w))?;
        }
        delivery.finish(|report| describe(&title, &bundle, &summary, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What is wanted, from flags or from JSON.
struct Request {
    path: PathBuf,
    summary: bool,
    /// Whether filters are given, empty ones too.
    filtered: bool,
    filter: SummaryFilter,
}

impl Input {
    fn request(&self) -> Result<Request> {
        let filter = SummaryFilter::from(&self.filters);
        let given = || self.detail.is_some() || !filter.is_empty();
        let value = match self.request.to_str() {
            Some(text) if looks_like_json(text) => Value::parse(text.as_bytes(), Limits::default())
                .map_err(|error| error.into_argument_error(NAME, &["request"]))?,
            _ if is_request_file(&self.request)? => read_request(&self.request)?,
            _ => {
                return Ok(Request {
                    path: self.request.clone(),
                    summary: self.detail.is_some(),
                    filtered: !filter.is_empty(),
                    filter,
                });
            }
        };
        if given() {
            let message = "detail and filters are in the request already";
            return Err(invalid(&["request"], "invalid_value", message)
                .action("Put them into the request, or name the bundle's file."));
        }
        parse(&value)
    }
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// A bundle starts with one of its members, a request with one of its own.
fn is_request_file(path: &Path) -> Result<bool> {
    if path.as_os_str() == "-" {
        return Ok(false);
    }
    // What cannot be read is told by whoever reads it.
    let first = first_member(path, Limits::default()).unwrap_or_default();
    let known = |name: &Vec<u8>| {
        Member::of(name).is_none() && matches!(&**name, b"path" | b"detail" | b"filters")
    };
    Ok(first.as_ref().is_some_and(known))
}

fn read_request(path: &Path) -> Result<Value> {
    let source = Source::open(path)?;
    let name = source.name().to_owned();
    let budget = Budget {
        max_text_bytes: 1 << 20,
        max_memory_bytes: 64 << 20,
    };
    let mut reader = Reader::new(source, Limits::default());
    let value = reader.read_value(budget);
    value
        .and_then(|value| reader.expect_end().map(|()| value))
        .map_err(|error| error.into_file_error(&name))
}

fn parse(value: &Value) -> Result<Request> {
    let Some(request) = value.as_object() else {
        return Err(invalid(&[], "invalid_type", "a request is a JSON object"));
    };
    only(request, &["path", "detail", "filters"], &[])?;
    let path = match request.get("path") {
        Some(path) => text(path, &["path"])?,
        None => {
            return Err(invalid(
                &["path"],
                "missing_argument",
                "a request needs a path",
            ));
        }
    };
    let detail = request.get("detail");
    let detail = detail.map(|detail| text(detail, &["detail"])).transpose()?;
    if detail.is_some_and(|detail| detail != "summary") {
        return Err(invalid(
            &["detail"],
            "invalid_value",
            "detail can be `summary` alone",
        ));
    }
    let summary = detail.is_some();
    let filter = match request.get("filters") {
        None => SummaryFilter::default(),
        Some(Value::Object(filters)) => parse_filters(filters)?,
        Some(_) => {
            return Err(invalid(
                &["filters"],
                "invalid_type",
                "filters are an object",
            ));
        }
    };
    Ok(Request {
        path: path.into(),
        summary,
        filtered: request.get("filters").is_some(),
        filter,
    })
}

fn parse_filters(filters: &Object) -> Result<SummaryFilter> {
    const NAMES: [&str; 5] = [
        "evidence_id",
        "operation",
        "target_sha256",
        "analysis_profile_digest",
        "procedure_address",
    ];
    only(filters, &NAMES, &["filters"])?;
    let get = |name| {
        let value = filters.get(name);
        value
            .map(|value| text(value, &["filters", name]))
            .transpose()
    };
    let digest = |name| -> Result<Option<Digest>> {
        let Some(digits) = get(name)? else {
            return Ok(None);
        };
        let digest = Digest::from_hex(digits.as_bytes());
        digest.map(Some).ok_or_else(|| {
            let message = format!("{name} is 64 lower-case hexadecimal digits");
            invalid(&["filters", name], "invalid_format", &message)
        })
    };
    let evidence_id = match get("evidence_id")? {
        None => None,
        Some(id) => Some(EvidenceId::from_text(id.as_bytes()).ok_or_else(|| {
            let message = "evidence_id is `ev_` and 64 lower-case hexadecimal digits";
            invalid(&["filters", "evidence_id"], "invalid_format", message)
        })?),
    };
    Ok(SummaryFilter {
        evidence_id,
        operation: get("operation")?.map(Text::from),
        target_sha256: digest("target_sha256")?,
        analysis_profile_digest: digest("analysis_profile_digest")?,
        procedure_address: get("procedure_address")?.map(Text::from),
    })
}

fn only(object: &Object, known: &[&str], at: &[&str]) -> Result<()> {
    for (name, _) in object.iter() {
        let name = String::from_utf8_lossy(name.as_bytes()).into_owned();
        if !known.contains(&&*name) {
            let path = [at, &[&*name]].concat();
            let message = format!("a request has no member {name:?} there");
            return Err(invalid(&path, "unknown_argument", &message));
        }
    }
    Ok(())
}

fn text<'a>(value: &'a Value, path: &[&str]) -> Result<&'a str> {
    value.as_str().ok_or_else(|| {
        let message = format!("{} is a string", path.join("."));
        invalid(path, "invalid_type", &message)
    })
}

fn invalid(path: &[&str], reason: &str, message: &str) -> Error {
    Error::invalid_request(NAME, path, reason, message)
}

const RECORDS: &[Column] = &[
    Column::text("RECORD"),
    Column::text("OPERATION"),
    Column::text("CONFIDENCE"),
    Column::text("AUTHORITY"),
    Column::number("LIMITATIONS"),
    Column::text("SUBJECT"),
    Column::text("NAME"),
];

fn describe(title: &str, bundle: &Bundle, summary: &Summary<'_>, report: &mut Report) {
    report.title(title);
    describe_counts(bundle, report);
    let heading = match summary.matching() == bundle.len() as u64 {
        true => "Records".to_owned(),
        false => format!(
            "{} of {}",
            counted(summary.matching(), "matching record", "matching records"),
            counted(bundle.len() as u64, "record", "records")
        ),
    };
    let plain = |text: &Text| String::from_utf8_lossy(text.as_bytes()).into_owned();
    report.table(heading, RECORDS, |table| {
        for row in summary.rows() {
            // Enough of the digest to tell artifacts apart.
            let digest = row.sha256.map(|digest| digest.to_hex());
            let digest: String = digest.iter().flat_map(|hex| hex.chars().take(12)).collect();
            table.row([
                row.id.to_string().into(),
                plain(row.operation).into(),
                row.confidence.into(),
                row.authority.into(),
                row.limitations.to_string().into(),
                Cell::toned(digest, Tone::Dim),
                row.name.map(plain).unwrap_or_default().into(),
            ]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(json: &str) -> String {
        let value = Value::parse(json.as_bytes(), Limits::default()).unwrap();
        let Err(error) = parse(&value) else {
            panic!("{json} is accepted");
        };
        let issue = &error.details().get("issues").unwrap().as_array().unwrap()[0];
        issue.get("reason").unwrap().as_str().unwrap().to_owned()
    }

    #[test]
    fn requests_are_strict() {
        let id = "ab".repeat(32);
        let json = format!(
            r#"{{"path":"b","detail":"summary","filters":{{"evidence_id":"ev_{id}","operation":"x"}}}}"#
        );
        let value = Value::parse(json.as_bytes(), Limits::default()).unwrap();
        let request = parse(&value).unwrap();
        assert!(request.summary && request.path == Path::new("b"));
        assert_eq!(request.filter.operation, Some("x".into()));
        for (json, reason) in [
            ("[]", "invalid_type"),
            ("{}", "missing_argument"),
            (r#"{"path":1}"#, "invalid_type"),
            (r#"{"path":"b","x":1}"#, "unknown_argument"),
            (r#"{"path":"b","detail":"all"}"#, "invalid_value"),
            (r#"{"path":"b","filters":[]}"#, "invalid_type"),
            (r#"{"path":"b","filters":{"x":1}}"#, "unknown_argument"),
            (
                r#"{"path":"b","filters":{"evidence_id":"x"}}"#,
                "invalid_format",
            ),
            (
                r#"{"path":"b","filters":{"operation":null}}"#,
                "invalid_type",
            ),
        ] {
            assert_eq!(refusal(json), reason, "{json}");
        }
    }
}
