// Row: mistakes: an exception at init: exit code 107
throw new Error('thrown at init');

export default function () {}
