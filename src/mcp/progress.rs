//! Notices of progress (section 12): at most one in a tenth of a second, each
//! with a greater number than the one before, and one at the end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::oneshot;

use crate::operation::Progress;

/// Tells how far `progress` is until `ended`.
pub(super) async fn tell(
    progress: Arc<Progress>,
    token: ProgressToken,
    peer: Peer<RoleServer>,
    operation: String,
    every: Duration,
    mut ended: oneshot::Receiver<()>,
) {
    let mut number = 0u32;
    let mut said = counts(&progress);
    loop {
        let last = tokio::select! {
            _ = &mut ended => true,
            () = tokio::time::sleep(every) => false,
        };
        let now = counts(&progress);
        if !last && now == said {
            continue;
        }
        said = now;
        number += 1;
        let message = message(&operation, now, last);
        let notice =
            ProgressNotificationParam::new(token.clone(), f64::from(number)).with_message(message);
        // A notice that does not arrive never fails the call.
        let _ = peer.notify_progress(notice).await;
        if last {
            return;
        }
    }
}

/// Bytes and entries that are done, and entries that are known.
fn counts(progress: &Progress) -> (u64, u64, u64) {
    (
        progress.bytes.load(Ordering::Relaxed),
        progress.entries.load(Ordering::Relaxed),
        progress.entries_total.load(Ordering::Relaxed),
    )
}

fn message(operation: &str, (bytes, entries, total): (u64, u64, u64), last: bool) -> String {
    let phase = if last { "finished" } else { "working" };
    let mut text = format!("{operation}: {phase}");
    if total > 0 {
        text.push_str(&format!(", {entries} of {total} entries"));
    }
    if bytes > 0 {
        text.push_str(&format!(", {bytes} bytes read"));
    }
    text
}
