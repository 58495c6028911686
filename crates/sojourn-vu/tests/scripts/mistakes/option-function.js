// Row: mistakes: options: a function
export const options = () => ({});

export default function () {}
