//! Puts the demo together, and takes it apart again.
//!
//! Threads: `demo-api` (HTTP), `demo-work` (workers and mocks), `demo-store`, `demo-relay`,
//! `demo-consumer`, `demo-kafka` (owns the embedded broker) and `demo-truth`, beside librdkafka's.

use crate::api::Api;
use crate::carrier::{Carrier, Queue};
use crate::common::Common;
use crate::config::{DemoConfig, KafkaChoice};
use crate::consumer::{self, Intake, Outtake};
use crate::counters::DemoCounts;
use crate::error::DemoError;
use crate::http_client::HttpClient;
use crate::kafka::Kafka;
use crate::mocks::Mocks;
use crate::publisher::{KafkaPublisher, Publisher};
use crate::random::PaymentIds;
use crate::relay::Relay;
use crate::retention::Retention;
use crate::stage::Stage;
use crate::stop::StopSignal;
use crate::store::{self, Durability, Outbox, StoreHandle};
use crate::third_party::ThirdParties;
use crate::threads::{Thread, join_all, listen, serve};
use crate::truth::{TruthSink, TruthWriter};
use crate::worker::Workers;
use rdkafka::consumer::BaseConsumer;
use sojourn_broker::Consumer;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How long the broker may take to acknowledge what is on its way at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// A running payments system. Dropped, it stops as by [`Demo::stop`], errors unheard.
pub struct Demo {
    api_url: String,
    servers: String,
    common: Common,
    publisher: Option<Arc<Publisher>>,
    // What must be ended, in the order of its ending.
    stop_api: Arc<StopSignal>,
    api: Vec<Thread>,
    work: Vec<Thread>,
    store: Vec<Thread>,
    stop_kafka: Arc<StopSignal>,
    kafka: Vec<Thread>,
    folder: Option<PathBuf>,
    truth: Option<TruthWriter>,
}

impl Demo {
    /// Starts everything; when it returns, the API takes payments.
    pub fn start(config: DemoConfig) -> Result<Self, DemoError> {
        Self::start_on(config, None)
    }

    /// The same with another broker than Kafka to carry the messages, where one is given.
    pub fn start_on(config: DemoConfig, carrier: Option<Carrier>) -> Result<Self, DemoError> {
        config.validate()?;
        // First, because it is what most often fails.
        let (listener, address) = listen(config.api_listen)?;
        let (writer, truth) = match &config.truth_path {
            Some(path) => {
                let (writer, truth) = TruthWriter::open(path, config.seed)?;
                (Some(writer), truth)
            }
            None => (None, TruthSink::none()),
        };
        let embedded = carrier.is_none() && config.kafka == KafkaChoice::Embedded;
        let retention = embedded.then(|| {
            let duplicated = config.faults.redeliver_percent + config.faults.republish_percent;
            Retention::new(config.partitions, duplicated)
        });
        // From here on a failure drops the demo, which ends what was begun.
        let mut demo = Self {
            api_url: format!("http://{address}"),
            servers: String::new(),
            common: Common::new(truth, retention),
            publisher: None,
            stop_api: Arc::new(StopSignal::new()),
            api: Vec::new(),
            work: Vec::new(),
            store: Vec::new(),
            stop_kafka: Arc::new(StopSignal::new()),
            kafka: Vec::new(),
            folder: None,
            truth: writer,
        };
        demo.begin(&config, carrier, listener)?;
        Ok(demo)
    }

    /// The API's base address, `http://HOST:PORT`.
    pub fn api_url(&self) -> &str {
        &self.api_url
    }

    /// Kafka's bootstrap servers, or the other broker in words.
    pub fn brokers(&self) -> &str {
        &self.servers
    }

    /// What was done so far.
    pub fn counts(&self) -> DemoCounts {
        DemoCounts {
            truth_waits: self.common.truth.waited(),
            problems: self.common.problems.texts(),
            ..self.common.counters.counts()
        }
    }

    /// Stops taking payments, abandons work in progress, publishes what is held back, joins every
    /// thread and completes the ground-truth log. Takes some seconds at most.
    pub fn stop(mut self) -> Result<DemoCounts, DemoError> {
        let ended = self.end();
        ended.map(|()| self.counts())
    }

    fn begin(
        &mut self,
        config: &DemoConfig,
        carrier: Option<Carrier>,
        listener: TcpListener,
    ) -> Result<(), DemoError> {
        let repeatable = self.common.retention.is_some() && config.store_path.is_none();
        let (publisher, source) = self.broker(config, carrier)?;
        let path = self.store_path(config)?;
        let durability = match config.store_path {
            Some(_) => Durability::Machine,
            None => Durability::Process,
        };
        let (store, thread) = store::start(&path, durability, self.common.clone())?;
        self.store.push(thread);
        let publisher = Arc::new(publisher);
        self.publisher = Some(Arc::clone(&publisher));

        let (intake, outtake) = Intake::new(self.common.clone());
        let relay = Relay::new(
            config,
            Outbox::open(&path, durability)?,
            Arc::clone(&publisher),
            intake.clone(),
            self.common.clone(),
        );
        self.start_work(config, store.clone(), publisher, outtake)?;
        self.start_consumer(source, intake)?;
        self.work.push(Thread::spawn("demo-relay", move || relay.run())?);
        self.start_api(config.seed, repeatable, store, listener)
    }

