//! Texts that many rows share, each kept once under a number.

use std::collections::HashMap;
use std::hash::Hash;

/// Texts by number.
#[derive(Debug, Default)]
pub(super) struct Words {
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
}

impl Words {
    /// The number of a text.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        number
    }

    /// The text of a number.
    pub fn get(&self, number: u32) -> &str {
        self.texts
            .get(number as usize)
            .map_or("", |text| text.as_ref())
    }

    /// Forgets how to find numbers; no text comes any more.
    pub fn close(&mut self) {
        self.numbers = HashMap::new();
    }
}

/// Small values by number, the same way.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    numbers: HashMap<T, u32>,
    pub values: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Copy + Eq + Hash> Numbered<T> {
    /// The number of a value.
    pub fn number(&mut self, value: T) -> u32 {
        let next = self.values.len() as u32;
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        number
    }
}
