//! Builders and checks that several integration tests share.
#![allow(dead_code)] // each test binary uses a part of it

pub mod child;
pub mod environment;
pub mod inputs;
pub mod mcp;
pub mod peer;
pub mod record;
pub mod zip;

use std::path::Path;
use std::time::Duration;

use rea::evidence::{Evidence, Record};
use rea::json::{Limits, Value, WriteJson, canonical};

/// Runs `work` on a thread of its own and fails when it takes over a minute:
/// a guard against hangs, not a measure of speed.
pub fn guarded<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    let handle = std::thread::spawn(move || {
        let _ = sender.send(work());
    });
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Ok(result) => result,
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("{what}: hangs"),
        Err(_) => match handle.join() {
            Err(cause) => std::panic::resume_unwind(cause),
            Ok(()) => unreachable!("the work ended without a result"),
        },
    }
}

/// SHA-256 as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes `bytes` to a new file and returns its path.
pub fn file(folder: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A record whose id is the hash of what it says.
pub fn shown(record: &dyn Record) -> serde_json::Value {
    let text = record.canonical();
    let value = Value::parse(&text, Limits::default()).unwrap();
    let Ok(evidence) = Evidence::from_value(value) else {
        panic!("it is no record");
    };
    assert_eq!(evidence.id(), record.id());
    serde_json::from_slice(&text).unwrap()
}

/// A value of ours for the tests' reader of JSON.
pub fn json(value: &dyn WriteJson) -> serde_json::Value {
    serde_json::from_slice(&canonical(value)).unwrap()
}

/// The other way round.
pub fn ours(value: &serde_json::Value) -> Value {
    Value::parse(value.to_string().as_bytes(), Limits::default()).unwrap()
}
