//! Interned strings: a name is stored once and stands for a small integer.

use rustc_hash::FxHashMap;

/// Names numbered in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
    /// The number given out last, which is most often the next one too.
    last: u32,
}

impl Interner {
    /// Returns the number of `name`, giving it the next free one at its first appearance.
    /// `None` when `limit` names exist already.
    pub(crate) fn intern(&mut self, name: &str, limit: usize) -> Option<u32> {
        if self.names.get(self.last as usize).is_some_and(|last| **last == *name) {
            return Some(self.last);
        }
        if let Some(&number) = self.numbers.get(name) {
            self.last = number;
            return Some(number);
        }
        if self.names.len() >= limit {
            return None;
        }
        let number = u32::try_from(self.names.len()).ok()?;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        self.last = number;
        Some(number)
    }

    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    /// Returns all names, by number.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Bytes held on the heap, to the accuracy of the map's load factor.
    pub(crate) fn memory_usage(&self) -> usize {
        let text: usize = self.names.iter().map(|name| name.len() * 2).sum();
        text + self.names.capacity() * size_of::<Box<str>>()
            + self.numbers.capacity() * (size_of::<Box<str>>() + size_of::<u32>())
    }
}
