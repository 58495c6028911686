// The module `sojourn`: journeys in scripts. A request's events are followed by the ledger, beside
// the script. And consumers, for scripts that play a part of the system.

/** A text such as `500ms`, `30s`, `1m30s`; or milliseconds. */
export type Duration = string | number;

export interface Tls {
  ca?: string;
  cert?: string;
  key?: string;
  name?: string;
  insecure?: boolean;
}

/** One connector, and how its messages are read: the fields of a channel in a journey file. */
export type Channel = Connector & {
  /**
   * `auto` (whatever is recognised), `json`, `cloudevents`, `masstransit`, `nservicebus`,
   * `debezium`, `messagepack`…
   */
  decoder?: string | { regex: string } | { avro: object } | { protobuf: object };
  /** Where a message declares its id, which tells a redelivery from a second publication. */
  message_id?: string;
  /** Where it carries the run's id. */
  marker?: string;
  /** Consumers of the system whose backlog is read once a second. */
  backlog?: string | string[];
};

export type Connector =
  | {
      amqp: {
        url: string;
        exchange: string;
        routing?: string[];
        management?: string;
        mandatory?: boolean;
        tls?: Tls;
      };
    }
  | { kafka: { brokers: string; topics: string[]; properties?: Record<string, string> } }
  | {
      mqtt: {
        url: string;
        topics: string[];
        qos?: 0 | 1 | 2;
        version?: 3 | 5 | string;
        client_id?: string;
        tls?: Tls;
      };
    }
  | {
      nats: {
        url: string;
        subjects: string[];
        stream?: string;
        credentials?: string;
        domain?: string;
        inbox?: string;
        tls?: Tls;
        tls_first?: boolean;
      };
    }
  | {
      postgres: {
        url: string;
        notify?: string | string[];
        table?: object;
        publication?: string;
        outbox?: object;
        tls?: Tls;
      };
    }
  | {
      redis: {
        url: string;
        streams?: string[];
        channels?: string[];
        keyspace?: string | string[];
        field?: string;
        tls?: Tls;
      };
    }
  | {
      sqs: {
        queue?: string;
        topic?: string;
        endpoint?: string;
        region?: string;
        credentials?: object;
        discard?: boolean;
        publish?: string[];
      };
    }
  | {
      sse: {
        url: string;
        headers?: Record<string, string>;
        events?: string[];
        silence?: Duration;
        tls?: Tls;
      };
    }
  | { webhook: { listen?: string; path?: string; respond?: number | object; signature?: object } }
  | {
      websocket: {
        url: string;
        headers?: Record<string, string>;
        send?: unknown;
        protocols?: string[];
        tls?: Tls;
      };
    };

type Plain = string | number | boolean | null;

/** A condition: a value that must be equal, a list of which one must be, or an operator. */
export type Condition =
  | Plain
  | Plain[]
  | {
      absent?: true;
      contains?: string;
      equals?: Plain;
      greater?: number;
      greater_or_equal?: number;
      less?: number;
      less_or_equal?: number;
      matches?: string;
      not?: Plain;
      one_of?: Plain[];
      present?: boolean;
    };

/** Conditions by selector: `{ type: 'OrderShipped', '$.amount': { greater: 10 } }`. */
export type Where = Record<string, Condition>;

/** A channel that is listened to, or published to: one for all users. */
export interface Tap {
  readonly name: string;
  /**
   * Declares which of its messages are meant by a stage. At init only, like the tap itself. All
   * taps together have at most 32 stages, those of the taps' own names included.
   */
  stage(
    name: string,
    which?: {
      /** Which messages; all of the tap's by default. */
      where?: Where;
      /** Where they have the key, if not where the tap says. */
      key?: string;
    },
  ): Stage;
}

/** A point that a journey may have to reach: messages of a tap, told apart by `where`. */
export interface Stage {
  readonly name: string;
  /** The tap's name. */
  readonly tap: string;
}

/** A stage, a tap that has a key (all of its messages are meant), or the name of one. */
export type StageLike = Stage | Tap | string;

