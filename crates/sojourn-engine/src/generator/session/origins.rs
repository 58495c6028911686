//! Who is asked: origins by what URLs begin with, and each client's own connections to them.

use sojourn_http::{Origin, OriginId, origin_host_header};

use crate::generator::world::World;

/// Origins told apart; targets are few, and requests go nowhere else.
const ORIGINS_MAX: usize = 1_000;

/// An origin among [`Origins`].
pub(super) type OriginIndex = u16;

/// All origins asked so far.
#[derive(Debug, Default)]
pub(super) struct Origins(Vec<Known>);

#[derive(Debug)]
struct Known {
    /// `http://host:port` as requests write it; `None` where only redirects lead to it.
    written: Option<String>,
    origin: Origin,
    host_header: String,
    /// The client's numbers for it that nobody uses.
    free: Vec<OriginId>,
}

impl Origins {
    /// The origin that an absolute URL begins with, and the URL's path and query. Errs in words.
    pub(super) fn of<'u>(&mut self, url: &'u str) -> Result<(OriginIndex, &'u str), String> {
        let authority = url.find("://").map_or(0, |at| at + 3);
        // A backslash ends the authority, as it does where the origin is read.
        let path_at = url[authority..].find(['/', '?', '#', '\\']);
        let path_at = path_at.map_or(url.len(), |at| authority + at);
        let (written, path) = url.split_at(path_at);
        let path = &path[..path.find('#').unwrap_or(path.len())];
        let known = self.0.iter().position(|known| known.written.as_deref() == Some(written));
        let index = match known {
            Some(index) => index,
            None => self.add(written)?,
        };
        Ok((index as OriginIndex, path))
    }

    fn add(&mut self, written: &str) -> Result<usize, String> {
        let origin = Origin::parse(written).map_err(|error| error.to_string())?;
        self.known(Some(written.to_owned()), origin)
    }

    /// The index of an origin that a redirect leads to.
    pub(super) fn index_of(&mut self, origin: Origin) -> Result<OriginIndex, String> {
        let known = self.0.iter().position(|known| known.origin == origin);
        let index = known.map_or_else(|| self.known(None, origin), Ok)?;
        Ok(index as OriginIndex)
    }

    fn known(&mut self, written: Option<String>, origin: Origin) -> Result<usize, String> {
        if self.0.len() == ORIGINS_MAX {
            return Err(format!("more than {ORIGINS_MAX} origins"));
        }
        let host_header = origin_host_header(&origin);
        self.0.push(Known { written, origin, host_header, free: Vec::new() });
        Ok(self.0.len() - 1)
    }

    pub(super) fn origin(&self, index: OriginIndex) -> &Origin {
        &self.0[usize::from(index)].origin
    }

    pub(super) fn host_header(&self, index: OriginIndex) -> &str {
        &self.0[usize::from(index)].host_header
    }

    /// A number of this origin whose connections are nobody else's.
    pub(super) fn take(&mut self, index: OriginIndex, client: &mut impl World) -> OriginId {
        let known = &mut self.0[usize::from(index)];
        known.free.pop().unwrap_or_else(|| client.own_origin(&known.origin))
    }

    /// Gives it back: its connections are closed.
    pub(super) fn give_back(&mut self, index: OriginIndex, id: OriginId, client: &mut impl World) {
        client.close_idle(id);
        self.0[usize::from(index)].free.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let mut origins = Origins::default();
        assert_eq!(origins.of("http://a:1/x?y#z"), Ok((0, "/x?y")));
        assert_eq!(origins.of("http://a:1?y"), Ok((0, "?y")));
        assert_eq!(origins.of("http://a:1"), Ok((0, "")));
        assert_eq!(origins.of("https://a:1/"), Ok((1, "/")));
        assert_eq!((origins.host_header(0), origins.origin(1).tls), ("a:1", true));
        assert_eq!(origins.index_of(Origin::parse("http://a:1").unwrap()), Ok(0));
        assert_eq!(origins.of(r"http://a:1\@b:2/x"), Ok((0, r"\@b:2/x")));
        assert!(origins.of("http:///x").is_err());
    }
}
