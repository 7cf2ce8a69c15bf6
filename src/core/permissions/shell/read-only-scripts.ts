/** Programs whose words are small languages: of each language only the part that reads is understood here. */
import type {TestExpression, Word} from 'unbash';
import {
  addPaths,
  createReading,
  getTexts,
  Options,
  type ProgramReading,
  type Reader,
  type Reading,
  toPath,
} from './program-options.ts';
import {NotProven, type ShellWord} from './shell-words.ts';

/** Tests and actions of `find` that only read. `:` takes a text, `@` a path. Without -L it follows no links. */
const FIND = new Map(
  `-name: -iname: -path: -ipath: -wholename: -iwholename: -lname: -ilname: -regex: -iregex: -regextype: -type: -xtype:
  -size: -mtime: -mmin: -atime: -amin: -ctime: -cmin: -newer@ -anewer@ -cnewer@ -newermt: -samefile@ -maxdepth: -mindepth:
  -empty -print -print0 -printf: -ls -prune -quit -not -and -a -or -o -true -false -perm: -user: -group: -nouser -nogroup
  -readable -writable -executable -depth -xdev -mount -daystart -links: -inum: -noleaf`
    .split(/\s+/)
    .map((token) => [token.replace(/[:@]$/, ''), token.at(-1)] as const),
);

export const readFind: Reader = (words) => {
  const reading = createReading();
  const known = words[0]?.kind === 'text' && words[0].text === '-P' ? words.slice(1) : words;
  const expressionStart = known.findIndex((word) => word.kind === 'text' && /^(?:-|[(!,)]$)/.test(word.text));
  const folders = expressionStart < 0 ? known : known.slice(0, expressionStart);
  if (folders.some((word) => word.kind !== 'text')) throw new NotProven('where it looks is known only when it runs');
  addPaths(folders, reading);
  if (folders.length === 0) reading.paths.push('.');
  const rest = expressionStart < 0 ? [] : known.slice(expressionStart);
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at]!;
    if (word.kind !== 'text') throw new NotProven('one of its words is known only when it runs');
    if (/^[(!,)]$/.test(word.text)) continue;
    if (!FIND.has(word.text)) throw new NotProven(`${word.text} is not known to only read`);
    const value = FIND.get(word.text);
    if (value !== ':' && value !== '@') continue;
    const next = rest[++at];
    if (next?.kind !== 'text') throw new NotProven(`what ${word.text} is given is not known`);
    if (value === '@') reading.paths.push(toPath(next));
  }
  return reading;
};

const SED_OPTIONS = new Options(
  '-nErsuz -e: --quiet --silent --regexp-extended --separate --null-data --help --version',
);
/** One character of a pattern between slashes. Brackets contain nothing that ends the pattern for some seds only. */
const PIECE = String.raw`(?:\[[^\]/|#,\\\n]+\]|\\[^\n]|(?!\1)[^[\\\n])`;
const ADDRESS = String.raw`(?:\d+|\$|/(?:\[[^\]/|#,\\\n]+\]|\\[^\n]|[^/[\\\n])+/)`;
const RANGE = String.raw`(?:${ADDRESS}(?: *, *(?:${ADDRESS}|\+\d+))?)? *!? *`;
/** A command that prints, deletes lines from the output, counts, quits, or replaces in the output. */
const SED_COMMAND = new RegExp(String.raw`^ *${RANGE}(?:[pdq=]|s([/|#,])${PIECE}*\1${PIECE}*\1[gpiI\d]*) *(?:;|$)`);

function isPrinting(script: string): boolean {
  let rest = script.trimEnd();
  if (rest === '') return false;
  while (rest !== '') {
    const [command] = SED_COMMAND.exec(rest) ?? [];
    if (command === undefined || command === '') return false;
    rest = rest.slice(command.length).trimStart();
  }
  return true;
}

export const readSed: Reader = (words) => {
  const {options, operands, values, reading} = SED_OPTIONS.sort(words);
  const hasScript = options.has('-e');
  const scripts = hasScript ? values : getTexts(operands.slice(0, 1));
  if (scripts.length === 0 || !scripts.every(isPrinting)) throw new NotProven('its script may do more than print');
  addPaths(hasScript ? operands : operands.slice(1), reading);
  return {...reading, repositories: []};
};

