//! The way back from positions in translated sources.

/// From (line, column) of what runs to what was written. Lines and columns count from zero.
#[derive(Debug)]
pub(crate) struct SourceMap {
    /// (generated line, generated column, source line, source column), in order.
    tokens: Vec<(u32, u32, u32, u32)>,
}

impl SourceMap {
    pub(crate) fn new(mut tokens: Vec<(u32, u32, u32, u32)>) -> Self {
        tokens.sort_unstable();
        Self { tokens }
    }

    /// The source's position of the last token at or before this one, on its line.
    pub(crate) fn source(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let after = self.tokens.partition_point(|token| (token.0, token.1) <= (line, column));
        let token = self.tokens.get(after.checked_sub(1)?)?;
        (token.0 == line).then_some((token.2, token.3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_before_counts() {
        let map = SourceMap::new(vec![(1, 4, 7, 2), (0, 0, 5, 1), (1, 9, 8, 0)]);
        assert_eq!(map.source(0, 80), Some((5, 1)));
        assert_eq!(map.source(1, 4), Some((7, 2)));
        assert_eq!(map.source(1, 8), Some((7, 2)));
        assert_eq!(map.source(1, 9), Some((8, 0)));
        assert_eq!(map.source(1, 3), None);
        assert_eq!(map.source(2, 0), None);
    }
}
