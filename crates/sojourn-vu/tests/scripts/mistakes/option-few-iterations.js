// Row: mistakes: options: fewer iterations than users
export const options = { vus: 5, iterations: 2 };

export default function () {}
