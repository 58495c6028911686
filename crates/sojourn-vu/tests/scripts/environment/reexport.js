// Row: 8.1 what is exported again, and functions that are no `default function`
export { options } from '../lib/exported.js';
export { run as default } from '../lib/exported.js';
export * from '../lib/exported.js';
