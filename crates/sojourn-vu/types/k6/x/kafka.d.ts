// The module `k6/x/kafka`: producing and consuming, by the interfaces of its versions 1 and 2.

/** What a header is given as. */
export type Headers = Record<string, string | number | Uint8Array | number[]>;

/** Bytes, however a script has them; a string is sent as UTF-8. */
export type Bytes = string | Uint8Array | ArrayBuffer | number[];

/** A number of nanoseconds, or a text such as `500ms`. */
export type Duration = number | string;

export interface SaslConfig {
  username?: string;
  password?: string;
  algorithm?: string;
  /** Of `SASL_AWS_IAM`: whose keys are taken, whatever the environment has. */
  awsProfile?: string;
  /** Of `SASL_AZURE_ENTRA`: what the token is for, `https://HOST/.default` of the broker by default. */
  scope?: string;
}

/** Certificates and keys are PEM: the text itself, or the file that has it. */
export interface TlsConfig {
  enableTls?: boolean;
  insecureSkipTlsVerify?: boolean;
  minVersion?: string;
  clientCertPem?: string;
  clientKeyPem?: string;
  serverCaPem?: string;
}

/** A message to be sent. */
export interface Message {
  topic?: string;
  /** Where it goes; by the balancer otherwise. */
  partition?: number;
  offset?: number;
  key?: Bytes | null;
  value?: Bytes | null;
  headers?: Headers;
  time?: Date | string | number;
}

/** A message that was read. */
export interface ConsumedMessage {
  topic: string;
  partition: number;
  offset: number;
  key: Uint8Array | null;
  value: Uint8Array | null;
  /** Bytes, which as a text are what they say. */
  headers: Record<string, Uint8Array>;
  /** RFC 3339. */
  time: string;
  highWaterMark: number;
  highwaterMark: number;
}

export interface WriterConfig {
  brokers: string[];
  topic?: string;
  autoCreateTopic?: boolean;
  balancer?: string | ((key: Uint8Array | null, partitionCount: number) => number);
  maxAttempts?: number;
  batchSize?: number;
  batchBytes?: number;
  batchTimeout?: Duration;
  readTimeout?: Duration;
  writeTimeout?: Duration;
  requiredAcks?: number;
  compression?: string;
  connectLogger?: boolean;
  sasl?: SaslConfig;
  tls?: TlsConfig;
}

/** Produces. */
export class Producer {
  constructor(config: WriterConfig);
  /** Waits for the acknowledgements; throws where a message has none. */
  produce(config: { messages: Message[] }): void;
  /** Waits for those of all users with the same settings. */
  flush(): void;
  stats(): { pending: number };
  close(): void;
}

/** The name that `Producer` has in version 1. */
export class Writer extends Producer {}

export interface ReaderConfig {
  brokers: string[];
  topic?: string;
  partition?: number;
  groupId?: string;
  groupID?: string;
  groupTopics?: string[];
  offset?: number;
  minBytes?: number;
  maxBytes?: number;
  /** How long is waited for messages; 200 ms by default. */
  maxWait?: Duration;
  startOffset?: number | string;
  isolationLevel?: string;
  groupBalancers?: string[];
  heartbeatInterval?: Duration;
  sessionTimeout?: Duration;
  connectLogger?: boolean;
  sasl?: SaslConfig;
  tls?: TlsConfig;
  [option: string]: unknown;
}

export interface ConsumeConfig {
  limit?: number;
  /** The same as `limit`. */
  maxMessages?: number;
  nanoPrecision?: boolean;
  /** What has come within `maxWait` is enough. */
  expectTimeout?: boolean;
}

/** Consumes. */
export class Consumer {
  constructor(config: ReaderConfig);
  consume(config?: ConsumeConfig): ConsumedMessage[];
  seek(partition: number, offset: number): void;
  position(partition?: number): number;
  commitOffsets(): void;
  stats(): { assignments: number };
  close(): void;
}

/** The name that `Consumer` has in version 1. */
export class Reader extends Consumer {}

export interface TopicConfig {
  topic: string;
  numPartitions?: number;
  replicationFactor?: number;
  replicaAssignments?: { partition: number; replicas: number[] }[];
  configEntries?: { configName: string; configValue: string }[];
}

/** Manages topics; version 1. */
export class Connection {
  constructor(config: {
    address?: string;
    brokers?: string[];
    sasl?: SaslConfig;
    tls?: TlsConfig;
  });
  createTopic(config: TopicConfig): void;
  deleteTopic(topic: string): void;
  listTopics(): string[];
  getMetadata(topic: string): TopicMetadata;
  close(): void;
}

export interface TopicInfo {
  topic: string;
  partitions: number;
  error: string | null;
}

export interface PartitionInfo {
  id: number;
  leader: number;
  replicas: number[];
  isrs: number[];
  error: string | null;
}

export interface TopicMetadata {
  topic: string;
  partitions: PartitionInfo[];
  error: string | null;
}

