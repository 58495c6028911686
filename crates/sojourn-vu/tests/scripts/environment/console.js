// Row: 8.1 console: levels and how values look
class Point {
  constructor() {
    this.x = 1;
    this.inner = { deep: { deeper: [1, { a: null }] } };
  }
}

export default function () {
  console.log('text', 1, 2.5, true, null, undefined);
  console.info('info');
  console.debug('debug is not shown without -v');
  console.warn('warn');
  console.error('error');
  console.log({ a: 1, b: 'two', c: [1, 'x', { d: undefined }] });
  console.log(['a', 1, [2]]);
  console.log(new Point());
  console.log(() => 1);
  console.log(function named() {});
  console.log(class Named {});
  console.log(Symbol('s'));
  console.log(new Date(0));
  console.log(new Error('an error'));
  console.log(/re/g);
  console.log(10n);
  console.log(NaN, -0, Infinity, 1e21, 1e-7, 123456789012345680000);
  console.log(new Map([['k', 'v']]), new Set([1, 2]));
  console.log(new Uint8Array([1, 2, 3]));
  console.log(new ArrayBuffer(2));
  console.log('%s is %d', 'this', 5);
  console.log();
  console.log('');
  console.log('two\nlines');
  const round = { name: 'round' };
  round.self = round;
  console.log(round);
  console.log(JSON.stringify({ u: undefined, n: null }), [undefined, null]);
  console.log(new Boolean(true), new Number(4), new String('boxed'));
  console.log(Promise.resolve(1));
  console.log({ toJSON: () => 'own json' });
  console.log([1, , 3]);
  console.log({ f() {}, g: () => 1 });
  console.log({ s: 'a "q"\n', t: ['\\'], 'k"': 'é' }, ['"']);
  console.log({ symbol: Symbol('"'), error: new Error('an "error"') });
}
