// Row: mistakes: options: a duration of nothing
export const options = { duration: 0, vus: 1 };

export default function () {}
