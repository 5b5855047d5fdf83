//! A JSON value in memory, members already in canonical order.

use super::{Text, WriteJson, Writer};

/// A JSON value. Numbers are IEEE doubles, as RFC 8785 has them.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A finite number.
    Number(f64),
    /// A string.
    String(Text),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

/// Members sorted by UTF-16 code units, each name once.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Object(Vec<(Text, Value)>);

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes members in any order; a name that stands twice is the error.
    pub fn from_members(mut members: Vec<(Text, Value)>) -> Result<Self, Text> {
        if !members.is_sorted_by(|a, b| a.0 < b.0) {
            members.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            let twice = members
                .iter()
                .zip(members.iter().skip(1))
                .find(|(a, b)| a.0 == b.0);
            if let Some((member, _)) = twice {
                return Err(member.0.clone());
            }
        }
        Ok(Self(members))
    }

    /// The members in order, as they are held.
    pub(crate) fn members(&self) -> &[(Text, Value)] {
        &self.0
    }

    /// The members in order.
    pub fn into_members(self) -> Vec<(Text, Value)> {
        self.0
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let name = Text::from(name);
        let at = self.0.binary_search_by(|member| member.0.cmp(&name)).ok()?;
        Some(self.0.remove(at).1)
    }

    /// Sets a member, replacing one of the same name.
    pub fn insert(&mut self, name: impl Into<Text>, value: impl Into<Value>) {
        let name = name.into();
        match self.0.binary_search_by(|member| member.0.cmp(&name)) {
            Ok(at) => self.0[at].1 = value.into(),
            Err(at) => self.0.insert(at, (name, value.into())),
        }
    }

    /// The member of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let name = Text::from(name);
        let at = self.0.binary_search_by(|member| member.0.cmp(&name)).ok()?;
        Some(&self.0[at].1)
    }

    /// All members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Value)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Value {
    /// The string, where this is one without lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => text.as_str(),
            _ => None,
        }
    }

    /// The members, where this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements, where this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The member `name` of an object.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// The name of its JSON type: `object`, `array`, `string`, ...
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

/// Nesting is at most the reader's depth limit, so the recursion is bounded.
impl WriteJson for Value {
    fn write_json(&self, w: &mut Writer<'_>) {
        match self {
            Self::Null => w.null(),
            Self::Bool(value) => w.bool(*value),
            Self::Number(value) => w.number(*value),
            Self::String(text) => w.text(text.as_bytes()),
            Self::Array(items) => {
                w.begin_array();
                for item in items {
                    item.write_json(w);
                }
                w.end_array();
            }
            Self::Object(object) => object.write_json(w),
        }
    }
}

impl WriteJson for Object {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        for (name, value) in self.iter() {
            w.key_text(name.as_bytes());
            value.write_json(w);
        }
        w.end_object();
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Value {
    /// Rounds beyond 2^53 like every JSON number.
    fn from(value: u64) -> Self {
        Self::Number(value as f64)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}
