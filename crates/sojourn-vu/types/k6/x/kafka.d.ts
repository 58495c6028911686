// The module `k6/x/kafka`: producing and consuming, by the interfaces of its versions 1 and 2.

export type Headers = Record<string, string>;

export interface SaslConfig {
  username?: string;
  password?: string;
  algorithm?: string;
  awsProfileName?: string;
}

export interface TlsConfig {
  enableTls?: boolean;
  insecureSkipTlsVerify?: boolean;
  minVersion?: string;
  clientCertPem?: string;
  clientKeyPem?: string;
  serverCaPem?: string;
}

export interface Message {
  topic?: string;
  partition?: number;
  offset?: number;
  key?: Uint8Array | number[];
  value?: Uint8Array | number[] | null;
  headers?: Headers;
  time?: Date | string;
  highWaterMark?: number;
}

export interface WriterConfig {
  brokers: string[];
  topic?: string;
  autoCreateTopic?: boolean;
  balancer?: string | ((key: Uint8Array, partitionCount: number) => number);
  maxAttempts?: number;
  batchSize?: number;
  batchBytes?: number;
  batchTimeout?: number;
  readTimeout?: number;
  writeTimeout?: number;
  requiredAcks?: number;
  compression?: string;
  connectLogger?: boolean;
  sasl?: SaslConfig;
  tls?: TlsConfig;
}

/** Produces; version 1. */
export class Writer {
  constructor(config: WriterConfig);
  produce(config: { messages: Message[] }): void;
  close(): void;
}

export interface ReaderConfig {
  brokers: string[];
  topic?: string;
  partition?: number;
  groupId?: string;
  groupTopics?: string[];
  offset?: number;
  minBytes?: number;
  maxBytes?: number;
  maxWait?: number | string;
  startOffset?: number | string;
  isolationLevel?: string;
  groupBalancers?: string[];
  commitInterval?: number;
  sessionTimeout?: number;
  maxAttempts?: number;
  connectLogger?: boolean;
  sasl?: SaslConfig;
  tls?: TlsConfig;
  [option: string]: unknown;
}

/** Consumes; version 1. */
export class Reader {
  constructor(config: ReaderConfig);
  consume(config: { limit: number; nanoPrecision?: boolean; expectTimeout?: boolean }): Message[];
  close(): void;
}

export interface TopicConfig {
  topic: string;
  numPartitions?: number;
  replicationFactor?: number;
  replicaAssignments?: { partition: number; replicas: number[] }[];
  configEntries?: { configName: string; configValue: string }[];
}

/** Manages topics; version 1. */
export class Connection {
  constructor(config: { address: string; sasl?: SaslConfig; tls?: TlsConfig });
  createTopic(config: TopicConfig): void;
  deleteTopic(topic: string): void;
  listTopics(): string[];
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
  }): string;
  serialize(container: { data: unknown; schema?: Schema; schemaType: string }): Uint8Array;
  deserialize(container: { data: Uint8Array | number[]; schema?: Schema; schemaType: string }): any;
}

/** Produces; version 2. */
export class Producer {
  constructor(config: { brokers: string[]; topic?: string; [option: string]: unknown });
  produce(config: { messages: Message[] }): void;
  flush(timeoutMs?: number): number;
  stats(): Record<string, number>;
  close(): void;
}

/** Consumes; version 2. */
export class Consumer {
  constructor(config: {
    brokers: string[];
    topic?: string;
    groupId?: string;
    [option: string]: unknown;
  });
  consume(config: {
    maxMessages?: number;
    limit?: number;
    timeout?: number | string;
    expectTimeout?: boolean;
  }): Message[];
  seek(config: { topic?: string; partition: number; offset: number }): void;
  position(config?: { topic?: string; partition?: number }): number;
  commitOffsets(offsets?: { topic: string; partition: number; offset: number }[]): void;
  stats(): Record<string, number>;
  close(): void;
}

/** Manages topics; version 2. */
export class AdminClient {
  constructor(config: { brokers: string[]; [option: string]: unknown });
  createTopic(config: TopicConfig): void;
  deleteTopic(topic: string): void;
  listTopics(): string[];
  getMetadata(topic?: string): any;
  close(): void;
}

export function LoadJKS(config: {
  path: string;
  password: string;
  clientCertAlias?: string;
  clientKeyAlias?: string;
  clientKeyPassword?: string;
  serverCaAlias?: string;
}): { clientCertsPem: string[]; clientKeyPem: string; serverCaPem: string };

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
export const SASL_NONE: string;
export const SASL_PLAIN: string;
export const SASL_SCRAM_SHA256: string;
export const SASL_SCRAM_SHA512: string;
export const SASL_SSL: string;
export const SASL_AWS_IAM: string;
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
export const SECOND: number;
export const MINUTE: number;
export const HOUR: number;
export const KEY: string;
export const VALUE: string;

declare const kafka: typeof import('./kafka');
export default kafka;
