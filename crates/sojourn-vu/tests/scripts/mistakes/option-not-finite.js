// Row: mistakes: options: a number that is not finite
export const options = { iterations: parseInt(__ENV.NOPE) };

export default function () {}
