// Row: 8.3 undefined is as good as absent
export const options = { tags: { a: undefined }, iterations: undefined };

export default function () {
  console.log('iteration');
}
