//! What a program's own file says of where it can run.

/// The part of an ELF file that matters here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Elf {
    /// As images call it.
    pub(super) architecture: &'static str,
    /// The loader that it asks for; `None`: it needs none.
    pub(super) interpreter: Option<String>,
}

/// A program header that names the loader (`PT_INTERP`).
const INTERPRETER: u32 = 3;

impl Elf {
    /// Reads a program of 64 bits, little-endian.
    ///
    /// Errs in words that go behind the program's name.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        const CUT: &str = "its file is cut off";
        if !bytes.starts_with(b"\x7fELF") {
            return Err("it is no program of Linux (ELF)");
        }
        if bytes.get(4..6) != Some(&[2, 1]) {
            return Err("it is no program of 64 bits, little-endian");
        }
        let architecture = match number(bytes, 18, 2).ok_or(CUT)? {
            0x3e => "amd64",
            0xb7 => "arm64",
            0xf3 => "riscv64",
            _ => return Err("its processor is none that is known here"),
        };
        let table = number(bytes, 32, 8).ok_or(CUT)?;
        let (length, count) = (number(bytes, 54, 2).ok_or(CUT)?, number(bytes, 56, 2).ok_or(CUT)?);
        let mut interpreter = None;
        for index in 0..count {
            let at = table.checked_add(index * length).ok_or(CUT)?;
            if number(bytes, at, 4).ok_or(CUT)? != u64::from(INTERPRETER) {
                continue;
            }
            let from = number(bytes, at.saturating_add(8), 8).ok_or(CUT)?;
            let length = number(bytes, at.saturating_add(32), 8).ok_or(CUT)?;
            let text = slice(bytes, from, length).ok_or(CUT)?;
            let text = text.strip_suffix(b"\0").unwrap_or(text);
            let text = std::str::from_utf8(text).map_err(|_| "its loader's name is no text")?;
            interpreter = Some(text.to_owned());
        }
        Ok(Self { architecture, interpreter })
    }
}

fn slice(bytes: &[u8], from: u64, length: u64) -> Option<&[u8]> {
    let from = usize::try_from(from).ok()?;
    let to = from.checked_add(usize::try_from(length).ok()?)?;
    bytes.get(from..to)
}

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: u64, length: u64) -> Option<u64> {
    let bytes = slice(bytes, at, length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_a_program_of_this_machine() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let elf = Elf::parse(&bytes).unwrap();
        let expected = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        assert_eq!(elf.architecture, expected);
        let loader = elf.interpreter.expect("tests are linked dynamically");
        assert!(std::path::Path::new(&loader).is_file(), "{loader}");
    }

    #[test]
    fn whatever_is_cut_off_or_no_program_is_refused() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        for length in 0..1_000 {
            // Nothing panics; a program without its headers is none.
            let parsed = Elf::parse(&bytes[..length]);
            assert!(length >= 64 || parsed.is_err(), "{length}");
        }
        assert!(Elf::parse(b"#!/bin/sh\n").unwrap_err().contains("no program of Linux"));
        let mut other = bytes[..64].to_vec();
        other[18] = 0x08;
        assert!(Elf::parse(&other).unwrap_err().contains("processor"));
    }
}
