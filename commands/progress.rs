//! How far the work is, on stderr: only for a terminal, only when it takes a
//! while, and gone without a trace when it is done.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rea::operation::Progress;

use crate::errors;
use crate::quantity::{human_bytes, thousands};

const FIRST: Duration = Duration::from_millis(400);
/// Whether a line is on the terminal.
static DRAWN: AtomicBool = AtomicBool::new(false);
const EVERY: Duration = Duration::from_millis(100);

/// A line that follows the counters until it is dropped.
#[derive(Debug)]
pub struct Display {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Starts to follow `progress`; nothing is drawn for short work.
    pub fn start(progress: Arc<Progress>) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let follow = move || {
            let begun = Instant::now();
            if stopped.recv_timeout(FIRST) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let spinner = ProgressStyle::with_template("{spinner} {msg}");
            let measured = ProgressStyle::with_template("{bar:16} {percent:>3}% {msg}");
            if let Ok(style) = spinner {
                bar.set_style(style);
            }
            let mut measured = measured.ok();
            loop {
                let bytes = progress.bytes.load(Ordering::Relaxed);
                let total = progress.bytes_total.load(Ordering::Relaxed);
                if total > 0 {
                    if let Some(style) = measured.take() {
                        bar.set_style(style);
                    }
                    bar.set_length(total.max(bytes));
                    bar.set_position(bytes);
                }
                let mut text = line(&progress, bytes, total, begun.elapsed());
                // Room for the bar; a line that wraps could not be taken back.
                text.truncate(errors::width(true).saturating_sub(28));
                bar.set_message(text);
                bar.tick();
                DRAWN.store(true, Ordering::Relaxed);
                if stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
            bar.finish_and_clear();
            DRAWN.store(false, Ordering::Relaxed);
        };
        let thread = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(follow)
            .ok();
        Self {
            stop: Some(stop),
            thread,
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A display that failed has nothing to say.
            let _ = thread.join();
        }
    }
}

/// Takes the line away where the process ends before its display does.
pub fn erase() {
    if DRAWN.load(Ordering::Relaxed) {
        let _ = io::stderr().write_all(b"\r\x1b[2K");
    }
}

fn line(progress: &Progress, bytes: u64, total: u64, elapsed: Duration) -> String {
    let entries = progress.entries.load(Ordering::Relaxed);
    let entries_total = progress.entries_total.load(Ordering::Relaxed);
    let rate = (bytes as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
    let seconds = elapsed.as_secs();
    let mut text = human_bytes(bytes);
    if total > bytes {
        text.push_str(&format!(" of {}", human_bytes(total)));
    }
    text.push_str(&format!(", {}", thousands(entries)));
    if entries_total > entries {
        text.push_str(&format!(" of {}", thousands(entries_total)));
    }
    text.push_str(&format!(
        " entries, {}/s, {}:{:02}",
        human_bytes(rate),
        seconds / 60,
        seconds % 60
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_how_many_and_how_long() {
        let progress = Progress::default();
        progress.expect(10, 4 << 20);
        progress.add_bytes(2 << 20);
        progress.add_entries(1);
        let text = line(&progress, 2 << 20, 4 << 20, Duration::from_secs(61));
        assert_eq!(
            text,
            "2.00 MiB of 4.00 MiB, 1 of 10 entries, 33.6 KiB/s, 1:01"
        );
    }
}
