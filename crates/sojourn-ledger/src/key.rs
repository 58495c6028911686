//! The business key that identifies a journey.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A key's bytes, kept inline up to 46 of them: a prefixed UUID costs no allocation.
#[derive(Clone)]
pub struct Key(Repr);

#[derive(Clone)]
enum Repr {
    Inline { length: u8, bytes: [u8; 46] },
    Heap(Box<[u8]>),
}

impl Key {
    /// A key of these bytes; `None` for an empty one, which never matches anything.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let mut inline = [0; 46];
        Some(Self(if let Some(slot) = inline.get_mut(..bytes.len()) {
            slot.copy_from_slice(bytes);
            Repr::Inline { length: bytes.len() as u8, bytes: inline }
        } else {
            Repr::Heap(bytes.into())
        }))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { length, bytes } => &bytes[..usize::from(*length)],
            Repr::Heap(bytes) => bytes,
        }
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_bytes().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        Self::new(&bytes).ok_or_else(|| serde::de::Error::custom("a key is never empty"))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Key {}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", String::from_utf8_lossy(self.as_bytes()))
    }
}
