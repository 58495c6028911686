// Row: 8.5 Response.json's paths: wildcards, counts, queries, escapes
import http from 'k6/http';
import { json } from '../lib/same.js';

export default function () {
  const register = http.get(`${__ENV.BASE}/demo/search`);
  const paths = [
    '@this',
    'products',
    'products.#',
    'products.0',
    'products.1.name',
    'products.#.name',
    'products.#(id=="p-1").name',
    'products.#(price>4)#.name',
    'products.#(name%"*a*").id',
    'prod*.0.id',
    'p?oducts.0.id',
    'products.99',
    'products.#.nothing',
    'nothing',
    '',
    'products.0.name.first',
    'products|0|name',
    'products.@reverse.0.id',
    '{products.0.id,products.1.id}',
    '[products.0.id]',
  ];
  for (const path of paths) console.log(`${path}: ${json(register.json(path))}`);
}
