// Row: mistakes: errors of the language: kinds alike, texts are the engine's
const wrong = [() => null.a, () => undefined.a(), () => nothingOfThatName, () => ({}).call(), () => new 5(),
  () => { const a = 1; a = 2; }, () => JSON.parse('{'), () => new Array(-1), () => 'a'.repeat(-1),
  () => decodeURIComponent('%'), () => new RegExp('('), () => Symbol() + '', () => 1n + 1];

export default function () {
  for (const run of wrong) {
    try {
      run();
      console.log('nothing');
    } catch (error) {
      console.log(error.name);
    }
  }
}