const DATE_OPTIONS = new Options(
  '-uRI -d: --date: --utc --iso-8601? --rfc-3339: --rfc-email -r@ --reference@ --help --version',
);

export const readDate: Reader = (words) => {
  const {operands, reading} = DATE_OPTIONS.sort(words);
  if (!getTexts(operands).every((text) => text.startsWith('+'))) throw new NotProven('it may set the clock');
  return {...reading, repositories: []};
};

/** Not `%n`: it writes into the variable that a word names, and such a name may contain code. */
const PLAIN_FORMAT = /^(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d+)?[sbqdiouxXeEfFgGc])*$/;

export const readPrintf: Reader = ([format, ...rest]) => {
  const words = format?.kind === 'text' && format.text === '--' ? rest : format ? [format] : [];
  const [text] = words;
  if (text?.kind !== 'text' || text.text.startsWith('-') || !PLAIN_FORMAT.test(text.text)) {
    throw new NotProven('its format may do more than print');
  }
  return createReading();
};

const FILE_TESTS = /^-[abcdefghknprstuwxGLNOS]$/;
const TEXT_TESTS = /^-[nz]$/;
const OPERATORS = /^(?:=|==|!=|<|>|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef|-a|-o|!|\(|\))$/;

/** `test` and `[`. Not `-v` and `-R`: they look up a variable by a name that may contain code. */
export function readTest(words: readonly ShellWord[]): ProgramReading {
  const reading = createReading();
  getTexts(words);
  for (const word of words) {
    const text = word.kind === 'text' ? word.text : '';
    if (OPERATORS.test(text) || TEXT_TESTS.test(text) || FILE_TESTS.test(text)) continue;
    if (text.startsWith('-') && !/^-\d+$/.test(text)) throw new NotProven(`${text} is not known to only read`);
    addPaths([word], reading);
  }
  return reading;
}

/**
 * `[[ … ]]`. Not `-eq` and the like: bash evaluates the words beside them as arithmetic, which may run code.
 * @param expand expands a word and walks through its substitutions
 * @throws NotProven for a test that may do more than read
 */
export function readTestExpression(expression: TestExpression, expand: (word: Word) => readonly ShellWord[]): Reading {
  switch (expression.type) {
    case 'TestUnary': {
      const operand = expand(expression.operand);
      if (operand.length !== 1) throw new NotProven('[[: it was not understood');
      return readTest([{kind: 'text', text: expression.operator, home: false}, ...operand]);
    }
    case 'TestBinary':
      return readComparison(expression.operator, expression.left, expression.right, expand);
    case 'TestLogical':
      return mergeReadings(expression.operands.map((operand) => readTestExpression(operand, expand)));
    case 'TestNot':
      return readTestExpression(expression.operand, expand);
    case 'TestGroup':
      return readTestExpression(expression.expression, expand);
  }
}

function readComparison(
  operator: string,
  left: Word,
  right: Word,
  expand: (word: Word) => readonly ShellWord[],
): Reading {
  const reading: Reading = {paths: [], globs: []};
  if (!/^(?:==?|!=|<|>|=~|-nt|-ot|-ef)$/.test(operator)) throw new NotProven('[[: it may run code');
  const words = [...expand(left)];
  if (operator !== '=~') words.push(...expand(right));
  else if (/[$`\\]/.test(right.text)) throw new NotProven('[[: it may run code');
  if (operator.startsWith('-')) {
    getTexts(words);
    addPaths(words, reading);
  }
  return reading;
}

function mergeReadings(readings: readonly Reading[]): Reading {
  return {paths: readings.flatMap(({paths}) => paths), globs: readings.flatMap(({globs}) => globs)};
}

/** For a program that may run anything, except where its only word is one of `known`. */
export function createExactReader(...known: readonly string[]): Reader {
  return (words) => {
    const [text = '', ...more] = getTexts(words);
    if (known.includes(text) && more.length === 0) return createReading();
    throw new NotProven('it may run anything');
  };
}
