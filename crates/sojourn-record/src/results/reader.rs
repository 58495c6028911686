//! Results of one input, one record held at a time.

use std::io::Read;

use super::{
    AttackResult, Encoding, ResultsError, csv, fault::Fault, gob, json, lines::Lines, slots::Slots,
    source::Source,
};

/// How much of each record is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All of it.
    Everything,
    /// What reports need: no body, headers, method and URL, which stay empty. A fault in them is
    /// not noticed.
    Figures,
}

/// Reads the results of one input.
#[derive(Debug)]
pub struct ResultReader {
    name: String,
    source: Source,
    detail: Detail,
    /// `None` until the first record is there.
    decoder: Option<Decoder>,
    slots: Slots,
    /// Texts of records that cannot be used where they stand.
    text: Vec<u8>,
    records: u64,
}

/// The encoding that was found, and what is known of the stream.
#[derive(Debug)]
enum Decoder {
    Gob(gob::Decoder),
    Json(Lines),
    Csv(Lines),
}

impl ResultReader {
    /// A reader at the start of an input, whose name is for errors. Nothing is read yet; the
    /// encoding is found out with the first record.
    #[must_use]
    pub fn new(name: impl Into<String>, input: Box<dyn Read>, detail: Detail) -> Self {
        Self {
            name: name.into(),
            source: Source::new(input),
            detail,
            decoder: None,
            slots: Slots::default(),
            text: Vec::new(),
            records: 0,
        }
    }

    /// Goes to the next record; false at the end. After an error there is none, except after
    /// [`ResultsError::is_timeout`]: then the call can be made again.
    pub fn advance(&mut self) -> Result<bool, ResultsError> {
        if self.decoder.is_none() {
            self.detect()?;
        }
        let Some(decoder) = &mut self.decoder else { return Ok(false) };
        let advanced =
            decoder.advance(&mut self.source, self.detail, &mut self.slots, &mut self.text);
        match advanced {
            Ok(is_there) => {
                self.records += u64::from(is_there);
                Ok(is_there)
            }
            Err(fault) => Err(self.explain(fault)),
        }
    }

    /// The record that [`Self::advance`] went to.
    #[must_use]
    pub fn current(&self) -> AttackResult<'_> {
        match self.decoder {
            Some(Decoder::Gob(_)) => self.slots.view(self.source.buffer().0),
            _ => self.slots.view(&self.text),
        }
    }

    /// How many records were read.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The input's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The encoding, once it is known.
    #[must_use]
    pub fn encoding(&self) -> Option<Encoding> {
        self.decoder.as_ref().map(|decoder| match decoder {
            Decoder::Gob(_) => Encoding::Gob,
            Decoder::Json(_) => Encoding::Json,
            Decoder::Csv(_) => Encoding::Csv,
        })
    }

    /// Decodes the first record in each encoding until one fits, and goes back before it.
    fn detect(&mut self) -> Result<(), ResultsError> {
        for (mut attempt, decoder) in self.decoders().into_iter().zip(self.decoders()) {
            let advanced =
                attempt.advance(&mut self.source, self.detail, &mut self.slots, &mut self.text);
            self.source.rewind();
            let fits = match advanced {
                Err(Fault::Io(error)) => return Err(self.explain(Fault::Io(error))),
                Ok(true) => true,
                Ok(false) => matches!(&attempt, Decoder::Gob(gob) if gob.has_types),
                Err(_) => false,
            };
            if fits {
                self.source.settle();
                self.decoder = Some(decoder);
                return Ok(());
            }
        }
        let name = self.name.clone();
        if crate::is_run_file(self.source.available()) {
            return Err(ResultsError::RunFile { name });
        }
        Err(ResultsError::Undetected { name })
    }

    fn decoders(&self) -> [Decoder; 3] {
        [
            Decoder::Gob(gob::Decoder::new(self.detail)),
            Decoder::Json(Lines::new(false)),
            Decoder::Csv(Lines::new(true)),
        ]
    }

    fn explain(&self, fault: Fault) -> ResultsError {
        let (name, record) = (self.name.clone(), self.records + 1);
        match fault {
            Fault::CutOff => ResultsError::CutOff { name, record },
            Fault::Io(source) => ResultsError::Io { name, source },
            Fault::Format(reason) => {
                ResultsError::Record { name, record, reason: reason.into_owned() }
            }
        }
    }
}

impl Decoder {
    fn advance(
        &mut self,
        source: &mut Source,
        detail: Detail,
        slots: &mut Slots,
        text: &mut Vec<u8>,
    ) -> Result<bool, Fault> {
        let is_json = matches!(self, Self::Json(_));
        let lines = match self {
            Self::Gob(decoder) => return decoder.advance(source, slots),
            Self::Json(lines) | Self::Csv(lines) => lines,
        };
        let decode = if is_json { json::decode } else { csv::decode };
        while let Some(length) = lines.next(source)? {
            let line = &source.available()[..length];
            let is_blank = line.trim_ascii().is_empty();
            let decoded = if is_blank { Ok(()) } else { decode(line, detail, slots, text) };
            source.consume(length);
            decoded?;
            if !is_blank {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
