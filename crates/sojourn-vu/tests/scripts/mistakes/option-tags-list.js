// Row: mistakes: options: tags that are a list
export const options = { tags: ['a'] };

export default function () {}
