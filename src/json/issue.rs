//! One unacceptable part of an argument, as `details.issues[]` lists it.

use super::{Object, Value};
use crate::error::{Code, Error};

/// An issue of an `invalid_request` error.
#[derive(Clone, Debug)]
pub(crate) struct Issue {
    path: Vec<Value>,
    reason: &'static str,
    message: String,
    expected: Option<Value>,
    minimum: Option<u64>,
    maximum: Option<u64>,
}

impl Issue {
    /// An issue at a path of member names.
    pub(crate) fn new(path: &[&str], reason: &'static str, message: String) -> Self {
        Self::at(
            path.iter().map(|&part| part.into()).collect(),
            reason,
            message,
        )
    }

    /// An issue at a path of member names and element numbers.
    pub(crate) fn at(path: Vec<Value>, reason: &'static str, message: String) -> Self {
        Self {
            path,
            reason,
            message,
            expected: None,
            minimum: None,
            maximum: None,
        }
    }

    /// Says what would be acceptable.
    pub(crate) fn expected(mut self, what: impl Into<Value>) -> Self {
        self.expected = Some(what.into());
        self
    }

    /// Says between which numbers it must be.
    pub(crate) fn range(mut self, minimum: u64, maximum: Option<u64>) -> Self {
        self.minimum = Some(minimum);
        self.maximum = maximum;
        self
    }

    /// Says the bounds that are known.
    pub(crate) fn bounds(mut self, minimum: Option<u64>, maximum: Option<u64>) -> Self {
        self.minimum = minimum;
        self.maximum = maximum;
        self
    }

    fn into_value(self) -> Value {
        let mut object = Object::new();
        if let Some(expected) = self.expected {
            object.insert("expected", expected);
        }
        if let Some(minimum) = self.minimum {
            object.insert("minimum", minimum);
        }
        if let Some(maximum) = self.maximum {
            object.insert("maximum", maximum);
        }
        object.insert("message", self.message);
        object.insert("path", Value::Array(self.path));
        object.insert("reason", self.reason);
        object.into()
    }

    /// The error with this one issue.
    pub(crate) fn into_error(self, operation: &str) -> Error {
        Self::all_into_error(vec![self], operation)
    }

    /// The error with these issues; its message is that of the first.
    pub(crate) fn all_into_error(issues: Vec<Self>, operation: &str) -> Error {
        let message = issues
            .first()
            .map_or_else(String::new, |issue| issue.message.clone());
        let issues: Vec<Value> = issues.into_iter().map(Self::into_value).collect();
        Error::new(Code::InvalidRequest, message)
            .detail("operation", operation)
            .detail("issues", issues)
            .recovery("inspect_input_contract", operation)
    }
}
