// Row: mistakes: a promise that nobody settles
export default async function () {
  console.log('before');
  await new Promise(() => {});
  console.log('never');
}
