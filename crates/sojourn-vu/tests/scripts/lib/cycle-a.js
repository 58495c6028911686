// One half of a cycle.
import { name as other } from './cycle-b.js';

export const name = 'a';
export const both = () => name + other;
