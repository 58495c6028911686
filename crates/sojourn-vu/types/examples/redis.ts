// Commands of Redis by `k6/x/redis`.
import { check } from 'k6';
import { Client } from 'k6/x/redis';

const client = new Client({ socket: { host: '127.0.0.1', readTimeout: 1 }, database: 1 });

export default async function (): Promise<void> {
  await client.set('orders', 0, 60);
  const count: number = await client.incrBy('orders', 2);
  const values: Array<string | null> = await client.mget('orders', 'none');
  const length = (await client.sendCommand('STRLEN', 'orders')) as number;
  check(values, { 'two orders': (it) => it[0] === String(count) && it[1] === null && length === 1 });
}
