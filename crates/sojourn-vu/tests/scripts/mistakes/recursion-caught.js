// Row: mistakes: recursion without end that is caught
function again(n) {
  return again(n + 1) + 1;
}

export default function () {
  try {
    again(0);
  } catch (error) {
    console.log(error.name);
  }
}
