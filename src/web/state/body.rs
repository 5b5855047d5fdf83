//! What the body of a read says: its value, what identifies it, its rows.

use super::TooLarge;
use crate::json::{Budget, Kind, Limits, Object, Reader, Text, Value, append_number};
use crate::web::exchange::{Content, Exchange, is_safe, parse};

/// Members that are looked at first for an identity.
const IDENTITIES: [&str; 6] = ["id", "uid", "uuid", "key", "slug", "name"];

/// The body of a response that says what the state is, or why it does not.
pub(super) fn usable(
    exchange: &Exchange,
    memory: &mut u64,
) -> Result<Result<Value, &'static str>, TooLarge> {
    let body = &exchange.response_body;
    match &body.content {
        Content::Absent => return Ok(Err("body-not-recorded")),
        Content::Redacted => return Ok(Err("body-redacted")),
        Content::Text(_) | Content::Base64(_) => {}
    }
    if !exchange
        .status
        .is_some_and(|status| (200..300).contains(&status))
    {
        return Ok(Err("error-status"));
    }
    let text = body.is_json_like().then(|| body.text()).flatten();
    let Some(text) = text else {
        return Ok(Err("body-not-json"));
    };
    let Some(tape) = parse(text.to_vec()) else {
        return Ok(Err("body-not-json"));
    };
    if !matches!(tape.kind(tape.root()), Kind::Object | Kind::Array) {
        return Ok(Err("body-not-json"));
    }
    if !is_safe(&tape, tape.root()) {
        return Ok(Err("unsafe-number"));
    }
    drop(tape);
    let budget = Budget {
        max_text_bytes: u64::MAX,
        max_memory_bytes: *memory,
    };
    let mut reader = Reader::with_buffer(&*text, Limits::default(), text.len().max(64));
    let value = reader.read_value(budget).map_err(|_| TooLarge)?;
    // What it costs is at most what it may cost for its text, and is counted
    // as such: a byte of text is at most a value of 40 bytes.
    *memory = memory.saturating_sub(40 * text.len() as u64);
    if *memory == 0 {
        return Err(TooLarge);
    }
    Ok(Ok(value))
}

/// A scalar as text, for identities.
pub(super) fn scalar(value: &Value) -> Option<Text> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => {
            let mut out = Vec::new();
            append_number(&mut out, *number);
            Some(Text::from_wtf8(out))
        }
        Value::Bool(value) => Some(if *value { "true" } else { "false" }.into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The member names of an object, likely identities first.
pub(super) fn candidates(object: &Object) -> Vec<&Text> {
    let rank = |name: &Text| {
        let known = IDENTITIES.iter().position(|known| *name == **known);
        known.unwrap_or(IDENTITIES.len())
    };
    let mut names: Vec<&Text> = object.iter().map(|(name, _)| name).collect();
    // A stable sort keeps the order of code units.
    names.sort_by_key(|name| rank(name));
    names
}

pub(super) fn member<'v>(value: &'v Value, name: &Text) -> Option<&'v Value> {
    let found = |(known, _): &(&Text, &Value)| *known == name;
    value
        .as_object()?
        .iter()
        .find(found)
        .map(|(_, value)| value)
}

/// The rows of a collection and where they stand: at the root, or in the one
/// member that is an array of objects.
pub(super) fn rows(value: &Value) -> Option<(Option<Text>, &[Value])> {
    let objects = |items: &[Value]| items.iter().all(|item| item.as_object().is_some());
    match value {
        Value::Array(items) => objects(items).then_some((None, items.as_slice())),
        Value::Object(object) => {
            let mut lists = object.iter().filter_map(|(name, value)| {
                let items = value.as_array()?;
                (!items.is_empty() && objects(items)).then_some((name, items))
            });
            match (lists.next(), lists.next()) {
                (Some((name, items)), None) => Some((Some(name.clone()), items)),
                _ => None,
            }
        }
        _ => None,
    }
}
