//! Requests: `{source, view}`, read strictly.

use std::path::PathBuf;

use super::OPERATION;
use super::kinds::{KINDS, Kind};
use crate::error::Result;
use crate::evidence::EvidenceId;
use crate::json::{Issue, Object, Text, Value};

/// A request whose shape has been checked.
pub struct Request {
    pub(super) source: SourceForm,
    pub(super) view: View,
}

/// Where the parent is (views.md section 2). The form is no part of a view's
/// identity.
pub enum SourceForm {
    /// `evidence-file`: a file that holds exactly one record; `-` is standard
    /// input.
    File(PathBuf),
    /// `inline`: the record itself.
    Inline(Box<Value>),
    /// `retained-evidence`: a record that the session keeps.
    Retained(EvidenceId),
}

/// What is asked of the parent, with defaults filled in.
pub(super) struct View {
    kind: &'static Kind,
    value: Object,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// `invalid_request`, with an issue for everything that is wrong.
    pub fn parse(request: Value) -> Result<Self> {
        let mut issues = Vec::new();
        let Value::Object(mut request) = request else {
            let issue = Issue::new(
                &[],
                "invalid_type",
                "a request is an object with source and view".to_owned(),
            );
            return Err(issue.into_error(OPERATION));
        };
        let mut take = |name: &str| {
            let value = request.remove(name);
            if value.is_none() {
                let message = format!("a request needs {name}");
                issues.push(Issue::new(&[name], "missing_argument", message));
            }
            value
        };
        let (source, view) = (take("source"), take("view"));
        unknown(&request, &[], "a request", &mut issues);
        let source = source.and_then(|source| source_form(source, &mut issues));
        let view = view.and_then(|view| View::read(view, &mut issues));
        match (source, view) {
            (Some(source), Some(view)) if issues.is_empty() => Ok(Self { source, view }),
            _ => Err(Issue::all_into_error(issues, OPERATION)),
        }
    }

    /// Whether the parent comes from standard input.
    pub fn reads_standard_input(&self) -> bool {
        matches!(&self.source, SourceForm::File(path) if path.as_os_str() == "-")
    }

    /// A request for `view` of a parent that is already at hand.
    ///
    /// # Errors
    /// `invalid_request` where the view is not one.
    pub fn new(source: SourceForm, view: Object) -> Result<Self> {
        let mut issues = Vec::new();
        match View::read(view.into(), &mut issues) {
            Some(view) if issues.is_empty() => Ok(Self { source, view }),
            _ => Err(Issue::all_into_error(issues, OPERATION)),
        }
    }
}

/// Members that are left when all known ones were taken out.
fn unknown(object: &Object, within: &[&str], what: &str, issues: &mut Vec<Issue>) {
    for (name, _) in object.iter() {
        let shown = String::from_utf8_lossy(name.as_bytes());
        let mut path: Vec<Value> = within.iter().map(|&part| part.into()).collect();
        path.push(Value::String(name.clone()));
        let message = format!("{what} has no member {shown}");
        issues.push(Issue::at(path, "unknown_argument", message));
    }
}

