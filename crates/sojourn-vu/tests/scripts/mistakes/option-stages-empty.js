// Row: mistakes: options: stages that are none
export const options = { stages: [] };

export default function () {}
