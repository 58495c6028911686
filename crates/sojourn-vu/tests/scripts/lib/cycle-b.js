// The other half.
import { name as other } from './cycle-a.js';

export const name = 'b';
export const both = () => name + other;
