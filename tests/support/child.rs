//! Runs the program and watches its memory.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The most anonymous memory it was seen to hold, in bytes.
    pub anonymous: u64,
}

/// Runs `command`; ends it after a minute and fails.
pub fn watch(command: Command) -> Ran {
    watch_for(command, Duration::from_secs(60))
}

/// The same with more patience, for what takes a minute on a busy machine.
pub fn watch_for(mut command: Command, most: Duration) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let status_file = format!("/proc/{}/status", child.id());
    let begun = Instant::now();
    let mut anonymous = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        anonymous = anonymous.max(rss_anon(&status_file));
        if begun.elapsed() > most {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    Ran {
        status: status.code(),
        stdout: std::fs::read_to_string(&out).unwrap(),
        stderr: std::fs::read_to_string(&err).unwrap(),
        anonymous,
    }
}

fn rss_anon(status_file: &str) -> u64 {
    let status = std::fs::read_to_string(status_file).unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// `rea inventory-artifact PATH`, canonical.
pub fn rea(path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rea"));
    command
        .args(["inventory-artifact", "--format", "canonical"])
        .arg(path);
    command
}

impl Ran {
    #[track_caller]
    pub fn record(&self) -> super::record::Shown {
        assert_eq!(self.status, Some(0), "{}", self.stderr);
        super::record::Shown {
            text: self.stdout.clone(),
            is_error: false,
        }
    }

    #[track_caller]
    pub fn error(&self) -> super::record::Shown {
        assert_eq!(self.status, Some(1), "{}", self.stdout);
        let error: serde_json::Value = serde_json::from_str(&self.stderr).unwrap();
        super::record::Shown {
            text: error["error"].to_string(),
            is_error: true,
        }
    }

    #[track_caller]
    pub fn within(&self, most: u64) {
        assert!(self.anonymous <= most, "{} MiB", self.anonymous >> 20);
    }
}
