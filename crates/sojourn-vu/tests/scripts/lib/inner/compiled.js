'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.named = 'named';
exports.default = function main() { return 'main'; };
