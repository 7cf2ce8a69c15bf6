/** Programs whose words are small languages of their own: only the part of each that reads is understood here. */

import type {TestExpression, Word} from 'unbash';
import {Options, type ProgramReading, pathOf, type Reader, type Reading, readAll, textsOf} from './program-options.ts';
import {NotProven, type ShellWord} from './shell-words.ts';

function nothing(): ProgramReading {
  return {paths: [], globs: [], repositories: []};
}

/** Tests and actions of `find` that read. `:` takes a text, `@` a path. Links are not followed without -L. */
const FIND = new Map(
  `-name: -iname: -path: -ipath: -wholename: -iwholename: -lname: -ilname: -regex: -iregex: -regextype: -type: -xtype:
  -size: -mtime: -mmin: -atime: -amin: -ctime: -cmin: -newer@ -anewer@ -cnewer@ -newermt: -samefile@ -maxdepth: -mindepth:
  -empty -print -print0 -printf: -ls -prune -quit -not -and -a -or -o -true -false -perm: -user: -group: -nouser -nogroup
  -readable -writable -executable -depth -xdev -mount -daystart -links: -inum: -noleaf`
    .split(/\s+/)
    .map((token) => [token.replace(/[:@]$/, ''), token.at(-1)] as const),
);

export const checkFind: Reader = (words) => {
  const reading = nothing();
  const known = words[0]?.kind === 'text' && words[0].text === '-P' ? words.slice(1) : words;
  const begins = known.findIndex((word) => word.kind === 'text' && /^(?:-|[(!,)]$)/.test(word.text));
  const places = begins < 0 ? known : known.slice(0, begins);
  if (places.some((word) => word.kind !== 'text')) throw new NotProven('where it looks is known only when it runs');
  readAll(places, reading);
  if (places.length === 0) reading.paths.push('.');
  const rest = begins < 0 ? [] : known.slice(begins);
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at]!;
    if (word.kind !== 'text') throw new NotProven('one of its words is known only when it runs');
    if (/^[(!,)]$/.test(word.text)) continue;
    if (!FIND.has(word.text)) throw new NotProven(`${word.text} is not known to only read`);
    const value = FIND.get(word.text);
    if (value !== ':' && value !== '@') continue;
    const next = rest[++at];
    if (next?.kind !== 'text') throw new NotProven(`what ${word.text} is given is not known`);
    if (value === '@') reading.paths.push(pathOf(next));
  }
  return reading;
};

const SED_OPTIONS = new Options(
  '-nErsuz -e: --quiet --silent --regexp-extended --separate --null-data --help --version',
);
/** One character of a pattern between slashes; in brackets nothing that could end it for one sed and not for another. */
const PIECE = String.raw`(?:\[[^\]/|#,\\\n]+\]|\\[^\n]|(?!\1)[^[\\\n])`;
const ADDRESS = String.raw`(?:\d+|\$|/(?:\[[^\]/|#,\\\n]+\]|\\[^\n]|[^/[\\\n])+/)`;
const RANGE = String.raw`(?:${ADDRESS}(?: *, *(?:${ADDRESS}|\+\d+))?)? *!? *`;
/** Prints, drops lines, counts, ends, or replaces what it prints. */
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

export const checkSed: Reader = (words) => {
  const {options, operands, values, reading} = SED_OPTIONS.sort(words);
  const given = options.has('-e');
  const scripts = given ? values : textsOf(operands.slice(0, 1));
  if (scripts.length === 0 || !scripts.every(isPrinting)) throw new NotProven('its script may do more than print');
  readAll(given ? operands : operands.slice(1), reading);
  return {...reading, repositories: []};
};

const DATE_OPTIONS = new Options(
  '-uRI -d: --date: --utc --iso-8601? --rfc-3339: --rfc-email -r@ --reference@ --help --version',
);

export const checkDate: Reader = (words) => {
  const {operands, reading} = DATE_OPTIONS.sort(words);
  if (!textsOf(operands).every((text) => text.startsWith('+'))) throw new NotProven('it may set the clock');
  return {...reading, repositories: []};
};

/** `%n` writes into a variable whose name is a word, and a name may hold code. */
const PLAIN_FORMAT = /^(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d+)?[sbqdiouxXeEfFgGc])*$/;

export const checkPrintf: Reader = ([format, ...rest]) => {
  const words = format?.kind === 'text' && format.text === '--' ? rest : format ? [format] : [];
  const [text] = words;
  if (text?.kind !== 'text' || text.text.startsWith('-') || !PLAIN_FORMAT.test(text.text)) {
    throw new NotProven('its format may do more than print');
  }
  return nothing();
};

const ABOUT_FILES = /^-[abcdefghknprstuwxGLNOS]$/;
const ABOUT_TEXTS = /^-[nz]$/;
const BETWEEN = /^(?:=|==|!=|<|>|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef|-a|-o|!|\(|\))$/;

/** `-v` and `-R` look up a variable by a name that may hold code. */
export function checkTest(words: readonly ShellWord[]): ProgramReading {
  const reading = nothing();
  textsOf(words);
  for (const word of words) {
    const text = word.kind === 'text' ? word.text : '';
    if (BETWEEN.test(text) || ABOUT_TEXTS.test(text) || ABOUT_FILES.test(text)) continue;
    if (text.startsWith('-') && !/^-\d+$/.test(text)) throw new NotProven(`${text} is not known to only read`);
    readAll([word], reading);
  }
  return reading;
}

/**
 * `[[ … ]]`: words beside `-eq` and the like are evaluated as arithmetic, which may run code.
 * @param expand walks through what runs within the word, too. @throws NotProven for what may do more than read
 */
export function readTest(expression: TestExpression, expand: (word: Word) => readonly ShellWord[]): Reading {
  switch (expression.type) {
    case 'TestUnary': {
      const operand = expand(expression.operand);
      if (operand.length !== 1) throw new NotProven('[[: it was not understood');
      return checkTest([{kind: 'text', text: expression.operator, home: false}, ...operand]);
    }
    case 'TestBinary':
      return readComparison(expression.operator, expression.left, expression.right, expand);
    case 'TestLogical':
      return joined(expression.operands.map((operand) => readTest(operand, expand)));
    case 'TestNot':
      return readTest(expression.operand, expand);
    case 'TestGroup':
      return readTest(expression.expression, expand);
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
    textsOf(words);
    readAll(words, reading);
  }
  return reading;
}

function joined(readings: readonly Reading[]): Reading {
  return {paths: readings.flatMap(({paths}) => paths), globs: readings.flatMap(({globs}) => globs)};
}

/** A program that runs code, but for these very words. */
export function onlyFor(...known: readonly string[]): Reader {
  return (words) => {
    const [text = '', ...more] = textsOf(words);
    if (known.includes(text) && more.length === 0) return nothing();
    throw new NotProven('it may run anything');
  };
}
