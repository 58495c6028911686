// The module `k6/x/redis`: a client of Redis whose commands are promises.

/** What a command takes: a boolean is sent as 1 or 0. */
export type Value = string | number | boolean;

/** Certificates as PEM: texts, or buffers that hold them. */
export interface TLSOptions {
  /** Trusted in place of the system's. */
  ca?: Array<string | ArrayBuffer>;
  cert?: string | ArrayBuffer;
  key?: string | ArrayBuffer;
}

export interface SocketOptions {
  host: string;
  /** 6379 by default. */
  port?: number;
  tls?: TLSOptions;
  /** Seconds; 5 by default, -1 for ever. */
  dialTimeout?: number;
  /** How long a reply is waited for, seconds; 3 by default, -1 for ever. */
  readTimeout?: number;
  /** No effect. */
  writeTimeout?: number;
  /** Most connections of a client; 10 for each processor by default. */
  poolSize?: number;
  /** No effect. */
  minIdleConns?: number;
  /** No effect. */
  maxConnAge?: number;
  /** No effect. */
  poolTimeout?: number;
  /** No effect. */
  idleTimeout?: number;
  /** No effect. */
  idleCheckFrequency?: number;
}

export interface Options {
  socket?: SocketOptions;
  username?: string;
  password?: string;
  clientName?: string;
  database?: number;
}

/** Commands are rejected with an error at the script's top level, and where the server says one. */
export class Client {
  /** A URL is `redis[s]://[[user][:password]@]host[:port][/database]`. */
  constructor(options: string | Options);

  /** `expiration` is whole seconds; 0 for none. */
  set(key: string, value: Value, expiration?: number): Promise<'OK'>;
  /** Rejected where there is none, as are all that resolve with a string. */
  get(key: string): Promise<string>;
  getSet(key: string, value: Value): Promise<string>;
  del(...keys: string[]): Promise<number>;
  getDel(key: string): Promise<string>;
  exists(...keys: string[]): Promise<number>;
  incr(key: string): Promise<number>;
  incrBy(key: string, increment: number): Promise<number>;
  decr(key: string): Promise<number>;
  decrBy(key: string, decrement: number): Promise<number>;
  randomKey(): Promise<string>;
  mget(...keys: string[]): Promise<Array<string | null>>;
  expire(key: string, seconds: number): Promise<boolean>;
  /** Seconds; -1 without a time to live, -2 without the key. */
  ttl(key: string): Promise<number>;
  persist(key: string): Promise<boolean>;

  lpush(key: string, ...values: Value[]): Promise<number>;
  rpush(key: string, ...values: Value[]): Promise<number>;
  lpop(key: string): Promise<string>;
  rpop(key: string): Promise<string>;
  lrange(key: string, start: number, stop: number): Promise<string[]>;
  lindex(key: string, index: number): Promise<string>;
  lset(key: string, index: number, element: Value): Promise<'OK'>;
  lrem(key: string, count: number, value: Value): Promise<number>;
  llen(key: string): Promise<number>;

  hset(key: string, field: string, value: Value): Promise<number>;
  hsetnx(key: string, field: string, value: Value): Promise<boolean>;
  hget(key: string, field: string): Promise<string>;
  hdel(key: string, ...fields: string[]): Promise<number>;
  hgetall(key: string): Promise<Record<string, string>>;
  hkeys(key: string): Promise<string[]>;
  hvals(key: string): Promise<string[]>;
  hlen(key: string): Promise<number>;
  hincrby(key: string, field: string, increment: number): Promise<number>;

  sadd(key: string, ...members: Value[]): Promise<number>;
  srem(key: string, ...members: Value[]): Promise<number>;
  sismember(key: string, member: Value): Promise<boolean>;
  smembers(key: string): Promise<string[]>;
  srandmember(key: string): Promise<string>;
  spop(key: string): Promise<string>;

  /** Any other command; resolves with a string, a number or an array of these and null. */
  sendCommand(command: string, ...args: Value[]): Promise<unknown>;
  /** Whether a command has been sent. */
  isConnected(): boolean;
  /** Closes the connections that are not in use. */
  close(): void;
}

declare const redis: { Client: typeof Client };
export default redis;
