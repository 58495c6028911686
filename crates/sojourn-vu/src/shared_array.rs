//! Arrays that all users share: made once, read by everybody, changed by nobody.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An element as JSON, parsed when it is read. All elements stand in one piece of text.
#[derive(Debug)]
pub(crate) struct SharedArray {
    text: Box<str>,
    /// Where each element ends.
    ends: Box<[usize]>,
}

impl SharedArray {
    pub(crate) fn new(elements: impl IntoIterator<Item = String>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for element in elements {
            text.push_str(&element);
            ends.push(text.len());
        }
        Self { text: text.into(), ends: ends.into() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The element's JSON.
    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start..end)
    }
}

/// All shared arrays of a test, by name.
#[derive(Debug, Default)]
pub(crate) struct SharedArrays(Mutex<HashMap<String, Arc<SharedArray>>>);

impl SharedArrays {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<SharedArray>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Keeps the array unless there is one of that name already; which it is.
    pub(crate) fn insert(&self, name: &str, array: SharedArray) -> Arc<SharedArray> {
        let mut arrays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(arrays.entry(name.to_owned()).or_insert_with(|| Arc::new(array)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_where_they_are() {
        let array = SharedArray::new(["1", "\"two\"", "", "{}"].map(str::to_owned));
        assert_eq!(array.len(), 4);
        let all: Vec<_> = (0..5).map(|index| array.get(index)).collect();
        assert_eq!(all, [Some("1"), Some("\"two\""), Some(""), Some("{}"), None]);
    }
}
