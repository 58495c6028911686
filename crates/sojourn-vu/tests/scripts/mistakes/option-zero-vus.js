// Row: mistakes: options: no users
export const options = { vus: 0, duration: '1s' };

export default function () {}
