//! SIGINT and SIGTERM. The first asks the operation to stop: it ends
//! with `cancelled`, cleans up after itself and exits with 128 + N. A second
//! one, or one while the result is on its way to stdout, ends the process at
//! once. A closed pipe is no signal here: Rust ignores SIGPIPE and writes fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rea::operation::Cancellation;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::progress;

static DELIVERING: AtomicBool = AtomicBool::new(false);

/// Passes signals on to `cancellation` from now on. `at_once` says on stderr
/// that a signal ended the process before the operation could.
pub fn watch(cancellation: Arc<Cancellation>, at_once: impl Fn(i32) + Send + 'static) {
    // Without handlers a signal ends the process as it always did.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    let work = move || {
        for signal in signals.forever() {
            let again = cancellation.is_requested();
            if !again && !DELIVERING.load(Ordering::Acquire) {
                cancellation.request(Some(signal));
                continue;
            }
            if !again {
                at_once(signal);
            }
            progress::erase();
            signal_hook::low_level::exit(128 + signal);
        }
    };
    let _ = std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(work);
}

/// While this lives, something is on its way to stdout: where the reader is
/// stuck, nobody would see a stop request.
pub fn deliver() -> Delivering {
    DELIVERING.store(true, Ordering::Release);
    Delivering
}

/// See [`deliver`].
pub struct Delivering;

impl Drop for Delivering {
    fn drop(&mut self) {
        DELIVERING.store(false, Ordering::Release);
    }
}
