//! Calls that are being worked on, by whom they end.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Calls that are being worked on, so that a shutdown or another client can
/// stop them and wait for them. Requests of the newest revision belong to no
/// session, and no client that comes or goes ends them (decision 34).
#[derive(Debug, Default)]
pub(crate) struct Calls {
    of_session: Group,
    of_nobody: Group,
}

/// Calls that end together.
#[derive(Debug, Default)]
struct Group {
    tracker: TaskTracker,
    stop: Mutex<CancellationToken>,
}

impl Calls {
    /// Those that a request belongs to.
    fn group(&self, context: &RequestContext<RoleServer>) -> &Group {
        // Over stdio there are no headers, and one client.
        let head = context.extensions.get::<hyper::http::request::Parts>();
        match head {
            Some(head) if !head.headers.contains_key(super::http::SESSION) => &self.of_nobody,
            _ => &self.of_session,
        }
    }

    /// A call begins: what tells it to stop, and what it holds until it ends.
    pub fn begin(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> (CancellationToken, TaskTrackerToken) {
        let group = self.group(context);
        (group.token(), group.tracker.token())
    }

    /// Asks all calls to stop and waits for them; `false` after `limit`.
    pub async fn stop(&self, limit: Duration) -> bool {
        let groups = [&self.of_session, &self.of_nobody];
        groups.iter().for_each(|group| group.cancel());
        let [session, nobody] = groups.map(|group| group.drained(limit));
        let (session, nobody) = tokio::join!(session, nobody);
        session && nobody
    }

    /// Asks the calls of the session to stop; those that begin later are not
    /// meant.
    pub fn cancel(&self) {
        self.of_session.cancel();
    }

    /// Waits until no call of the session is being worked on; `false` after
    /// `limit`.
    pub async fn drained(&self, limit: Duration) -> bool {
        self.of_session.drained(limit).await
    }
}

impl Group {
    fn token(&self) -> CancellationToken {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.child_token()
    }

    fn cancel(&self) {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.cancel();
        *stop = CancellationToken::new();
    }

    async fn drained(&self, limit: Duration) -> bool {
        self.tracker.close();
        let done = tokio::time::timeout(limit, self.tracker.wait())
            .await
            .is_ok();
        self.tracker.reopen();
        done
    }
}
