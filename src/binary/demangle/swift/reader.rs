//! The stack that operators work on.

use super::kind::{Id, Kind, Node, Nodes};

/// A name that is being read.
pub(super) struct Reader<'a> {
    pub(super) input: &'a [u8],
    pub(super) at: usize,
    pub(super) nodes: Nodes,
    pub(super) stack: Vec<Id>,
    pub(super) substitutions: Vec<Id>,
    /// Words of identifiers, for later ones that repeat them.
    pub(super) words: Vec<(usize, usize)>,
    /// Swift 4.0, where labels stand in the types of functions.
    pub(super) old: bool,
    fuel: usize,
}

impl<'a> Reader<'a> {
    pub fn new(input: &'a [u8], old: bool) -> Self {
        Self {
            input,
            at: 0,
            nodes: Nodes::default(),
            stack: Vec::new(),
            substitutions: Vec::new(),
            words: Vec::new(),
            old,
            fuel: input.len().saturating_mul(64).saturating_add(1024),
        }
    }

    pub(super) fn peek(&self) -> u8 {
        self.input.get(self.at).copied().unwrap_or(0)
    }

    pub(super) fn next(&mut self) -> u8 {
        let byte = self.peek();
        if self.at < self.input.len() {
            self.at += 1;
        }
        byte
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && self.at < self.input.len();
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_all(&mut self, text: &[u8]) -> bool {
        let found = self
            .input
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(text));
        if found {
            self.at += text.len();
        }
        found
    }

    fn add(&mut self, node: Node) -> Option<Id> {
        self.fuel = self.fuel.checked_sub(1 + node.parts.len())?;
        self.nodes.0.push(node);
        Some((self.nodes.0.len() - 1) as Id)
    }

    pub(super) fn node(&mut self, kind: Kind, parts: Vec<Id>) -> Option<Id> {
        self.add(Node {
            kind,
            text: String::new(),
            number: 0,
            parts,
        })
    }

    pub(super) fn text_node(&mut self, kind: Kind, text: impl Into<String>) -> Option<Id> {
        let text = text.into();
        self.fuel = self.fuel.checked_sub(text.len())?;
        self.add(Node {
            kind,
            text,
            number: 0,
            parts: Vec::new(),
        })
    }

    pub(super) fn number_node(&mut self, kind: Kind, number: i64) -> Option<Id> {
        self.add(Node {
            kind,
            text: String::new(),
            number,
            parts: Vec::new(),
        })
    }

    pub(super) fn add_part(&mut self, id: Id, part: Id) {
        if let Some(node) = self.nodes.0.get_mut(id as usize) {
            node.parts.push(part);
        }
    }

    pub(super) fn in_type(&mut self, id: Id) -> Option<Id> {
        self.node(Kind::Type, vec![id])
    }

    pub(super) fn push(&mut self, id: Id) -> Option<()> {
        self.fuel = self.fuel.checked_sub(1)?;
        self.stack.push(id);
        Some(())
    }

    pub(super) fn pop(&mut self) -> Option<Id> {
        self.stack.pop()
    }

    /// The top of the stack, where `fits`.
    pub(super) fn pop_if(&mut self, fits: impl FnOnce(Kind) -> bool) -> Option<Id> {
        let top = *self.stack.last()?;
        if !fits(self.nodes.kind(top)) {
            return None;
        }
        self.stack.pop()
    }

    pub(super) fn pop_kind(&mut self, kind: Kind) -> Option<Id> {
        self.pop_if(|found| found == kind)
    }

    /// The top of the stack as a type, without the node that says so.
    pub(super) fn pop_inner_type(&mut self) -> Option<Id> {
        let id = self.pop_kind(Kind::Type)?;
        match self.nodes.parts(id) {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Elements up to the one that is marked as the first; none for an empty
    /// list.
    pub(super) fn pop_list(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Option<Id>,
    ) -> Option<Vec<Id>> {
        let mut elements = Vec::new();
        if self.pop_kind(Kind::EmptyList).is_some() {
            return Some(elements);
        }
        loop {
            let first = self.pop_kind(Kind::FirstElement).is_some();
            elements.push(element(self)?);
            if first {
                elements.reverse();
                return Some(elements);
            }
        }
    }

    /// The whole name.
    pub fn symbol(&mut self) -> Option<Id> {
        while self.at < self.input.len() {
            let node = self.operator()?;
            self.push(node)?;
        }
        let suffix = self.pop_kind(Kind::Suffix);
        let root = self.node(Kind::Global, Vec::new())?;
        let mut parent = root;
        while let Some(attribute) = self.pop_if(Kind::is_attribute) {
            self.add_part(parent, attribute);
            if matches!(self.nodes.kind(attribute), Kind::PartialApply(_)) {
                parent = attribute;
            }
        }
        for id in std::mem::take(&mut self.stack) {
            let shown = match self.nodes.kind(id) {
                Kind::Type => self.nodes.part(id, 0)?,
                _ => id,
            };
            self.add_part(parent, shown);
        }
        if let Some(suffix) = suffix {
            self.add_part(root, suffix);
        }
        (!self.nodes.parts(root).is_empty()).then_some(root)
    }

    /// Digits.
    pub(super) fn natural(&mut self) -> Option<i64> {
        let start = self.at;
        let mut value = 0i64;
        while self.peek().is_ascii_digit() {
            value = value * 10 + i64::from(self.peek() - b'0');
            if value > i64::from(i32::MAX) {
                return None;
            }
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }

    /// `_` is 0, `0_` is 1, and so on.
    pub(super) fn index(&mut self) -> Option<i64> {
        if self.take(b'_') {
            return Some(0);
        }
        let number = self.natural()?;
        self.take(b'_').then_some(number + 1)
    }

    pub(super) fn index_node(&mut self) -> Option<Id> {
        let index = self.index()?;
        self.number_node(Kind::Number, index)
    }
}
