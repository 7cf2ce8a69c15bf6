/** Suggests known names for misspelt ones that people and models write. */
import leven from 'leven';

/**
 * Returns the known word with the least edit distance, however far away; undefined only when `known` is empty. It
 * serves messages that always name the nearest word; others use `findMeant`.
 */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const folded = fold(word);
  return known.toSorted((a, b) => leven(folded, fold(a)) - leven(folded, fold(b)))[0];
}

/**
 * Returns the known word that `word` is probably a typo of: some letters differ, or their order.
 * @param most number of letters that may differ; by default a third of them, 1 to 3
 */
export function findTypo(word: string, known: readonly string[], most?: number): string | undefined {
  const letters = sortLetters(word);
  const mixed = known.find((each) => sortLetters(each) === letters);
  if (mixed !== undefined) return mixed;
  const found = findNearest(word, known);
  if (found === undefined) return undefined;
  const allowed = most ?? Math.min(3, Math.max(1, Math.floor(found.length / 3)));
  return leven(fold(word), fold(found)) <= allowed ? found : undefined;
}

/**
 * Makes `max_turns`, `max-turns` and `maxTurns` equal. Long words are cut because the time of leven grows with both
 * lengths.
 */
function fold(word: string): string {
  return word
    .slice(0, 80)
    .replace(/[-_\s]/g, '')
    .toLowerCase();
}

/**
 * Returns the known word that a person who typed `word` may have had in mind: a typo of it, or another form of it
 * (`budget` for `max-budget-usd`, `denied` for `deny`). Undefined if none is similar, because a wrong guess is worse
 * than none.
 */
export function findMeant(word: string, known: readonly string[]): string | undefined {
  const typed = fold(word);
  const forms = known.filter((each) => isOtherForm(typed, fold(each)));
  return findTypo(word, known) ?? findNearest(word, forms);
}

function isOtherForm(one: string, other: string): boolean {
  if (Math.min(one.length, other.length) < 4) return false;
  if (one.includes(other) || other.includes(one)) return true;
  return one.slice(0, 3) === other.slice(0, 3) && leven(one, other) <= Math.max(one.length, other.length) / 2;
}

/** Formats ` (did you mean list?)`, or an empty text if no known word is similar. @param show formats the word */
export function formatMeant(word: string, known: readonly string[], show = (name: string) => name): string {
  const meant = findMeant(word, known);
  return meant === undefined ? '' : ` (did you mean ${show(meant)}?)`;
}

function sortLetters(word: string): string {
  return [...fold(word)].sort().join('');
}
