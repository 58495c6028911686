// Row: mistakes: no function is exported
export const options = { iterations: 1 };
