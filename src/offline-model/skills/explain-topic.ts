/**
 * Handles requests that no other skill accepts: finds the symbol that the words name, and shows the way through its
 * code.
 */
import {findSpeech} from '../language.ts';
import {getPathRank} from '../places.ts';
import {bullets, cannot, notDone, paragraphs} from '../report.ts';
import {parseHits} from '../results.ts';
import {ask, type Job, type Work} from '../skill.ts';
import {type FoundDefinition, parseDefinitions, parseReferences} from '../symbols.ts';
import {escapeRegExp, findKeywords, getStem} from '../words.ts';
import {citeDefinition, explainSymbol} from './symbols/explain-symbol.ts';

/** Questions that names may answer: how something works, where it is done. */
const HOW =
  /^(?:how|where|explain|describe|walk me through|comment|où|explique|wie|wo|erkläre?|как|где|объясни)(?![\p{L}])|怎么|如何|哪里|解释/iu;
/** Number of words in a topic that are searched for. */
const MAX_WORDS = 4;
const MAX_NAMES = 12;

export function* explainTopic(job: Job): Work<string> {
  const words = findKeywords(job.text).slice(0, MAX_WORDS);
  if (!HOW.test(job.text)) return cannot(formatInstead());
  const found = yield* findTopic(words, job);
  if (typeof found === 'string') return found;
  const [best, ...others] = found;
  if (!best) return cannot(formatInstead(words));
  const [references] = yield* ask([job.toolbox.symbols('references', {name: getLastName(best)})]);
  const known = {
    name: getLastName(best),
    definitions: {...parseDefinitions(references), found: [best]},
    references: parseReferences(references),
    language: findSpeech(job.text),
  };
  return paragraphs(
    yield* explainSymbol(known, 'how', job),
    others.length > 0 && `Named alike:\n${bullets(others.map(citeDefinition), 6)}`,
    'Found by names; I do not understand the code.',
  );
}

const getLastName = (one: FoundDefinition) => one.name.replace(/^.*[.]/, '');

function formatInstead(words: readonly string[] = []): string {
  const named = words.map((word) => `\`${word}\``).join(', ');
  return `${named === '' ? 'this' : `no code here is named after ${named}, and more than names`} needs a language model. I answer "where is X?", "who calls X?", "how does X work?", "what is defined in FILE?", "list the tests", "review src" and "plan X", and change code word for word: "rename A to B", "replace \\"a\\" with \\"b\\" in FILE".`;
}

/**
 * Finds definitions whose names contain the words, best first. A definition must match at least half of the words or
 * have one of them as its name. Names come from lines that contain a word; the index says what they are.
 */
export function* findTopic(words: readonly string[], job: Job): Work<readonly FoundDefinition[] | string> {
  const stems = words.map((word) => getStem(word).toLowerCase());
  if (stems.length === 0) return [];
  if (!job.toolbox.has('symbols')) return notDone('I have no `symbols` tool here, so I cannot look up names in code.');
  const searches = stems.map((stem) =>
    job.toolbox.search({pattern: `[A-Za-z0-9_$]*${escapeRegExp(stem)}[A-Za-z0-9_$]*`, ignoreCase: true, limit: 300}),
  );
  const hits = (yield* ask(searches)).map((result) => parseHits(result).hits);
  const coverage = (name: string) => stems.filter((stem) => name.toLowerCase().includes(stem)).length;
  const uses = new Map<string, number>();
  for (const {path, text} of hits.flat()) {
    if (getPathRank(path) > 0) continue;
    for (const [name] of text.matchAll(/[A-Za-z_$][\w$]{2,}/g))
      if (coverage(name) > 0) uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  const names = [...uses]
    .toSorted(([a, m], [b, n]) => coverage(b) - coverage(a) || n - m || a.length - b.length)
    .slice(0, MAX_NAMES)
    .map(([name]) => name);
  const results = yield* ask(names.map((name) => job.toolbox.symbols('definitions', {name})));
  const found = results
    .flatMap((result) => parseDefinitions(result).found)
    .filter((one) => getPathRank(one.path) === 0);
  const isNamed = (one: FoundDefinition) => words.some((word) => word.toLowerCase() === getLastName(one).toLowerCase());
  const score = (one: FoundDefinition) =>
    (isNamed(one) ? 8 : 0) +
    coverage(`${one.name} ${one.path}`) * 10 +
    coverage(one.name) * 4 +
    (/function|method|class|struct|trait|interface/.test(one.kind) ? 3 : 0) +
    Math.min(3, (one.endLine - one.line) / 10) +
    Math.min(3, uses.get(getLastName(one)) ?? 0) -
    one.path.split('/').length / 4;
  return found
    .filter((one) => isNamed(one) || coverage(`${one.name} ${one.path}`) >= Math.ceil(stems.length / 2))
    .toSorted((a, b) => score(b) - score(a));
}