fn source_form(source: Value, issues: &mut Vec<Issue>) -> Option<SourceForm> {
    const FORMS: [(&str, &str); 3] = [
        ("evidence-file", "path"),
        ("inline", "evidence"),
        ("retained-evidence", "evidence_id"),
    ];
    let issue = |path: &[&str], reason, message: String| {
        let path: Vec<&str> = ["source"].iter().chain(path).copied().collect();
        Issue::new(&path, reason, message)
    };
    let Value::Object(mut source) = source else {
        let message = "source is an object with a kind".to_owned();
        issues.push(issue(&[], "invalid_type", message));
        return None;
    };
    let kind = source.remove("kind");
    let known = kind
        .as_ref()
        .and_then(Value::as_str)
        .and_then(|kind| FORMS.into_iter().find(|(name, _)| *name == kind));
    let Some((kind, member)) = known else {
        let (reason, message) = match &kind {
            None => ("missing_argument", "source needs a kind"),
            Some(Value::String(_)) => ("invalid_value", "source has a kind that is not known"),
            Some(_) => ("invalid_type", "the kind of source is a string"),
        };
        let kinds = FORMS.iter().map(|(name, _)| Value::from(*name)).collect();
        issues.push(issue(&["kind"], reason, message.to_owned()).expected(Value::Array(kinds)));
        return None;
    };
    let value = source.remove(member);
    unknown(&source, &["source"], "this kind of source", issues);
    let Some(value) = value else {
        let message = format!("a source of kind {kind} needs {member}");
        issues.push(issue(&[member], "missing_argument", message));
        return None;
    };
    let form = match (kind, value) {
        ("inline", value @ Value::Object(_)) => Ok(SourceForm::Inline(Box::new(value))),
        ("inline", _) => Err(("invalid_type", "evidence is a record")),
        ("evidence-file", Value::String(path)) => match path.as_str() {
            Some(path) if !path.is_empty() && !path.contains('\0') => {
                Ok(SourceForm::File(PathBuf::from(path)))
            }
            _ => Err(("invalid_value", "path names no file")),
        },
        ("retained-evidence", Value::String(id)) => EvidenceId::from_text(id.as_bytes())
            .map(SourceForm::Retained)
            .ok_or((
                "invalid_format",
                "evidence_id is ev_ and 64 lower-case hexadecimal digits",
            )),
        _ => Err(("invalid_type", "it is a string")),
    };
    match form {
        Ok(form) => Some(form),
        Err((reason, message)) => {
            issues.push(issue(&[member], reason, message.to_owned()));
            None
        }
    }
}

impl View {
    fn read(view: Value, issues: &mut Vec<Issue>) -> Option<Self> {
        let Value::Object(mut value) = view else {
            let message = "view is an object with a kind".to_owned();
            issues.push(Issue::new(&["view"], "invalid_type", message));
            return None;
        };
        let kind = value.get("kind");
        let Some(known) = kind.and_then(Value::as_str).and_then(Kind::find) else {
            let (reason, message) = match kind {
                None => ("missing_argument", "a view needs a kind"),
                Some(Value::String(_)) => ("invalid_value", "there is no such kind of view"),
                Some(_) => ("invalid_type", "the kind of a view is a string"),
            };
            let kinds = KINDS.iter().map(|kind| Value::from(kind.name)).collect();
            issues.push(
                Issue::new(&["view", "kind"], reason, message.to_owned())
                    .expected(Value::Array(kinds)),
            );
            return None;
        };
        known.complete(&mut value, issues);
        Some(Self { kind: known, value })
    }

    /// The kind's name.
    pub fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// The request as it enters identity, defaults included.
    pub fn value(&self) -> &Object {
        &self.value
    }

    /// A member that is a word.
    pub fn word(&self, name: &str) -> &str {
        let word = self.value.get(name).and_then(Value::as_str);
        word.unwrap_or_default()
    }

    fn number(&self, name: &str) -> u64 {
        match self.value.get(name) {
            // Checked to be a whole number up to 2^53-1.
            Some(Value::Number(number)) => *number as u64,
            _ => 0,
        }
    }

    /// The first row that is wanted.
    pub fn offset(&self) -> u64 {
        self.number("offset")
    }

    /// How many rows are wanted at most.
    pub fn limit(&self) -> u64 {
        self.number("limit")
    }

    /// The one member of the selector: its name and value.
    pub fn selector(&self) -> Option<(&Text, &Value)> {
        self.value.get("selector")?.as_object()?.iter().next()
    }

