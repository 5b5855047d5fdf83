//! Which record answers a call (web.md sections 5.4 and 5.6).

use super::catalog::{Meaning, Tool};
use super::display::lossy;
use crate::json::{Text, Value};
use crate::web::exchange::Exchange;
use crate::web::line::percent_decoded;

/// Arguments that a call supplied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supplied {
    /// Segments by their index.
    pub path: Vec<(usize, Text)>,
    /// Query parameters by their full name.
    pub query: Vec<(Text, Text)>,
}

/// An argument that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its name.
    pub argument: String,
    /// `unknown_argument`, `missing_argument` or `invalid_type`.
    pub reason: &'static str,
}

impl Supplied {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// All that is wrong with them; nothing is dropped.
    pub fn read(tool: &Tool, arguments: &Value) -> Result<Self, Vec<Problem>> {
        let problem = |argument: &Text, reason| Problem {
            argument: lossy(argument),
            reason,
        };
        let Some(arguments) = arguments.as_object() else {
            return Err(vec![problem(&Text::default(), "invalid_type")]);
        };
        let mut supplied = Self::default();
        let mut problems = Vec::new();
        for (name, value) in arguments.iter() {
            let Some(argument) = tool.arguments.iter().find(|known| known.name == *name) else {
                problems.push(problem(name, "unknown_argument"));
                continue;
            };
            match (&argument.meaning, value) {
                (Meaning::Path(index), Value::String(text)) => {
                    supplied.path.push((*index, text.clone()));
                }
                (Meaning::Query(name), Value::String(text)) => {
                    supplied.query.push((name.clone(), text.clone()));
                }
                (Meaning::Body, Value::Object(_)) => {}
                _ => problems.push(problem(name, "invalid_type")),
            }
        }
        for argument in &tool.arguments {
            let is_required = matches!(argument.meaning, Meaning::Path(_));
            let is_given = arguments.iter().any(|(name, _)| *name == argument.name);
            if is_required && !is_given {
                problems.push(problem(&argument.name, "missing_argument"));
            }
        }
        match problems.is_empty() {
            true => Ok(supplied),
            false => Err(problems),
        }
    }
}

/// The record that answers.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'a> {
    /// The record.
    pub exchange: &'a Exchange,
    /// Whether every supplied value is the record's.
    pub exact_match: bool,
}

/// The best of the records, which come in the manifest's order: most supplied
/// values, then most path values as written, then the first.
pub fn select<'a>(
    records: impl IntoIterator<Item = &'a Exchange>,
    supplied: &Supplied,
) -> Option<Selected<'a>> {
    let wanted = supplied.path.len() + supplied.query.len();
    let mut best: Option<(usize, usize, &Exchange)> = None;
    for exchange in records {
        let Some(request) = &exchange.request else {
            continue;
        };
        let segments = request.line.segments();
        let (mut matches, mut as_written) = (0, 0);
        for (index, value) in &supplied.path {
            let Some(segment) = segments.get(*index) else {
                continue;
            };
            if *segment == value.as_bytes() {
                matches += 1;
                as_written += 1;
            } else if percent_decoded(segment).as_deref() == Some(value.as_bytes()) {
                matches += 1;
            }
        }
        if !supplied.query.is_empty() {
            let recorded = request.line.query_pairs();
            let same = |pair: &&(Text, Text)| recorded.contains(pair);
            matches += supplied.query.iter().filter(same).count();
        }
        let better = best.is_none_or(|(most, written, _)| (matches, as_written) > (most, written));
        if better {
            best = Some((matches, as_written, exchange));
        }
    }
    best.map(|(matches, _, exchange)| Selected {
        exchange,
        exact_match: matches == wanted,
    })
}
