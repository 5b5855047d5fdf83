//! Runs inventories and compares their records with what was expected.

use std::path::{Path, PathBuf};

use rea::artifact::{Inventory, Options, inspect, inventory};
use rea::evidence::Record;
use rea::json::canonical;
use rea::operation::Context;
use serde_json::Value;

/// A record or an error, as its canonical JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    pub is_error: bool,
}

pub fn context(threads: usize, disorder: Option<u64>) -> Context {
    Context {
        threads,
        disorder,
        ..Context::new("inventory_artifact")
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

pub fn show(result: Result<Inventory, rea::Error>) -> Shown {
    match result {
        Ok(inventory) => Shown {
            text: text(inventory.canonical()),
            is_error: false,
        },
        Err(error) => Shown {
            text: text(canonical(&error)),
            is_error: true,
        },
    }
}

pub fn run(path: &Path, options: &Options, threads: usize, disorder: Option<u64>) -> Shown {
    show(inventory(path, options, &context(threads, disorder)))
}

/// The inventory with 1, 2 and 64 threads, which must not differ, and the
/// inspection, which must embed it.
pub fn everywhere(path: &Path, options: &Options) -> Shown {
    let (path, options) = (PathBuf::from(path), options.clone());
    let what = path.display().to_string();
    super::guarded(&what, move || {
        let one = run(&path, &options, 1, None);
        for threads in [2, 64] {
            let other = run(&path, &options, threads, None);
            assert_eq!(other, one, "{} with {threads} threads", path.display());
        }
        match inspect(&path, &options, &context(2, None)) {
            Ok(inspection) => {
                assert!(!one.is_error, "{}", one.text);
                let text = text(inspection.canonical());
                let id = &one.json()["evidence_id"];
                assert!(text.contains(id.as_str().unwrap()));
            }
            Err(_) => assert!(one.is_error, "{}", one.text),
        }
        one
    })
}

impl Shown {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    #[track_caller]
    pub fn graph(&self) -> Value {
        assert!(!self.is_error, "{}", self.text);
        self.json()["normalized_result"].take()
    }

    #[track_caller]
    pub fn paths(&self) -> Vec<String> {
        let graph = self.graph();
        let rows = graph["occurrences"].as_array().unwrap();
        rows.iter()
            .map(|row| row["logical_path"].as_str().unwrap().to_owned())
            .collect()
    }

    #[track_caller]
    pub fn row(&self, path: &str) -> Value {
        let graph = self.graph();
        let rows = graph["occurrences"].as_array().unwrap();
        match rows.iter().find(|row| row["logical_path"] == path) {
            Some(row) => row.clone(),
            None => panic!("{path:?} is not listed: {:?}", self.paths()),
        }
    }

    /// The occurrence is verified, with the digest of that content.
    #[track_caller]
    pub fn is_verified(&self, path: &str, content: &[u8]) {
        let row = self.row(path);
        assert_eq!(row["hash_status"], "verified", "{row}");
        let graph = self.graph();
        let nodes = graph["nodes"].as_array().unwrap();
        let node = nodes
            .iter()
            .find(|node| node["artifact_id"] == row["artifact_id"]);
        assert_eq!(node.unwrap()["sha256"], super::sha256(content), "{row}");
    }

    #[track_caller]
    pub fn limitations(&self) -> Vec<String> {
        strings(&self.graph()["limitations"])
    }

    #[track_caller]
    pub fn coverage(&self) -> (String, String) {
        let coverage = &self.graph()["coverage"];
        let text = |name: &str| coverage[name].as_str().unwrap().to_owned();
        (text("scope"), text("status"))
    }

    /// Fails unless it is an error with this code and these details.
    #[track_caller]
    pub fn is_error(&self, code: &str, details: &[(&str, Value)]) {
        assert!(self.is_error, "expected {code}: {}", self.text);
        let error = self.json();
        assert_eq!(error["code"], code, "{}", self.text);
        for (name, value) in details {
            assert_eq!(error["details"][name], *value, "{name} of {}", self.text);
        }
    }

    /// A damaged root (decision 9): reason, member and offset are told.
    #[track_caller]
    pub fn is_damage(&self, reason: &str, member: Option<&str>) {
        self.is_error("artifact_operation_failed", &[("reason", reason.into())]);
        let error = self.json();
        assert!(
            error["details"]["offset"].is_u64(),
            "no offset: {}",
            self.text
        );
        assert!(
            error["details"]["detail"].is_string(),
            "no reason: {}",
            self.text
        );
        let named = error["details"]["logical_path"].as_str();
        assert_eq!(named, member, "{}", self.text);
    }

    #[track_caller]
    pub fn is_limit(&self, limit: &str, value: u64) {
        let option = format!("--{}", limit.replace('_', "-"));
        self.is_error(
            "truncated",
            &[
                ("limit", limit.into()),
                ("value", value.into()),
                ("option", option.into()),
                ("reason", "limit".into()),
            ],
        );
    }
}

pub fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().unwrap();
    items
        .iter()
        .map(|item| item.as_str().unwrap().to_owned())
        .collect()
}

/// One expected occurrence.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    pub path: &'a str,
    pub entry_kind: &'a str,
    pub status: &'a str,
    pub content: Option<&'a [u8]>,
    pub says: Vec<&'a str>,
}

