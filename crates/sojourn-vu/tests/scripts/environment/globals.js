// Row: 8.1 globals: what is there
export default function () {
  const names = [
    'global',
    'globalThis',
    'console',
    'open',
    'require',
    'setTimeout',
    'crypto',
    'setInterval',
    'clearTimeout',
    'clearInterval',
    '__ENV',
    '__VU',
    '__ITER',
  ];
  console.log(names.map((name) => `${name}: ${typeof globalThis[name]}`).join(', '));
  console.log(typeof global, typeof exports, typeof module, typeof this);
}
