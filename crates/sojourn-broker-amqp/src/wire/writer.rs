//! Writing AMQP's primitive types.

use super::Malformed;

/// Appends to bytes.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// A text of at most 255 bytes.
    pub(crate) fn short(&mut self, text: &[u8]) -> Result<(), Malformed> {
        let length = u8::try_from(text.len())
            .map_err(|_| Malformed("longer than AMQP's 255 bytes for a name, key or property"))?;
        self.u8(length);
        self.bytes.extend_from_slice(text);
        Ok(())
    }

    /// Bytes with their length in 32 bits before them.
    pub(crate) fn long(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let length = u32::try_from(bytes.len()).map_err(|_| Malformed("longer than 4 GiB"))?;
        self.u32(length);
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// A table whose fields `fill` writes, with its length before it.
    pub(crate) fn table(
        &mut self,
        fill: impl FnOnce(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let place = self.bytes.len();
        self.u32(0);
        fill(self)?;
        let length = u32::try_from(self.bytes.len() - place - 4)
            .map_err(|_| Malformed("a table longer than 4 GiB"))?;
        self.bytes[place..place + 4].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }

    /// A table's field that is a text.
    pub(crate) fn text_field(&mut self, name: &str, value: &[u8]) -> Result<(), Malformed> {
        self.short(name.as_bytes())?;
        self.u8(b'S');
        self.long(value)
    }

    /// A table's field that is true.
    pub(crate) fn true_field(&mut self, name: &str) -> Result<(), Malformed> {
        self.short(name.as_bytes())?;
        self.u8(b't');
        self.u8(1);
        Ok(())
    }
}
