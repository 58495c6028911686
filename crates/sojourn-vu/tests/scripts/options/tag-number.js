// Row: 8.3 tags of a test are texts only
export const options = { tags: { n: 5 } };

export default function () {}