/** Manages topics; version 2. */
export class AdminClient {
  constructor(config: {
    brokers?: string[];
    address?: string;
    sasl?: SaslConfig;
    tls?: TlsConfig;
  });
  createTopic(config: TopicConfig): void;
  deleteTopic(topic: string): void;
  listTopics(): TopicInfo[];
  getMetadata(topic: string): TopicMetadata;
  /** Sets a group without members to the end of every partition of these topics. */
  initializeConsumerGroupOffsets(config: { groupId: string; topics: string[] }): {
    topic: string;
    partition: number;
    offset: number;
  }[];
  close(): void;
}

export interface Schema {
  id?: number;
  schema?: string;
  schemaType?: string;
  version?: number;
  subject?: string;
  references?: { name: string; subject: string; version: number }[];
  enableCaching?: boolean;
  /** Of Protobuf: the full name of the message, the file's first by default. */
  messageName?: string;
  /** Of Protobuf: the texts of what is imported, by the names of the imports. */
  dependencies?: Record<string, string>;
}

export interface Container<Data> {
  data: Data;
  schema?: Schema;
  schemaType: string;
  /** Of Protobuf: whether objects go in and come out, or messages that are encoded. `object` by default. */
  protobufFormat?: 'object' | 'bytes';
}

export class SchemaRegistry {
  constructor(config?: {
    url?: string;
    basicAuth?: { username: string; password: string };
    tls?: TlsConfig;
    enableCaching?: boolean;
  });
  getSchema(schema: Schema): Schema;
  createSchema(schema: Schema): Schema;
  getSubjectName(config: {
    element: string;
    topic: string;
    subjectNameStrategy: string;
    schema: string;
    /** Of a schema that is no JSON: the full name of its message. */
    messageName?: string;
  }): string;
  serialize(container: Container<unknown>): Uint8Array;
  /** Of Protobuf an object has what JSON has: 64-bit numbers and bytes (Base64) are texts. */
  deserialize(container: Container<Bytes>): any;
}

/** A key store of Java's, of the type JKS, and what is wanted of it. */
export interface JksConfig {
  path: string;
  password: string;
  /** No effect: the certificates are those that the store has with the key. */
  clientCertAlias?: string;
  clientKeyAlias?: string;
  /** That of the store by default. */
  clientKeyPassword?: string;
  serverCaAlias?: string;
}

/** Names of files, in PEM; only those that an alias asks for. */
export interface Jks {
  clientCertsPem: string[];
  clientKeyPem: string;
  serverCaPem: string;
}

/** Writes what a key store has into files in the folder that the test runs in. */
export function LoadJKS(config: JksConfig): Jks;

export const SCHEMA_TYPE_STRING: string;
export const SCHEMA_TYPE_BYTES: string;
export const SCHEMA_TYPE_AVRO: string;
export const SCHEMA_TYPE_JSON: string;
export const SCHEMA_TYPE_PROTOBUF: string;
export const TOPIC_NAME_STRATEGY: string;
export const RECORD_NAME_STRATEGY: string;
export const TOPIC_RECORD_NAME_STRATEGY: string;
export const CODEC_GZIP: string;
export const CODEC_SNAPPY: string;
export const CODEC_LZ4: string;
export const CODEC_ZSTD: string;
export const NONE: string;
export const SASL_NONE: string;
export const SASL_PLAIN: string;
export const SASL_SCRAM_SHA256: string;
export const SASL_SCRAM_SHA512: string;
export const SASL_SSL: string;
export const SASL_AWS_IAM: string;
export const SASL_AZURE_ENTRA: string;
export const SASL_GCP_OAUTH: string;
export const SASL_GSSAPI: string;
export const TLS_1_0: string;
export const TLS_1_1: string;
export const TLS_1_2: string;
export const TLS_1_3: string;
export const BALANCER_ROUND_ROBIN: string;
export const BALANCER_LEAST_BYTES: string;
export const BALANCER_HASH: string;
export const BALANCER_CRC32: string;
export const BALANCER_MURMUR2: string;
export const GROUP_BALANCER_RANGE: string;
export const GROUP_BALANCER_ROUND_ROBIN: string;
export const GROUP_BALANCER_RACK_AFFINITY: string;
export const ISOLATION_LEVEL_READ_UNCOMMITTED: string;
export const ISOLATION_LEVEL_READ_COMMITTED: string;
export const FIRST_OFFSET: string;
export const LAST_OFFSET: string;
export const START_OFFSETS_FIRST_OFFSET: string;
export const START_OFFSETS_LAST_OFFSET: string;
export const NANOSECOND: number;
export const MICROSECOND: number;
export const MILLISECOND: number;
export const SECOND: number;
export const MINUTE: number;
export const HOUR: number;
export const KEY: string;
export const VALUE: string;
export const ELEMENT_TYPE_KEY: string;
export const ELEMENT_TYPE_VALUE: string;

declare const kafka: typeof import('./kafka');
export default kafka;
