// Matchers that look again and again: of locators of a browser (whoever brings one), and, ours, of
// a function by `toPass`.

const textOf = (it) =>
  it
    .replace(/[\u200b\u00ad]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

const fits = (text, expected) =>
  expected instanceof RegExp ? expected.test(text) : textOf(text) === textOf(expected);

const includes = (text, expected) =>
  expected instanceof RegExp ? expected.test(text) : textOf(text).includes(textOf(expected));

/** A matcher of so many arguments; what follows them are its options. */
const about = (arity, test) => (actual, args) => ({
  expected: args.slice(0, arity),
  options: args[arity],
  test: () => test(actual, ...args.slice(0, arity)),
});

export const retrying = {
  toBeChecked: about(0, (it) => it.isChecked()),
  toBeDisabled: about(0, (it) => it.isDisabled()),
  toBeEditable: about(0, (it) => it.isEditable()),
  toBeEmpty: about(0, async (it) => (await it.textContent()) === ''),
  toBeEnabled: about(0, (it) => it.isEnabled()),
  toBeHidden: about(0, (it) => it.isHidden()),
  toBeVisible: about(0, (it) => it.isVisible()),
  toContainText: about(1, async (it, expected) => includes(await it.textContent(), expected)),
  toHaveAttribute: about(2, async (it, name, expected) => {
    const value = await it.getAttribute(name);
    return expected === undefined ? value !== null : value === expected;
  }),
  toHaveText: about(1, async (it, expected) => fits(await it.textContent(), expected)),
  toHaveTitle: about(1, async (it, expected) => fits(await it.title(), expected)),
  toHaveURL: about(1, async (it, expected) => fits(await it.url(), expected)),
  toHaveValue: about(1, async (it, expected) => (await it.inputValue()) === expected),
  toPass: about(0, async (run) => {
    await run();
    return true;
  }),
};
