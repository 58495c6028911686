// Row: 8.1 CommonJS: require, module.exports, exports
var k6 = require('k6');
var http = require('k6/http');
var old = require('../lib/old-part.js');
var fresh = require('../lib/part.js');
var isSame = require('k6/http') === http;

module.exports.options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

exports.default = function () {
  k6.check(null, {
    'a built-in module': function () {
      return typeof http.get === 'function';
    },
    'a CommonJS module': function () {
      return old.triple(3) === 9 && old.name === 'old';
    },
    'an ES module': function () {
      return fresh.default(3) === 6 && fresh.answer === 42;
    },
    'the same object twice': function () {
      return isSame;
    },
  });
};
