// The module `k6/experimental/redis`: the older name of k6/x/redis.

export * from '../x/redis';
export { default } from '../x/redis';
