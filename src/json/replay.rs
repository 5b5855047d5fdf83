//! A value in memory as events, members in canonical order.

use super::{Event, Object, Text, Value};

enum Open<'a> {
    Object(std::slice::Iter<'a, (Text, Value)>),
    Array(std::slice::Iter<'a, Value>),
}

/// Hands `value` to `consumer` piece by piece, without recursion; ends early
/// where the consumer fails.
pub fn replay<E>(
    value: &Value,
    consumer: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut open = Vec::new();
    begin(value, &mut open, consumer)?;
    while let Some(top) = open.last_mut() {
        let next = match top {
            Open::Object(members) => match members.next() {
                Some((name, value)) => {
                    let name = name.as_bytes();
                    consumer(Event::Key { name, plain: false })?;
                    Some(value)
                }
                None => None,
            },
            Open::Array(elements) => elements.next(),
        };
        match next {
            Some(value) => begin(value, &mut open, consumer)?,
            None => {
                let end = match open.pop() {
                    Some(Open::Array(_)) => Event::EndArray,
                    _ => Event::EndObject,
                };
                consumer(end)?;
            }
        }
    }
    Ok(())
}

fn begin<'a, E>(
    value: &'a Value,
    open: &mut Vec<Open<'a>>,
    consumer: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        Value::Null => consumer(Event::Null),
        Value::Bool(value) => consumer(Event::Bool(*value)),
        Value::Number(value) => consumer(Event::Number {
            value: *value,
            lexeme: b"",
        }),
        Value::String(text) => consumer(Event::Text {
            part: text.as_bytes(),
            last: true,
            plain: false,
        }),
        Value::Array(elements) => {
            open.push(Open::Array(elements.iter()));
            consumer(Event::BeginArray)
        }
        Value::Object(object) => {
            open.push(Open::Object(Object::members(object).iter()));
            consumer(Event::BeginObject)
        }
    }
}
