export const name = require('./other.js').name;
