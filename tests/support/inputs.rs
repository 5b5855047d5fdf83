//! The inputs of the contract's artifact vectors, as files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn vector() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/artifacts");
    serde_json::from_slice(&std::fs::read(root.join("inputs.json")).unwrap()).unwrap()
}

/// The inputs of the vectors as files.
pub struct Inputs {
    folder: tempfile::TempDir,
    /// A socket's file stays as long as nobody removes it.
    _sockets: Vec<UnixListener>,
}

impl Inputs {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut sockets = Vec::new();
        for entry in vector()["entries"].as_array().unwrap() {
            let path = folder.path().join(entry["path"].as_str().unwrap());
            match entry["kind"].as_str().unwrap() {
                "directory" => std::fs::create_dir_all(&path).unwrap(),
                "file" => {
                    let bytes = base64(entry["base64"].as_str().unwrap());
                    let size = entry["size"].as_u64().unwrap();
                    assert_eq!(bytes.len() as u64, size, "{}", path.display());
                    assert_eq!(super::sha256(&bytes), entry["sha256"].as_str().unwrap());
                    std::fs::write(&path, bytes).unwrap();
                }
                "symlink" => symlink(entry["target"].as_str().unwrap(), &path).unwrap(),
                "fifo" => assert!(
                    Command::new("mkfifo")
                        .arg(&path)
                        .status()
                        .unwrap()
                        .success()
                ),
                "socket" => sockets.push(UnixListener::bind(&path).unwrap()),
                other => panic!("an input of kind {other}"),
            }
            if let Some(mode) = entry["mode"].as_str() {
                let mode = u32::from_str_radix(mode, 8).unwrap();
                let mode = std::fs::Permissions::from_mode(mode);
                std::fs::set_permissions(&path, mode).unwrap();
            }
        }
        Self {
            folder,
            _sockets: sockets,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for byte in text.bytes().filter(|&byte| byte != b'=') {
        let digit = DIGITS.iter().position(|&digit| digit == byte).unwrap();
        bits = bits << 6 | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
