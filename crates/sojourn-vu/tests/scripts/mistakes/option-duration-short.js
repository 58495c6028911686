// Row: mistakes: options: a duration below a second
export const options = { duration: '100ms', vus: 1 };

export default function () {}
