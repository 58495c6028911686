// Row: mistakes: a timer of the top level throws
setTimeout(() => {
  throw new Error('late');
}, 0);

export default function () {
  console.log('never');
}
