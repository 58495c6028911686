// Row: 8.3 an unknown option is a warning
export const options = {
  iterations: 1,
  maxRedirect: 5,
  other: { deep: 1 },
  ext: { loadimpact: { projectID: 1 } },
};

export default function () {
  console.log('ran');
}
