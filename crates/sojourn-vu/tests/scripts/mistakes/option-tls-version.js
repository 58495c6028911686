// Row: mistakes: options: a version that is none
export const options = { tlsVersion: 'tls9' };

export default function () {}
