// Row: mistakes: options: a choice that is none
export const options = { dns: { select: 'any' } };

export default function () {}
