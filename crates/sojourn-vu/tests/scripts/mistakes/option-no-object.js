// Row: mistakes: options: a number for an object
export const options = 5;

export default function () {}
