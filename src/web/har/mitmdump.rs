//! mitmdump as the decoder of its own flow files (web.md section 1.9): started
//! with limits, without environment, in a folder and a process group of its
//! own, and ended with all that it started.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::fault::Fault;
use crate::operation::Context;

/// The version whose flows are known.
pub(super) const VERSION: &str = "12.2.3";

/// Names the program.
pub(super) const SETTING: &str = "REA_MITMDUMP_COMMAND";

/// Runs in mitmdump and writes what its flows are.
const SCRIPT: &str = include_str!("flows.py");

/// Limits that every process inherits that it starts: 768 MiB of addresses, 30
/// seconds of processor time (then a second to end), files of 96 MiB (in
/// blocks of 512 bytes), no core files. A shell sets them before the program
/// is there; it is replaced by it.
const LIMITED: &str = "ulimit -v 786432 && ulimit -St 30 && ulimit -Ht 31 && ulimit -f 196608 \
    && ulimit -c 0 || exit 125; exec \"$0\" \"$@\"";

/// How long it may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// What it may say.
const DIAGNOSTICS: u64 = 1 << 20;
/// What of that is told.
const TOLD: usize = 400;
/// What its reply may have.
const REPLY: u64 = 96 << 20;

/// How the script ends where a limit is reached.
const NO_SPACE: i32 = 75;
const NO_MEMORY: i32 = 76;

/// Why there is no program to ask.
#[derive(Debug)]
pub(super) enum Missing {
    /// The setting names none.
    NotSet,
    /// It is no absolute path of a file.
    NotAFile,
    /// Limits of processes are Linux's.
    OtherSystem,
    /// It is something else: what it did.
    Other(String),
}

/// What mitmdump makes of `flows`: JSON, see the script.
pub(super) fn decode(
    program: Option<&Path>,
    flows: &[u8],
    context: &Context,
) -> Result<Vec<u8>, Fault> {
    if !cfg!(target_os = "linux") {
        return Err(Fault::NoProgram(Missing::OtherSystem));
    }
    let Some(program) = program else {
        return Err(Fault::NoProgram(Missing::NotSet));
    };
    if !program.is_absolute() || !program.is_file() {
        return Err(Fault::NoProgram(Missing::NotAFile));
    }
    let failed = |error| Fault::Program(format!("its files cannot be written: {error}"));
    let folder = tempfile::Builder::new()
        .prefix("rea-flows-")
        // Recordings hold secrets.
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir()
        .map_err(failed)?;
    let outcome = run(program, folder.path(), flows, context);
    // What it left behind is told with what went wrong before.
    match (folder.close(), outcome) {
        (Ok(()), outcome) => outcome,
        (Err(_), Ok(_)) => Err(Fault::Cleanup(None)),
        (Err(_), Err(fault)) => Err(Fault::Cleanup(Some(Box::new(fault)))),
    }
}

fn run(program: &Path, folder: &Path, flows: &[u8], context: &Context) -> Result<Vec<u8>, Fault> {
    let failed = |error: std::io::Error| {
        Fault::Program(format!(
            "it cannot be started: {}",
            crate::error::io_reason(&error)
        ))
    };
    let file = |name: &str| -> PathBuf { folder.join(name) };
    let script = file("rea_flows.py");
    std::fs::write(&script, SCRIPT).map_err(failed)?;
    std::fs::write(file("flows"), flows).map_err(failed)?;
    let said = File::create(file("said")).map_err(failed)?;
    let child = Command::new("/bin/sh")
        .args(["-c", LIMITED])
        .arg(program)
        // No server, few words, nothing but the script.
        .args(["-n", "-q", "-s"])
        .arg(&script)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("HOME", folder)
        .env("TMPDIR", folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(said.try_clone().map_err(failed)?)
        .stderr(said)
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let status = Group(child).wait(&file("said"), context)?;
    let said = || words(&file("said"));
    match (status.code(), status.signal()) {
        (Some(0), _) => {}
        (Some(NO_MEMORY), _) => return Err(Fault::Decoder("768 MiB of memory")),
        (Some(NO_SPACE), _) => return Err(Fault::Decoder("96 MiB of output")),
        // SIGXCPU and then SIGKILL end a process at its limits of processor time,
        // SIGXFSZ at that of its files.
        (None, Some(24)) => return Err(Fault::Decoder("30 seconds of processor time")),
        (None, Some(9)) => return Err(Fault::Decoder("the host's memory or processor time")),
        (None, Some(25)) => return Err(Fault::Decoder("96 MiB of output")),
        _ => {
            let reason = format!("ended with {status}{}", said());
            return Err(Fault::NoProgram(Missing::Other(reason)));
        }
    }
    let Ok(reply) = File::open(file("reply")) else {
        let reason = format!("read no flows{}", said());
        return Err(Fault::NoProgram(Missing::Other(reason)));
    };
    let mut text = Vec::new();
    // The limit of files holds for one that keeps to it.
    reply
        .take(REPLY + 1)
        .read_to_end(&mut text)
        .map_err(failed)?;
    match text.len() as u64 > REPLY {
        true => Err(Fault::Decoder("96 MiB of output")),
        false => Ok(text),
    }
}

/// The last of what it said, for a message.
fn words(path: &Path) -> String {
    let mut said = Vec::new();
    let read = File::open(path).and_then(|file| file.take(DIAGNOSTICS).read_to_end(&mut said));
    let text = String::from_utf8_lossy(&said);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    match (read, last) {
        (Ok(_), Some(last)) => format!(": {}", last.chars().take(TOLD).collect::<String>()),
        _ => String::new(),
    }
}

/// A process and those that it started.
struct Group(Child);

impl Group {
    /// Waits for its end, which comes early where it is asked for or where
    /// time or words run out.
    fn wait(mut self, said: &Path, context: &Context) -> Result<ExitStatus, Fault> {
        let started = Instant::now();
        let pid = Pid::from_child(&self.0);
        loop {
            // It stays known until its group has ended: no other process can
            // get its number in between.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            if !matches!(waitid(WaitId::Pid(pid), options), Ok(None)) {
                return self.end().map_err(|_| Fault::Cleanup(None));
            }
            let many = std::fs::metadata(said).is_ok_and(|file| file.len() > DIAGNOSTICS);
            let stop = match context.check() {
                Err(error) => Some(Fault::Stopped(error)),
                Ok(()) if many => Some(Fault::Decoder("1 MiB of diagnostics")),
                Ok(()) if started.elapsed() > DEADLINE => Some(Fault::Decoder("30 seconds")),
                Ok(()) => None,
            };
            if let Some(fault) = stop {
                return match self.end() {
                    Ok(_) => Err(fault),
                    Err(_) => Err(Fault::Cleanup(Some(Box::new(fault)))),
                };
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(&mut self) -> std::io::Result<ExitStatus> {
        // There may be nobody left.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        self.0.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let _ = self.end();
        }
    }
}
