// Row: mistakes: options: a host without an address
export const options = { hosts: { 'a.test': 'not an address' } };

export default function () {}
