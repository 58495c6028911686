// Row: mistakes: options: less than no users
export const options = { vus: -1, duration: '1s' };

export default function () {}
