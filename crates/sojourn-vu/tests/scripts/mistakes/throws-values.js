// Row: mistakes: what else can be thrown
class Own extends Error {
  constructor(text) {
    super(text);
    this.name = 'Own';
  }
}

const values = ['a text', 5, null, undefined, { an: 'object' }, new TypeError('of a type'), new Own('own'),
  [1, 2], new Error('with a cause', { cause: new Error('the cause') })];

export const options = { iterations: values.length };

export default function () {
  throw values[__ITER];
}
