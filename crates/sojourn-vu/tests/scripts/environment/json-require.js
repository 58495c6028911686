// Row: 8.1 JSON by require
let told;
try {
  told = JSON.stringify(require('../lib/users.json'));
} catch (error) {
  told = String(error).replace(/file:\/\/\S*\/lib/, 'file://lib');
}

export default function () {
  console.log(told);
}
