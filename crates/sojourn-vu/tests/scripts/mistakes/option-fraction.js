// Row: mistakes: options: a fraction of a user
export const options = { vus: 1.5, iterations: 3 };

export default function () {}
