/**
 * Tells cheaply that a prompt does not ask for work on many files, before the patterns of `detection.ts` are loaded, which
 * takes as long as a third of the start of Node.js.
 */

/** The first words of `ALL` in each language of `languages/`, and the signs of a pattern of paths. */
const QUANTIFIER = /\b(?:all|every|each|tous|toutes?|tout|chaque|chacune?)\b|вс[её]|кажд|所有|全部|每|各个|一切|[*{]/i;

/** Whether the prompt has a word or sign without which `detectFanOut` finds nothing. */
export function hasQuantifier(prompt: string): boolean {
  return QUANTIFIER.test(prompt);
}
