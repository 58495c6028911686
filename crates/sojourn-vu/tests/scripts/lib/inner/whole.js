module.exports = { one: 1, two() { return 2; } };
module.exports['three'.toString()] = 3;
