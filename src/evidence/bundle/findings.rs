//! Problems of a bundle, the first of the checks first.

use crate::evidence::path::Pointer;
use crate::evidence::problem::{Problem, Reason, Stage};

/// Problems that are told one by one.
pub(super) const LISTED: usize = 100;

/// The most important problems, in the order of the checks.
#[derive(Debug, Default)]
pub(super) struct Findings {
    listed: Vec<Problem>,
    more: u64,
}

impl Findings {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub fn add(&mut self, problem: Problem) {
        let at = self
            .listed
            .partition_point(|one| one.stage <= problem.stage);
        self.listed.insert(at, problem);
        if self.listed.len() > LISTED {
            self.listed.pop();
            self.more += 1;
        }
    }

    pub fn fail(
        &mut self,
        pointer: Pointer,
        stage: Stage,
        reason: Reason,
        message: impl Into<String>,
    ) {
        self.add(Problem {
            pointer,
            stage,
            reason,
            message: message.into(),
        });
    }

    pub fn has(&self, stage: Stage) -> bool {
        self.listed.iter().any(|one| one.stage == stage)
    }

    pub fn into_list(mut self) -> Vec<Problem> {
        if let Some(stage) = self.listed.last().map(|one| one.stage)
            && self.more > 0
        {
            let message = format!("{} more problems are not listed", self.more);
            self.fail(Pointer::default(), stage, Reason::InvalidValue, message);
        }
        self.listed
    }
}
