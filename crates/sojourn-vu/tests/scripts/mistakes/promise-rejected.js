// Row: mistakes: a promise that is rejected and not handled fails its iteration
export const options = { iterations: 3 };

export default async function () {
  if (__ITER === 0) await Promise.reject(new Error('awaited'));
  if (__ITER === 1) Promise.reject(new Error('forgotten'));
  if (__ITER === 2) Promise.reject('a text').catch(() => console.log('handled'));
}
