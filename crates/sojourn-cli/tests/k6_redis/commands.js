// Every command of the documentation, each held against what it says of its result.
import { check } from 'k6';
import exec from 'k6/execution';
import redis from 'k6/x/redis';

const client = new redis.Client(__ENV.REDIS);

// At the top level no command can be sent.
let early = 'nothing';
client.get('key').catch((error) => { early = String(error); });

function is(name, found, expected) {
  const same = JSON.stringify(found) === JSON.stringify(expected);
  if (!same) {
    console.error(`${name}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }
  check(same, { [name]: (it) => it });
}

async function fails(name, promise, part) {
  try {
    is(name, { resolved: await promise }, 'an error');
  } catch (error) {
    is(name, `${error.message} / ${error}`.includes(part) ? part : String(error), part);
  }
}

async function keysAndValues(key) {
  is('set', await client.set(key, 'value', 0), 'OK');
  is('get', await client.get(key), 'value');
  is('getSet', await client.getSet(key, 7), 'value');
  is('incr', await client.incr(key), 8);
  is('incrBy', await client.incrBy(key, 10), 18);
  is('decr', await client.decr(key), 17);
  is('decrBy', await client.decrBy(key, 7), 10);
  is('get of a number', await client.get(key), '10');
  is('ttl without one', await client.ttl(key), -1);
  is('expire', await client.expire(key, 100), true);
  const ttl = await client.ttl(key);
  is('ttl', ttl > 90 && ttl <= 100, true);
  is('persist', await client.persist(key, 100), true);
  is('persist again', await client.persist(key), false);
  is('set with a time to live', await client.set(key, true, 50), 'OK');
  is('it has one', (await client.ttl(key)) > 40, true);
  is('a boolean', await client.get(key), '1');
  is('expire of nothing', await client.expire(`${key}-none`, 1), false);
  is('exists', await client.exists(key, `${key}-none`, key), 2);
  is('mget', await client.mget(key, `${key}-none`), ['1', null]);
  is('mget of an array', await client.mget([key, `${key}-none`]), ['1', null]);
  is('getDel', await client.getDel(key), '1');
  await fails('get of nothing', client.get(key), 'redis: nil');
  await fails('getDel of nothing', client.getDel(key), 'redis: nil');
  await fails('getSet of nothing', client.getSet(key, 'x'), 'redis: nil');
  is('randomKey', typeof (await client.randomKey()), 'string');
  is('del', await client.del(key, `${key}-none`), 1);
  is('a text of many bytes', await client.set(key, 'é\r\n"\u0000'.repeat(10000), 0), 'OK');
  is('comes back', (await client.get(key)).length, 50000);
  await client.del(key);
}

async function lists(key) {
  is('lpush', await client.lpush(key, 'b', 'a'), 2);
  is('rpush', await client.rpush(key, 'c', 4, true), 5);
  is('llen', await client.llen(key), 5);
  is('lrange', await client.lrange(key, 0, -1), ['a', 'b', 'c', '4', '1']);
  is('lindex', await client.lindex(key, -3), 'c');
  is('lset', await client.lset(key, 1, 'a'), 'OK');
  is('lrem', await client.lrem(key, 0, 'a'), 2);
  is('lpop', await client.lpop(key), 'c');
  is('rpop', await client.rpop(key), '1');
  await fails('lset out of bounds', client.lset(key, 9, 'x'), 'ERR index out of range');
  await fails('lindex out of bounds', client.lindex(key, 9), 'redis: nil');
  await client.del(key);
  await fails('lpop of nothing', client.lpop(key), 'redis: nil');
  is('lrange of nothing', await client.lrange(key, 0, -1), []);
}

async function hashes(key) {
  is('hset', await client.hset(key, 'one', 1), 1);
  is('hset again', await client.hset(key, 'one', 2), 0);
  is('hsetnx', await client.hsetnx(key, 'two', 'x'), true);
  is('hsetnx again', await client.hsetnx(key, 'two', 'y'), false);
  is('hget', await client.hget(key, 'one'), '2');
  is('hincrby', await client.hincrby(key, 'one', 40), 42);
  is('hlen', await client.hlen(key), 2);
  is('hkeys', (await client.hkeys(key)).sort(), ['one', 'two']);
  is('hvals', (await client.hvals(key)).sort(), ['42', 'x']);
  const all = await client.hgetall(key);
  is('hgetall', [all.one, all.two, Object.keys(all).length], ['42', 'x', 2]);
  await fails('hget of nothing', client.hget(key, 'none'), 'redis: nil');
  is('hdel', await client.hdel(key, 'one', 'none'), 1);
  await fails('a list of a hash', client.lpush(key, 'x'), 'WRONGTYPE');
  await client.del(key);
  is('hgetall of nothing', await client.hgetall(key), {});
}

async function sets(key) {
  is('sadd', await client.sadd(key, 'a', 'b', 'a', 3), 3);
  is('sismember', await client.sismember(key, 'b'), true);
  is('sismember of another', await client.sismember(key, 'c'), false);
  is('smembers', (await client.smembers(key)).sort(), ['3', 'a', 'b']);
  is('srem', await client.srem(key, 'a', 'none'), 1);
  is('srandmember', ['b', '3'].includes(await client.srandmember(key)), true);
  is('spop', ['b', '3'].includes(await client.spop(key)), true);
  is('one is left', (await client.smembers(key)).length, 1);
  await client.del(key);
  await fails('spop of nothing', client.spop(key), 'redis: nil');
  await fails('srandmember of nothing', client.srandmember(key), 'redis: nil');
}

async function others(key) {
  is('sendCommand', await client.sendCommand('ECHO', 'Hello world'), 'Hello world');
  is('a number', await client.sendCommand('STRLEN', key), 0);
  is('a list', await client.sendCommand('MGET', key), [null]);
  await fails('no such command', client.sendCommand('NONSENSE', 1), 'ERR unknown command');
  await fails('nothing', client.sendCommand('GET', key), 'redis: nil');
  const unsupported = 'unsupported type provided for argument at index';
  await fails('an object as a value', client.set(key, {}, 0), `${unsupported} 1,`);
  await fails('undefined as a value', client.lpush(key, undefined), `${unsupported} 1,`);
  await fails('an array as a value', client.rpush(key, 'a', ['b']), `${unsupported} 2,`);
  await fails('too few', client.hset(key, 'field'), `${unsupported} 2,`);
  is('no time at all', await client.set(key, 'x', 0.5), 'OK');
  is('has none', await client.ttl(key), -1);
  is('is connected', client.isConnected(), true);
  await client.del(key);
  // A command that waits does not hold up those behind it.
  const waiting = client.sendCommand('BLPOP', `${key}-queue`, 2);
  is('beside it', await client.rpush(`${key}-queue`, 'work'), 1);
  is('waited for', await waiting, [`${key}-queue`, 'work']);
  const all = [];
  for (let number = 0; number < 200; number += 1) {
    all.push(client.sendCommand('ECHO', `n${number}`));
  }
  is('many at once', (await Promise.all(all)).every((it, at) => it === `n${at}`), true);
}

export default async function () {
  const key = `key-${exec.vu.idInTest}-${exec.vu.iterationInScenario}`;
  is('in the init context', early.includes('init context'), true);
  await keysAndValues(key);
  await lists(key);
  await hashes(key);
  await sets(key);
  await others(key);
  client.close();
  is('after close', await client.exists(key), 0);
}