/**
 * Declares a tap. At init only; all users declare the same one, which is opened once, before
 * `setup`. `key` says where a message has the key of its journey: `$.orderId`, `header.order-id`,
 * or `key` for the message's own. A tap without a key and without stages is only published to.
 */
export function tap(name: string, channel: Channel & { key?: string }): Tap;

export interface Journey {
  readonly key: string;
  /**
   * What must come of the iteration. Returns at once: the ledger follows the journey and counts it
   * as completed, late or lost. Its time begins with the iteration, at its scheduled start where it
   * has one, and ends with the last of the stages. Events that came before the call count too, for
   * a minute. Hops are counted in the order given; stages may be reached in any.
   *
   * In iterations only, once for each key.
   */
  expect(
    stages: StageLike[],
    options: {
      /** The deadline, from the journey's start. */
      within: Duration;
      /** The kind of journey, for reports and tags: not which one. The stages' names by default. */
      name?: string;
      /** Whose it is, such as a tenant; told apart in reports. */
      label?: string | number;
    },
  ): void;
}

/** A journey by its key, which its events carry too. */
export function journey(key: string | number): Journey;

/** A message that came by. */
export interface Event {
  readonly key: string;
  /** When it was received, in milliseconds since 1970, with a fraction. */
  readonly at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  json<T = any>(): T;
}

/** A message that was taken. */
export interface TakenMessage {
  /** The broker's own key; null where it has none. */
  readonly key: string | null;
  /** Topic, subject, routing key, stream or queue that it came by. */
  readonly topic: string;
  /** When it was received, in milliseconds since 1970, with a fraction. */
  readonly at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  json<T = any>(): T;
}

/**
 * A consumer group. Every user that takes is a member of its own: what it takes, no other member of
 * the group gets, and what it does not commit comes again. All of it in iterations, `setup` and
 * `teardown`.
 */
export interface Consumer {
  readonly name: string;
  /**
   * Takes up to `max` messages (1 by default, 10000 at most), and waits for the first up to
   * `timeout` (1 s by default); empty where none came. Joins the group by the first call, and takes
   * nothing before the broker has given this member its share.
   */
  take(max?: number, timeout?: Duration): TakenMessage[];
  /** Everything that this user has taken is done. Throws where the broker does not take it. */
  commit(): void;
  /** How many partitions, streams or queues this user takes from; 0 before it has joined. */
  assigned(): number;
  /** Leaves the group; the next `take()` joins it again. At the user's end it happens by itself. */
  leave(): void;
}

/**
 * Declares a consumer. At init only; all users declare the same one. `group` in the broker's words:
 * Kafka's consumer group, JetStream's durable consumer, the group of a Redis stream or of an MQTT 5
 * shared subscription; for AMQP and SQS the queue. `start` says where a group begins that is not
 * there yet: `latest`, the default, or `earliest`; queues always begin at the oldest message.
 */
export function consumer(
  name: string,
  where: Connector & { group: string; start?: 'earliest' | 'latest' },
): Consumer;

export interface Events {
  /**
   * Waits for the first message with this key that came since the iteration (or `setup`) began,
   * seen already or not. Throws when there is none within `timeout` (30 s by default). The latest
   * 64 MiB of messages are held; the error says when older ones had to go.
   */
  wait(stage: StageLike, which: { key: string | number; timeout?: Duration }): Event;
}

export const events: Events;

export interface Message {
  key?: string | number;
  /** A text, bytes, or anything else, which is sent as JSON. */
  body?: string | ArrayBuffer | ArrayBufferView | object;
  /** `sojourn-run`, the run's id, is added unless it is there. */
  headers?: Record<string, string | number>;
  /** Topic, subject, routing key, stream or queue; the first that the channel names by default. */
  topic?: string;
  /** How long the acknowledgement is waited for; 10 s by default. */
  timeout?: Duration;
}

/**
 * Publishes a message and waits for the broker's acknowledgement; throws where there is none.
 * In iterations, `setup` and `teardown`.
 */
export function publish(tap: Tap | string, message: Message): void;
