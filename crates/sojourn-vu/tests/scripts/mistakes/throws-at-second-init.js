// Row: mistakes: an exception in the init of a user
if (__VU === 2) throw new Error('thrown by the second');

export const options = { vus: 3, iterations: 3 };

export default function () {}
