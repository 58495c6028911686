exports.top = open('./text.txt').trim();
exports.other = require('./other.js').name;
