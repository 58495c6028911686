import { SharedArray } from 'k6/data';

export const top = open('./text.txt').trim();
export const shared = new SharedArray('opened', () => [open('text.txt').trim()]);
