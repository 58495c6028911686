import papaparse, { parse, unparse } from '../papaparse.js';
import { done, options, same, throws } from './compare.js';

export { options };

/** RFC 4180, section 2, rule by rule. */
const rfc4180 = [
  ['1', 'aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n', [['aaa', 'bbb', 'ccc'], ['zzz', 'yyy', 'xxx'], ['']]],
  [
    '2',
    'aaa,bbb,ccc\r\nzzz,yyy,xxx',
    [
      ['aaa', 'bbb', 'ccc'],
      ['zzz', 'yyy', 'xxx'],
    ],
  ],
  ['4', 'a, b ,c', [['a', ' b ', 'c']]],
  [
    '5',
    '"aaa","bbb","ccc"\r\nzzz,yyy,xxx',
    [
      ['aaa', 'bbb', 'ccc'],
      ['zzz', 'yyy', 'xxx'],
    ],
  ],
  [
    '6',
    '"aaa","b\r\nbb","ccc"\r\nzzz,yyy,xxx',
    [
      ['aaa', 'b\r\nbb', 'ccc'],
      ['zzz', 'yyy', 'xxx'],
    ],
  ],
  ['7', '"aaa","b""bb","ccc"', [['aaa', 'b"bb', 'ccc']]],
];

const rows = [
  [
    'an empty field at the end',
    'a,b,\nc,d,',
    {},
    [
      ['a', 'b', ''],
      ['c', 'd', ''],
    ],
  ],
  [
    'empty fields',
    ',,\n,,',
    { delimiter: ',' },
    [
      ['', '', ''],
      ['', '', ''],
    ],
  ],
  ['an empty line', 'a,b\n\nc,d', {}, [['a', 'b'], [''], ['c', 'd']]],
  [
    'empty lines skipped',
    'a,b\n\n\nc,d\n',
    { skipEmptyLines: true },
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'blank lines too',
    'a,b\n , \nc,d',
    { skipEmptyLines: 'greedy' },
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'comments',
    '#no\na,b\n#no\nc,d',
    { comments: '#' },
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['comments by true', '#no\na,b', { comments: true }, [['a', 'b']]],
  ['a comment at the end', 'a,b\n#no', { comments: '#' }, [['a', 'b']]],
  [
    'preview',
    'a,b\nc,d\ne,f',
    { preview: 2 },
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['quotes of another kind', "'a,1',b", { quoteChar: "'" }, [['a,1', 'b']]],
  ['escapes of another kind', '"a\\"1",b', { escapeChar: '\\' }, [['a"1', 'b']]],
  ['no quotes', '"a",b', { quoteChar: null }, [['"a"', 'b']]],
  ['quotes within', 'a"b,c', {}, [['a"b', 'c']]],
  ['a delimiter of several letters', 'a, b, c', { delimiter: ', ' }, [['a', 'b', 'c']]],
  [
    'types',
    'a,1,-2.5,1e3,true,FALSE,,x1,12345678901234567890',
    { dynamicTyping: true },
    [['a', 1, -2.5, 1000, true, false, null, 'x1', '12345678901234567890']],
  ],
  ['types of one column', '1,2', { dynamicTyping: { 1: true } }, [['1', 2]]],
  ['transformed', 'a,b', { transform: (it, at) => `${it}${at}` }, [['a0', 'b1']]],
  ['a mark of byte order', '\ufeffa,b', {}, [['a', 'b']]],
  ['nothing', '', {}, []],
  ['quoted and empty', '"",""', {}, [['', '']]],
  ['a quoted field, then the end of a line', '"a"\n"b"', { delimiter: ',' }, [['a'], ['b']]],
  [
    'returns',
    'a,b\rc,d',
    {},
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
];

export default function () {
  for (const [rule, text, expected] of rfc4180)
    same(`RFC 4180, rule ${rule}`, parse(text).data, expected);
  for (const [name, text, config, expected] of rows) same(name, parse(text, config).data, expected);

  const objects = parse('name,age\nada,36\nbob,41', { header: true, dynamicTyping: true });
  same('a header', objects.data, [
    { name: 'ada', age: 36 },
    { name: 'bob', age: 41 },
  ]);
  same('its fields', objects.meta.fields, ['name', 'age']);
  same(
    'meta',
    [objects.meta.delimiter, objects.meta.linebreak, objects.meta.aborted, objects.meta.truncated],
    [',', '\n', false, false],
  );
  same('a header alone', parse('a,b', { header: true }).data, []);
  same(
    'preview counts no header',
    parse('a\n1\n2\n3', { header: true, preview: 2 }).data.length,
    2,
  );
  same(
    'renamed',
    parse(' A , B \n1,2', { header: true, transformHeader: (it) => it.trim().toLowerCase() }).data,
    [{ a: '1', b: '2' }],
  );
  const twice = parse('a,a,b,a\n1,2,3,4', { header: true });
  same('names twice', twice.data, [{ a: '1', a_1: '2', b: '3', a_2: '4' }]);
  const odd = parse('a,b\n1\n1,2,3\n1,2', { header: true });
  same('rows of other lengths', odd.data, [
    { a: '1' },
    { a: '1', b: '2', __parsed_extra: ['3'] },
    { a: '1', b: '2' },
  ]);
  same(
    'told',
    odd.errors.map((it) => [it.type, it.code, it.row]),
    [
      ['FieldMismatch', 'TooFewFields', 0],
      ['FieldMismatch', 'TooManyFields', 1],
    ],
  );

  for (const [delimiter, text] of [
    ['\t', 'a\tb\nc\td'],
    ['|', 'a|b\nc|d'],
    [';', 'a;b\nc;d'],
    [';', 'a;b,c\nd;e'],
  ]) {
    same(`guessed ${JSON.stringify(delimiter)}`, parse(text).meta.delimiter, delimiter);
  }
  const none = parse('one\ntwo');
  same('none to guess', [none.meta.delimiter, none.errors[0].code], [',', 'UndetectableDelimiter']);
  for (const text of ['a,b\r\nc', 'a,b\nc', 'a,b\rc']) {
    same('line breaks', parse(text).meta.linebreak, /\r\n|\n|\r/.exec(text)[0]);
  }
  const open = parse('a,"b\nc');
  same(
    'a quote left open',
    [open.data, open.errors.map((it) => it.code)],
    [[['a', 'b\nc']], ['MissingQuotes']],
  );
  const wrong = parse('a,"b"c,d');
  same(
    'a quote within',
    wrong.errors.some((it) => it.code === 'InvalidQuotes'),
    true,
  );

  const steps = [];
  let complete = false;
  parse('a\nb\nc', {
    step: (it, control) => {
      steps.push(it.data);
      if (steps.length === 2) control.abort();
    },
    complete: () => {
      complete = true;
    },
  });
  same('steps', [steps, complete], [[['a'], ['b']], true]);
  same(
    'dates',
    parse('2024-02-29T12:00Z,2024-02-29T12:00:00.5+01:00,2024-02-29', { dynamicTyping: true }).data[0],
    ['2024-02-29T12:00:00.000Z', '2024-02-29T11:00:00.500Z', '2024-02-29'],
  );
  throws('not a text', () => parse({ name: 'a file' }));

  same(
    'back, arrays',
    unparse([
      ['a', 'b'],
      [1, null],
    ]),
    'a,b\r\n1,',
  );
  same('back, objects', unparse([{ a: 1, b: 'x' }, { a: 2 }]), 'a,b\r\n1,x\r\n2,');
  same('back, fields', unparse({ fields: ['a', 'b'], data: [[1, 2]] }), 'a,b\r\n1,2');
  same('back, columns', unparse([{ a: 1, b: 2, c: 3 }], { columns: ['c', 'a'] }), 'c,a\r\n3,1');
  same('back, quoted', unparse([['a,b', 'c"d', 'e\nf', ' g', 'h']]), '"a,b","c""d","e\nf"," g",h');
  same('back, all quoted', unparse([['a', 1]], { quotes: true }), '"a","1"');
  same('back, no header', unparse([{ a: 1 }], { header: false }), '1');
  same('back, other letters', unparse([['a', 'b']], { delimiter: '\t', newline: '\n' }), 'a\tb');
  same('back, formulae', unparse([['=1+1']], { escapeFormulae: true }), '"\'=1+1"');
  same(
    'there and back',
    parse(
      unparse([
        ['a,"\n', 'b'],
        ['', 'c'],
      ]),
    ).data,
    [
      ['a,"\n', 'b'],
      ['', 'c'],
    ],
  );
  same('default', typeof papaparse.parse, 'function');
  done();
}