    /// What publishes and what is consumed from: Kafka's clients, or the given broker's.
    fn broker(
        &mut self,
        config: &DemoConfig,
        carrier: Option<Carrier>,
    ) -> Result<(Publisher, Source), DemoError> {
        if let Some(Carrier { name, events, dead_letters, consumer }) = carrier {
            self.servers = name;
            let (queue, thread) = Queue::start(events, dead_letters, self.common.clone())?;
            self.kafka.push(thread);
            return Ok((Publisher::Carried(queue), Source::Carried(consumer)));
        }
        let (kafka, broker) = Kafka::start(config, &self.stop_kafka)?;
        self.kafka.extend(broker);
        self.servers.clone_from(&kafka.servers);
        let publisher = KafkaPublisher::new(&kafka, config, self.common.clone())?;
        Ok((Publisher::Kafka(publisher), Source::Kafka(kafka.consumer(config)?)))
    }

    /// The configured file, or one in a folder that goes with the demo.
    fn store_path(&mut self, config: &DemoConfig) -> Result<PathBuf, DemoError> {
        if let Some(path) = &config.store_path {
            return Ok(path.clone());
        }
        let folder = std::env::temp_dir().join(format!("sojourn-demo-{}", Uuid::new_v4()));
        std::fs::create_dir(&folder)
            .map_err(|source| DemoError::File { path: folder.clone(), source })?;
        let path = folder.join("events.db");
        self.folder = Some(folder);
        Ok(path)
    }

    fn start_work(
        &mut self,
        config: &DemoConfig,
        store: StoreHandle,
        publisher: Arc<Publisher>,
        outtake: Outtake,
    ) -> Result<(), DemoError> {
        let (listener, mocks_address) = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let mocks = Mocks::new(config, Arc::clone(&self.common.counters)).router();
        let workers = Arc::new(Workers::new(
            config,
            store,
            ThirdParties::new(HttpClient::new(mocks_address)),
            publisher,
            self.common.clone(),
        ));
        let stages = [Stage::Created, Stage::Settled, Stage::Completed];
        let consumers: Vec<_> = stages
            .into_iter()
            .zip(outtake)
            .filter_map(|(stage, queue)| Some((stage, config.consumer_of(stage)?, queue)))
            .collect();
        let common = self.common.clone();
        let thread = Thread::spawn_async("demo-work", async move {
            for (stage, consumer, queue) in consumers {
                tokio::spawn(Arc::clone(&workers).run_stage(stage, consumer, queue));
            }
            tokio::select! {
                served = serve(listener, mocks, Arc::clone(&common.stop)) => {
                    if let Err(error) = served {
                        common.problems.report(format!("third parties: {error}"));
                    }
                }
                // Work in progress is abandoned, and with it the third parties' answers.
                () = common.stop.raised() => {}
            }
        })?;
        self.work.push(thread);
        Ok(())
    }

    fn start_consumer(&mut self, mut source: Source, intake: Intake) -> Result<(), DemoError> {
        let common = self.common.clone();
        if let Source::Carried(carried) = &mut source {
            consumer::join(carried.as_mut(), &intake, &common)?;
        }
        let thread = Thread::spawn("demo-consumer", move || match source {
            Source::Kafka(client) => consumer::run(&client, &intake, &common),
            Source::Carried(carried) => consumer::run_carried(carried, &intake, &common),
        })?;
        self.work.push(thread);
        Ok(())
    }

    fn start_api(
        &mut self,
        seed: u64,
        repeatable: bool,
        store: StoreHandle,
        listener: TcpListener,
    ) -> Result<(), DemoError> {
        // A broker or a store that outlives the demo may know the seeded ids already.
        let ids = if repeatable { PaymentIds::seeded(seed) } else { PaymentIds::Random };
        let router = Api::new(ids, store, self.common.clone()).router();
        let stop = Arc::clone(&self.stop_api);
        let problems = Arc::clone(&self.common.problems);
        let thread = Thread::spawn_async("demo-api", async move {
            if let Err(error) = serve(listener, router, stop).await {
                problems.report(format!("API: {error}"));
            }
        })?;
        self.api.push(thread);
        Ok(())
    }

    /// Ends everything that was begun; a second call finds nothing left. The first error counts,
    /// and keeps nothing from being ended.
    fn end(&mut self) -> Result<(), DemoError> {
        self.stop_api.raise();
        let api = join_all(&mut self.api);
        self.common.stop.raise();
        let work = join_all(&mut self.work);
        let published = match self.publisher.take() {
            Some(publisher) => publisher.flush(FLUSH_TIMEOUT),
            None => Ok(()),
        };
        // Its last handles went with the API's and the workers' threads.
        let store = join_all(&mut self.store);
        self.stop_kafka.raise();
        let kafka = join_all(&mut self.kafka);
        let folder = match self.folder.take() {
            Some(path) => {
                std::fs::remove_dir_all(&path).map_err(|source| DemoError::File { path, source })
            }
            None => Ok(()),
        };
        let truth = match self.truth.take() {
            Some(writer) => writer.close(),
            None => Ok(()),
        };
        api.and(work).and(published).and(store).and(kafka).and(folder).and(truth)
    }
}

/// What events are consumed from.
enum Source {
    Kafka(BaseConsumer),
    Carried(Box<dyn Consumer>),
}

impl Drop for Demo {
    fn drop(&mut self) {
        // Nobody is left to hear an error; `stop` tells it.
        drop(self.end());
    }
}
