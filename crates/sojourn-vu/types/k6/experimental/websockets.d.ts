// The module `k6/experimental/websockets`: the same as `k6/websockets`.
export * from '../websockets';
export { default } from '../websockets';
