// A CommonJS module that scripts require.
var path = 'old';
exports.name = path;
exports.triple = function (value) {
  return value * 3;
};
