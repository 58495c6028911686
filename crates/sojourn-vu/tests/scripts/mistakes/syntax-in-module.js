// Row: mistakes: a module that does not parse
import './syntax.js';

export default function () {}
