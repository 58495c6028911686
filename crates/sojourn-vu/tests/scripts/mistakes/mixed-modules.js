// Row: mistakes: import and module.exports in one script
import { check } from 'k6';

module.exports.other = check;

export default function () {}
