// The module `k6/x/mqtt`: a client of MQTT 3.1.1, whose handlers are called from the event loop.

/** How often a message arrives. */
export enum QoS {
  AtMostOnce = 0,
  AtLeastOnce = 1,
  ExactlyOnce = 2,
}

/** A text, or bytes. */
export type Payload = string | ArrayBuffer | ArrayBufferView;

export interface HasTags {
  /** Tags of the metrics. */
  tags?: Record<string, string | number | boolean>;
}

/** What the broker publishes when the client goes without a word. */
export interface Will {
  topic: string;
  payload: Payload;
  /** 0 by default. */
  qos?: QoS;
  retain?: boolean;
}

export interface Credentials {
  username: string;
  password: string;
}

export interface ClientOptions extends HasTags {
  /** The broker gives one where there is none. */
  client_id?: string;
  username?: string;
  password?: string;
  /** Asked whenever the client connects. */
  credentials_provider?: () => Credentials;
  will?: Will;
}

export interface ConnectOptions extends HasTags {
  /** Seconds; 60 by default, 0 for ever. */
  keepalive?: number;
  /** For each server, milliseconds; 30000 by default. */
  connect_timeout?: number;
  /** Whether the broker forgets what it knows of this client; true by default. */
  clean_session?: boolean;
  /** URLs that are tried in turn. */
  servers?: string[];
}

export interface PublishOptions extends HasTags {
  /** 0 by default. */
  qos?: QoS;
  /** Whether the broker keeps it for later subscribers; false by default. */
  retain?: boolean;
}

export interface SubscribeOptions extends HasTags {
  /** 0 by default. */
  qos?: QoS;
}

export interface MQTTError {
  name: 'MQTTError';
  message: string;
  /** Of the client; `connection` where the connection was lost. */
  method: string;
}

/** Whatever waits suspends the user. Errors go to the handlers of `error`, and are thrown where there are none. */
export class Client {
  constructor(options?: ClientOptions);

  readonly connected: boolean;

  /** A URL is `[mqtt|mqtts|tcp|ssl|tls|ws|wss://][user[:password]@]host[:port][/path]`. Waits until the broker has taken the client. */
  connect(url: string, options?: ConnectOptions): void;
  connect(options: ConnectOptions): void;
  /** Connects once more, as `connect` did last. */
  reconnect(): void;

  /** Waits until the broker has it, of QoS 0 until it is on its way. */
  publish(topic: string, payload: Payload, options?: PublishOptions): void;
  publishAsync(topic: string, payload: Payload, options?: PublishOptions): Promise<void>;
  subscribe(topics: string | string[], options?: SubscribeOptions): void;
  subscribeAsync(topics: string | string[], options?: SubscribeOptions): Promise<void>;
  unsubscribe(topics: string | string[], options?: HasTags): void;
  unsubscribeAsync(topics: string | string[], options?: HasTags): Promise<void>;

  /** Waits until the connection is closed. */
  end(options?: HasTags): void;
  endAsync(options?: HasTags): Promise<void>;

  on(event: 'connect' | 'end' | 'reconnect', handler: () => void): void;
  on(event: 'message', handler: (topic: string, payload: ArrayBuffer) => void): void;
  on(event: 'error', handler: (error: MQTTError) => void): void;
}

declare const mqtt: { Client: typeof Client; QoS: typeof QoS };
export default mqtt;
