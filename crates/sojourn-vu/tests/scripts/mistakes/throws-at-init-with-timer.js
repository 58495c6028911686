// Row: mistakes: the top level throws with a timer set
setTimeout(() => {}, 0);
throw new Error('at init');

export default function () {}
