//! Bundles and unknowns: the contract's vectors, what must hold of merges, and
//! what tampering must not get past.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

mod bundles {
    mod memory;
    mod properties;
    mod registry;
    mod tampering;
    mod vectors;
}

use std::path::{Path, PathBuf};

use rea::Result;
use rea::digest::Digest;
use rea::evidence::{
    Bundle, Collector, Creation, Evidence, NewSubject, Provider, Source, read_bundle_bytes,
};
use rea::json::{Limits, Text, Value, canonical};
use rea::operation::Context;

fn context() -> Context {
    Context::new("bundle")
}

fn written(bundle: &Bundle) -> Vec<u8> {
    let mut out = Vec::new();
    bundle.write_to(&context(), &mut out).unwrap().unwrap();
    out
}

fn read(bytes: &[u8]) -> Result<Bundle> {
    read_bundle_bytes("x", bytes, &context())
}

fn read_value(value: &Value) -> Bundle {
    read(&canonical(value)).unwrap()
}

fn vector(name: &str) -> Value {
    let path = root().join(name);
    let text = std::fs::read(&path).expect("the vector is there");
    Value::parse(&text, Limits::default()).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/evidence")
}

fn vectors(folder: &str) -> Vec<(String, Value)> {
    let mut names: Vec<String> = std::fs::read_dir(root().join(folder))
        .expect("the vectors are there")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let read = |name: &String| {
        let name = format!("{folder}/{name}");
        (name.clone(), vector(&name))
    };
    names.iter().map(read).collect()
}

fn of_kind(folder: &str, kind: &str) -> Vec<(String, Value)> {
    let mut all = vectors(folder);
    all.retain(|(_, vector)| text(vector, "kind") == kind);
    assert!(!all.is_empty());
    all
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("no {name}"))
}

const FIXTURE: Provider = Provider {
    id: "fixture",
    name: "Fixture provider",
    version: "1.0.0",
};

/// A small record that differs from others by `number` alone.
fn record(number: u64) -> Evidence {
    let mut creation = Creation::new("health", FIXTURE);
    creation.normalized_result = number.into();
    Evidence::create(creation)
}

/// The same record under another path.
fn record_at(number: u64, path: &str) -> Evidence {
    let mut creation = Creation::new("health", FIXTURE);
    creation.normalized_result = number.into();
    creation.subject = Some(NewSubject {
        path: path.to_owned(),
        sha256: Digest::of(b"subject"),
        format: "elf".to_owned(),
        architecture: None,
    });
    Evidence::create(creation)
}

fn texts(items: &[&str]) -> Vec<Text> {
    items.iter().map(|&item| Text::from(item)).collect()
}

/// The bundle that `rea bundle` makes of this input.
fn collected(input: &[u8]) -> Result<Bundle> {
    let source = Source::stream("-", Box::new(std::io::Cursor::new(input.to_vec())));
    let mut parts = Vec::new();
    Collector::new().read(source, Limits::default(), &context(), &mut |item| {
        parts.push(item.bundle);
        Ok(())
    })?;
    let mut bundle = Bundle::new();
    bundle.merge_all(parts)?;
    Ok(bundle)
}
