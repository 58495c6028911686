// Row: mistakes: options: a timeout below nothing
export const options = { setupTimeout: '-1s' };

export default function () {}
