// Row: mistakes: options: no scenario
export const options = { scenarios: {} };

export default function () {}
