// Row: mistakes: options: a text for a number
export const options = { vus: 'many', iterations: 1 };

export default function () {}
