// Row: mistakes: options: a duration that is none
export const options = { duration: 'soon', vus: 1 };

export default function () {}
