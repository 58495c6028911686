//! Results of several inputs as one stream.

use super::{AttackResult, ResultReader, ResultsError};

/// Reads several inputs at once, the earliest of their next records first. Each input is left in
/// its own order, which is that of the responses' ends: the result is in order of time as far as
/// they are.
#[derive(Debug)]
pub struct MergedReader {
    inputs: Vec<Input>,
    /// The input of the current record.
    current: Option<usize>,
    /// What went wrong with inputs that ended early.
    errors: Vec<ResultsError>,
}

#[derive(Debug)]
struct Input {
    reader: ResultReader,
    state: State,
}

/// Where an input stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its next record is not read yet.
    Behind,
    /// Its record is the next one or later.
    Ready,
    /// It has no more.
    Ended,
}

impl MergedReader {
    /// Reads these inputs; they are numbered in this order.
    #[must_use]
    pub fn new(readers: Vec<ResultReader>) -> Self {
        let inputs =
            readers.into_iter().map(|reader| Input { reader, state: State::Behind }).collect();
        Self { inputs, current: None, errors: Vec::new() }
    }

    /// Goes to the next record: the number of its input; `None` at the end. An input that fails
    /// does not keep the others from being read: what was wrong is in [`Self::errors`] then. Errs
    /// only with [`ResultsError::is_timeout`], after which the call can be made again.
    pub fn advance(&mut self) -> Result<Option<usize>, ResultsError> {
        if let Some(current) = self.current.take() {
            self.inputs[current].state = State::Behind;
        }
        for input in self.inputs.iter_mut().filter(|input| input.state == State::Behind) {
            input.state = match input.reader.advance() {
                Ok(true) => State::Ready,
                Ok(false) => State::Ended,
                Err(error) if error.is_timeout() => return Err(error),
                Err(error) => {
                    self.errors.push(error);
                    State::Ended
                }
            };
        }
        self.current = match self.inputs.as_slice() {
            [input] => (input.state == State::Ready).then_some(0),
            inputs => (0..inputs.len())
                .filter(|index| inputs[*index].state == State::Ready)
                .min_by_key(|index| inputs[*index].reader.current().timestamp.unix_ns),
        };
        Ok(self.current)
    }

    /// The record that [`Self::advance`] went to; an empty one before the first.
    #[must_use]
    pub fn current(&self) -> AttackResult<'_> {
        let current = self.current.and_then(|current| self.inputs.get(current));
        current.map_or_else(AttackResult::default, |input| input.reader.current())
    }

    /// Why inputs ended before their end, so far.
    #[must_use]
    pub fn errors(&self) -> &[ResultsError] {
        &self.errors
    }

    /// The inputs' names, by number.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(|input| input.reader.name())
    }
}
