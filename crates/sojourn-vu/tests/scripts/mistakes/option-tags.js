// Row: mistakes: options: a tag that is no value
export const options = { tags: { a: { b: 1 } } };

export default function () {}
