//! A scrape endpoint: the latest figures for whoever asks.

use std::{thread, time::Duration};

use sojourn_clock::now_ns;
use sojourn_live::MetricsServer;

use super::page::page;
use crate::{
    failure::{Failure, Took},
    frame::Frame,
    outlet::Output,
    target::Run,
};

const PAUSE: Duration = Duration::from_millis(20);

/// The endpoint. A frame is sent when its page is there to be read; it can lack readers, not room.
pub(crate) struct Scrape {
    server: MetricsServer,
    run: Run,
    linger_ns: u64,
}

impl Scrape {
    pub(crate) fn start(address: &str, linger_ns: u64, run: &Run) -> Result<Self, String> {
        let server = MetricsServer::start(address)
            .map_err(|error| format!("cannot listen at {address}: {error}"))?;
        Ok(Self { server, run: run.clone(), linger_ns })
    }
}

/// So that another run of this process may listen there.
impl Drop for Scrape {
    fn drop(&mut self) {
        self.server.stop();
    }
}

impl Output for Scrape {
    fn send(&mut self, frame: &Frame, _: Duration) -> Result<Took, Failure> {
        self.server.show(page(frame, &self.run));
        Ok(Took::All)
    }

    /// With a time to linger: until the last page has been read once.
    fn finish(&mut self, _: Duration) -> Result<(), Failure> {
        if self.linger_ns == 0 {
            return Ok(());
        }
        let until_ns = now_ns() + self.linger_ns;
        while !self.server.is_read() {
            if now_ns() >= until_ns {
                return Err(Failure::Never("nobody read the last page".to_owned()));
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn linger_ns(&self) -> u64 {
        self.linger_ns
    }
}