    /// A member that is a list of strings; `None` where it is not given.
    pub fn texts(&self, name: &str) -> Option<Vec<&Text>> {
        let items = self.value.get(name)?.as_array()?;
        let texts = items.iter().filter_map(|item| match item {
            Value::String(text) => Some(text),
            _ => None,
        });
        Some(texts.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Limits;

    fn issues(request: &str) -> Vec<String> {
        let value = Value::parse(request.as_bytes(), Limits::default()).unwrap();
        let Err(error) = Request::parse(value) else {
            return Vec::new();
        };
        assert_eq!(error.code().as_str(), "invalid_request");
        let issues = error.details().get("issues").unwrap().as_array().unwrap();
        let shown = issues.iter().map(|issue| {
            let path = issue.get("path").unwrap().as_array().unwrap();
            let path: Vec<_> = path.iter().map(|part| part.as_str().unwrap()).collect();
            let reason = issue.get("reason").unwrap().as_str().unwrap();
            format!("{} {reason}", path.join("."))
        });
        shown.collect()
    }

    const FILE: &str = r#""source":{"kind":"evidence-file","path":"x"}"#;

    fn view(view: &str) -> Vec<String> {
        issues(&format!("{{{FILE},\"view\":{view}}}"))
    }

    #[test]
    fn everything_that_is_wrong_is_told_with_its_path() {
        assert_eq!(issues("[]"), [" invalid_type"]);
        assert_eq!(
            issues(r#"{"veiw":1}"#),
            [
                "source missing_argument",
                "view missing_argument",
                "veiw unknown_argument"
            ]
        );
        assert_eq!(
            issues(r#"{"source":{"kind":"url","path":"x"},"view":{"kind":"summery"}}"#),
            ["source.kind invalid_value", "view.kind invalid_value"]
        );
        assert_eq!(
            issues(r#"{"source":{"kind":"retained-evidence","evidence_id":"ev_0"},"view":{}}"#),
            [
                "source.evidence_id invalid_format",
                "view.kind missing_argument"
            ]
        );
        assert_eq!(
            issues(
                r#"{"source":{"kind":"inline","evidence":{},"path":"x"},"view":{"kind":"summary"}}"#
            ),
            ["source.path unknown_argument"]
        );
        assert_eq!(
            view(r#"{"kind":"summary","offset":0}"#),
            ["view.offset unknown_argument"]
        );
        assert_eq!(
            view(r#"{"kind":"inventory","collection":"rows","offset":-1,"limit":0}"#),
            [
                "view.collection invalid_value",
                "view.offset out_of_range",
                "view.limit out_of_range"
            ]
        );
        assert_eq!(
            view(r#"{"kind":"inventory","collection":"nodes","logical_paths":[],"limit":1.5}"#),
            [
                "view.logical_paths invalid_value",
                "view.limit invalid_type"
            ]
        );
        assert_eq!(
            view(r#"{"kind":"inventory","collection":"occurrences","logical_paths":["a",1]}"#),
            ["view.logical_paths invalid_type"]
        );
        assert_eq!(
            view(r#"{"kind":"page","collection":"sections"}"#),
            [
                "view.offset missing_argument",
                "view.limit missing_argument"
            ]
        );
    }

    #[test]
    fn a_selector_fits_its_collection() {
        let item = |collection: &str, selector: &str| {
            view(&format!(
                r#"{{"kind":"item","collection":"{collection}","selector":{selector}}}"#
            ))
        };
        let wrong = ["view.selector invalid_value"];
        let node = format!(r#"{{"node_id":"jag_node_{}"}}"#, "0".repeat(64));
        assert!(item("sections", r#"{"index":0}"#).is_empty());
        assert!(item("symbols", r#"{"name":""}"#).is_empty());
        assert!(item("modules", r#"{"path":""}"#).is_empty());
        assert!(item("modules", &node).is_empty());
        assert_eq!(item("sections", &node), wrong);
        assert_eq!(item("modules", r#"{"index":0}"#), wrong);
        assert_eq!(item("modules", r#"{"node_id":"x"}"#), wrong);
        assert_eq!(item("sections", r#"{"index":0,"name":"a"}"#), wrong);
        assert_eq!(item("sections", "{}"), wrong);
        assert_eq!(item("sections", r#"{"index":"0"}"#), wrong);
    }

    #[test]
    fn defaults_are_filled_in() {
        let mut given = Object::new();
        given.insert("kind", "inventory");
        given.insert("collection", "nodes");
        let request = Request::new(SourceForm::File("x".into()), given).unwrap();
        let shown = crate::json::canonical(request.view.value());
        let expected = br#"{"collection":"nodes","kind":"inventory","limit":64,"offset":0}"#;
        assert_eq!(shown, expected);
        assert_eq!((request.view.offset(), request.view.limit()), (0, 64));
    }
}