pub fn file<'a>(path: &'a str, content: &'a [u8]) -> Row<'a> {
    Row {
        path,
        entry_kind: "file",
        status: "verified",
        content: Some(content),
        says: Vec::new(),
    }
}

pub fn link<'a>(path: &'a str, target: &'a [u8]) -> Row<'a> {
    Row {
        entry_kind: "symlink",
        ..file(path, target)
    }
}

pub fn directory(path: &str) -> Row<'_> {
    Row {
        entry_kind: "directory",
        content: None,
        ..file(path, b"")
    }
}

/// Listed but not read.
pub fn unread<'a>(path: &'a str, says: &'a str) -> Row<'a> {
    Row {
        status: "unavailable",
        content: None,
        says: vec![says],
        ..file(path, b"")
    }
}

impl<'a> Row<'a> {
    pub fn says(mut self, phrase: &'a str) -> Self {
        self.says.push(phrase);
        self
    }

    pub fn mismatched(mut self) -> Self {
        self.status = "mismatched";
        self
    }
}

/// The escape limitation of decision 1.
pub const ESCAPED: &str = "escaped path";

/// What a record must say, beside the root's own occurrence.
pub struct Expected<'a> {
    pub rows: Vec<Row<'a>>,
    /// A phrase of each result limitation, in order.
    pub says: Vec<&'a str>,
    pub status: &'a str,
}

impl Shown {
    /// Compares with all that was expected: no occurrence and no limitation
    /// more or less.
    #[track_caller]
    pub fn is(&self, expected: &Expected<'_>) {
        let graph = self.graph();
        let mut wanted: Vec<&str> = expected.rows.iter().map(|row| row.path).collect();
        wanted.push(".");
        wanted.sort_unstable();
        assert_eq!(self.paths(), wanted);
        let nodes = graph["nodes"].as_array().unwrap();
        for want in &expected.rows {
            let row = self.row(want.path);
            assert_eq!(row["entry_kind"], want.entry_kind, "{row}");
            assert_eq!(row["hash_status"], want.status, "{row}");
            says(&strings(&row["limitations"]), &want.says, want.path);
            let node = nodes
                .iter()
                .find(|node| node["artifact_id"] == row["artifact_id"]);
            match want.content {
                Some(content) => {
                    let node = node.unwrap_or_else(|| panic!("no node: {row}"));
                    assert_eq!(node["sha256"], super::sha256(content), "{}", want.path);
                }
                None if want.status == "unavailable" => assert!(row["artifact_id"].is_null()),
                None => {}
            }
        }
        says(&self.limitations(), &expected.says, "the result");
        let coverage = graph["coverage"]["status"].as_str();
        assert_eq!(coverage, Some(expected.status), "{graph}");
    }
}

#[track_caller]
pub fn says(found: &[String], phrases: &[&str], where_: &str) {
    let fits = found.len() == phrases.len()
        && found
            .iter()
            .zip(phrases)
            .all(|(text, phrase)| text.contains(phrase));
    assert!(fits, "{where_} says {found:#?}, expected {phrases:#?}");
}
