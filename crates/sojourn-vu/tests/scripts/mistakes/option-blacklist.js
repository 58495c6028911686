// Row: mistakes: options: a net that is none
export const options = { blacklistIPs: ['10.0.0'] };

export default function () {}
