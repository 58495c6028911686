// Texts from the data of `handleSummary`: the summary as k6 printed it before version 1, and
// JUnit's XML.
import { jUnit } from './summary/junit.js';
import { textSummary } from './summary/text.js';
import { humanizeValue } from './summary/values.js';

export { humanizeValue, jUnit, textSummary };
export default { humanizeValue, jUnit, textSummary };
