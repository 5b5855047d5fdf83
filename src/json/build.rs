//! Documents held in memory, within a budget.

use std::io::Read;

use super::error::ReadError;
use super::{Event, Limits, Object, Reader, Text, Value};

/// How much memory one document may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes of JSON text.
    pub max_text_bytes: u64,
    /// Bytes of memory, by an estimate that is never too low by much.
    pub max_memory_bytes: u64,
}

impl Default for Budget {
    /// 1 GiB of text, 3 GiB of memory.
    fn default() -> Self {
        Self {
            max_text_bytes: 1 << 30,
            max_memory_bytes: 3 << 30,
        }
    }
}

/// What an allocation costs beside its bytes.
const ALLOCATION: usize = 16;

/// Builds one document from its pieces.
pub(crate) struct Builder {
    budget: Budget,
    start: u64,
    memory: u64,
    /// Values of open arrays and members of open objects, innermost last.
    elements: Vec<Value>,
    members: Vec<(Text, Value)>,
    /// Names whose values are not complete.
    names: Vec<Text>,
    /// For each open container: whether it is an object, and how many
    /// elements or members stood before its first.
    open: Vec<(bool, usize)>,
    text: Vec<u8>,
}

impl<R: Read> Reader<R> {
    /// Reads one document into memory. Member names may come in any order;
    /// one that stands twice in an object is refused.
    pub fn read_value(&mut self, budget: Budget) -> Result<Value, ReadError> {
        let mut builder = Builder::new(budget, self.place().offset);
        loop {
            let root = builder.event(self.next_event()?);
            let root = match root {
                Ok(root) => root,
                Err(Refusal::Duplicate(name)) => {
                    return Err(ReadError::duplicate(&name, self.place()));
                }
                Err(Refusal::Memory) => return Err(self.too_large(budget)),
            };
            if self.place().offset - builder.start > budget.max_text_bytes {
                let maximum = budget.max_text_bytes;
                let message =
                    format!("a document that must be held in memory has more than {maximum} bytes");
                let place = self.place();
                return Err(ReadError::resource(
                    "document-text",
                    maximum,
                    place,
                    message,
                ));
            }
            if let Some(root) = root {
                return Ok(root);
            }
        }
    }

    fn too_large(&self, budget: Budget) -> ReadError {
        let maximum = budget.max_memory_bytes;
        let message = format!("a document would take more than {maximum} bytes of memory");
        ReadError::resource("document-memory", maximum, self.place(), message)
    }
}

impl Value {
    /// Reads text that is one document, within the default budget.
    pub fn parse(text: &[u8], limits: Limits) -> Result<Self, ReadError> {
        let mut reader = Reader::new(text, limits);
        let value = reader.read_value(Budget::default())?;
        reader.expect_end()?;
        Ok(value)
    }
}

/// Why a document is not built.
pub(crate) enum Refusal {
    /// A member stands twice in an object.
    Duplicate(Vec<u8>),
    /// It takes more memory than its budget.
    Memory,
}

impl Builder {
    /// A builder of the document that starts at the offset `start`.
    pub(crate) fn new(budget: Budget, start: u64) -> Self {
        Self {
            budget,
            start,
            memory: 0,
            elements: Vec::new(),
            members: Vec::new(),
            names: Vec::new(),
            open: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Takes a piece; the whole where it is complete.
    pub(crate) fn event(&mut self, event: Event<'_>) -> Result<Option<Value>, Refusal> {
        match event {
            Event::Null => self.value(Value::Null),
            Event::Bool(value) => self.value(Value::Bool(value)),
            Event::Number { value, .. } => self.value(Value::Number(value)),
            Event::Text { part, last, .. } => {
                self.charge(part.len())?;
                self.text.extend_from_slice(part);
                if !last {
                    return Ok(None);
                }
                self.charge(ALLOCATION)?;
                let text = Text::from_wtf8(std::mem::take(&mut self.text));
                self.value(Value::String(text))
            }
            Event::Key { name, .. } => {
                self.charge(size_of::<Text>() + ALLOCATION + name.len())?;
                self.names.push(Text::from_wtf8(name.to_vec()));
                Ok(None)
            }
            Event::BeginObject => {
                self.open.push((true, self.members.len()));
                Ok(None)
            }
            Event::BeginArray => {
                self.open.push((false, self.elements.len()));
                Ok(None)
            }
            Event::EndObject | Event::EndArray => self.close(),
        }
    }

    /// The memory that was counted so far.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.memory += bytes as u64;
        if self.memory > self.budget.max_memory_bytes {
            return Err(Refusal::Memory);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<Option<Value>, Refusal> {
        let Some((object, from)) = self.open.pop() else {
            return Ok(None);
        };
        // Collecting a drain allocates exactly what is there.
        let value = if object {
            let members: Vec<_> = self.members.drain(from..).collect();
            match Object::from_members(members) {
                Ok(object) => Value::Object(object),
                Err(name) => return Err(Refusal::Duplicate(name.as_bytes().to_vec())),
            }
        } else {
            Value::Array(self.elements.drain(from..).collect())
        };
        self.charge(ALLOCATION)?;
        self.value(value)
    }

    fn value(&mut self, value: Value) -> Result<Option<Value>, Refusal> {
        // Twice: once in the list that grows, once where it ends up.
        self.charge(2 * size_of::<Value>())?;
        match self.open.last() {
            None => return Ok(Some(value)),
            Some((false, _)) => self.elements.push(value),
            Some((true, _)) => {
                if let Some(name) = self.names.pop() {
                    self.members.push((name, value));
                }
            }
        }
        Ok(None)
    }
}
