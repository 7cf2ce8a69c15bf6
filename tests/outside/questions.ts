/** Twenty questions about a project, chosen by rule, and how their answers are marked against the oracle. */
import {createHash} from 'node:crypto';
import type {Oracle, Tag} from './oracle.ts';
import type {AskedProject} from './projects.ts';

export type Mark = 'right' | 'partly' | 'wrong';

export interface Question {
  readonly kind: string;
  /** Typed one after the other in one conversation; the last answer is marked. */
  readonly turns: readonly string[];
  readonly mark: (answer: string) => Mark;
  /** What is right, for the report of a wrong answer. */
  readonly expected: string;
}

const NAMED = /^(?:function|method|class|struct|interface|enum|trait|type|singletonMethod|module|func)$/;
/** A call of such a name may be one of the language's own. */
const BUILT_IN = new Set(
  [JSON, Object, Array, Promise, Array.prototype, String.prototype, Map.prototype, Promise.prototype].flatMap((one) =>
    Object.getOwnPropertyNames(one),
  ),
);
const CALLED = /^(?:function|method|func|singletonMethod)$/;

/** Always the same order for the same names, which is not that of the files. */
function shuffle<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  const hash = (item: T) => createHash('sha256').update(key(item)).digest('hex');
  return items.toSorted((a, b) => (hash(a) < hash(b) ? -1 : 1));
}

const place = (tag: Tag) => `${tag.path}:${tag.line}`;

/** Every `path:line` of the text, in order, each once. */
export function findCitations(text: string): readonly string[] {
  return [
    ...new Set(
      [...text.matchAll(/(?<![\w/])((?:[\w@+-][\w@.+-]*\/)*[\w@+-][\w@.+-]*\.\w+):(\d+)/g)].map((one) => one[0]),
    ),
  ];
}

const NONE = /\bno\b|\bnot\b|\bnone\b|nothing/i;

function markDefinition(tags: readonly Tag[], places: readonly string[], answer: string): Mark {
  const cited = findCitations(answer);
  if (cited.length === 0 || !places.includes(cited[0]!)) return 'wrong';
  return tags.every((tag) => cited.includes(place(tag))) ? 'right' : 'partly';
}

/** Every place that is claimed must be one; a number that is told instead of the rest must be true. */
function markPlaces(wanted: readonly string[], ignored: readonly string[], answer: string): Mark {
  // What follows is said to be no call.
  const claimed = findCitations(answer.replace(/^Not called, but named:[\s\S]*/m, '')).filter(
    (one) => !ignored.includes(one),
  );
  const want = new Set(wanted);
  if (claimed.some((one) => !want.has(one) && !ignored.includes(one))) return 'wrong';
  if (want.size === 0) return NONE.test(answer) ? 'right' : 'wrong';
  if (claimed.length === 0) return 'wrong';
  return [...want].every((one) => claimed.includes(one)) ? 'right' : 'partly';
}

export function createQuestions(project: AskedProject, oracle: Oracle): readonly Question[] {
  const key = (name: string) => `${project.name} ${name}`;
  const counts = Map.groupBy(
    oracle.tags.filter((tag) => tag.kind !== 'prototype'),
    (tag) => tag.name,
  );
  const isOwn = (tag: Tag) => !project.tests.test(tag.path) && !/(^|\/)(examples?|benchmarks?|docs?)\//.test(tag.path);
  const unique = shuffle(
    oracle.tags.filter(
      (tag) =>
        isOwn(tag) &&
        NAMED.test(tag.kind) &&
        /^(?!Anonymous|__anon)[A-Za-z_]\w{4,}$/.test(tag.name) &&
        !BUILT_IN.has(tag.name) &&
        counts.get(tag.name)!.length === 1,
    ),
    (tag) => key(tag.name),
  );
  const declared = (name: string) => [
    ...oracle.tags.filter((tag) => tag.name === name).map(place),
    ...oracle.overloads(name),
  ];
  /** Where a method is put on an object, which ctags does not name. */
  const assigned = (name: string) =>
    oracle.occurrences(name).filter((at) => {
      const [, file = '', line] = /^(.*):(\d+)$/.exec(at) ?? [];
      return oracle.text(file).split('\n')[Number(line) - 1]?.replaceAll(' ', '').includes(`.${name}=`);
    });
  const used = new Set<string>();
  /** The first names that fit and were not asked for yet. */
  const take = (number: number, fits: (tag: Tag) => boolean): readonly Tag[] => {
    const found: Tag[] = [];
    for (const tag of unique) {
      if (found.length === number) break;
      if (used.has(tag.name) || !fits(tag)) continue;
      used.add(tag.name);
      found.push(tag);
    }
    return found;
  };
  const callsOf = (tag: Tag) => oracle.calls(tag.name);
  const isCalled = (tag: Tag) => {
    const number = CALLED.test(tag.kind) ? callsOf(tag).length : 0;
    // The same word in other roles, such as a field, would make the scanner's answer doubtful.
    return number >= 1 && number <= 12 && oracle.occurrences(tag.name).length <= number + declared(tag.name).length + 6;
  };
  const isUnused = (tag: Tag) =>
    CALLED.test(tag.kind) && oracle.occurrences(tag.name).length === declared(tag.name).length;
  const inTests = (tag: Tag) =>
    oracle.occurrences(tag.name).filter((one) => project.tests.test(one.replace(/:\d+$/, '')));

  const where =
    (turns: (name: string) => readonly string[], kind: string, speaks?: RegExp) =>
    (tag: Tag): Question => ({
      kind,
      turns: turns(tag.name),
      expected: place(tag),
      mark: (answer) => {
        const mark = markDefinition([tag], declared(tag.name), answer);
        return mark === 'right' && speaks && !speaks.test(answer) ? 'partly' : mark;
      },
    });
  const calls =
    (turns: (name: string) => readonly string[], kind: string) =>
    (tag: Tag): Question => ({
      kind,
      turns: turns(tag.name),
      expected: callsOf(tag).join(' ') || 'no call',
      mark: (answer) => markPlaces(callsOf(tag), [...declared(tag.name), ...assigned(tag.name)], answer),
    });
  const [wordsOf, spoken] = SPOKEN[project.speaks];
  const follow = take(1, isCalled);
  return [
    ...take(4, () => true).map(where((name) => [`Where is ${name} defined?`], 'where')),
    ...take(3, isCalled).map(calls((name) => [`Who calls ${name}?`], 'who calls')),
    ...take(1, isUnused).map(calls((name) => [`Who calls ${name}?`], 'who calls')),
    ...project.imported.map((one) => askImporters(one, oracle)),
    ...askOutlines(oracle, key, isOwn, project),
    ...take(1, (tag) => CALLED.test(tag.kind) && isShowable(tag)).map(askCode),
    askTests(project, oracle),
    ...(take(1, (tag) => isCalled(tag) && inTests(tag).length >= 1 && inTests(tag).length <= 12).map((tag) => ({
      kind: 'tested',
      turns: [`Where is ${tag.name} tested?`],
      expected: inTests(tag).join(' '),
      mark: (answer: string) => markTested(inTests(tag), declared(tag.name), answer),
    })) as readonly Question[]),
    {
      kind: 'absent',
      turns: ['Where is frobnicateZebra defined?'],
      expected: 'it is not there',
      mark: (answer: string) => (findCitations(answer).length === 0 && NONE.test(answer) ? 'right' : 'wrong'),
    },
    ...(project.language === 'Go' ? [] : askSubclasses(oracle, key, isOwn)),
    ...follow.map(calls((name) => [`Where is ${name} defined?`, 'Who calls it?'], 'follow-up')),
    ...take(1, () => true).map(where((name) => [wordsOf(name)], 'in another language', spoken)),
    askOverview(project, oracle),
    // Where a language has no classes, or a project no tests, further names are asked for.
    ...take(20, isCalled).map(calls((name) => [`Who calls ${name}?`], 'who calls')),
    ...take(20, () => true).map(where((name) => [`Where is ${name}?`], 'where')),
  ].slice(0, 20);
}

const SPOKEN: Readonly<Record<AskedProject['speaks'], readonly [(name: string) => string, RegExp]>> = {
  en: [(name) => `Find the definition of ${name}`, /./],
  fr: [(name) => `Où est défini ${name} ?`, /défini|utilis|appel|lignes?|fichiers?/i],
  de: [(name) => `Wo ist ${name} definiert?`, /definiert|verwendet|aufgerufen|Zeilen?|Dateien?/i],
  zh: [(name) => `${name} 在哪里定义？`, /\p{Script=Han}/u],
  ru: [(name) => `Где определена ${name}?`, /\p{Script=Cyrillic}/u],
};

function askImporters({what, form}: AskedProject['imported'][number], oracle: Oracle): Question {
  const wanted = oracle.files.flatMap((file) =>
    oracle
      .text(file)
      .split('\n')
      .flatMap((line, index) => (form.test(line) ? [`${file}:${index + 1}`] : [])),
  );
  return {
    kind: 'imports',
    turns: [`Which files import ${what}?`],
    expected: wanted.join(' '),
    // The files count: an import may take several lines.
    mark: (answer) => markFiles(wanted, [what], answer),
  };
}

function markFiles(wanted: readonly string[], ignored: readonly string[], answer: string): Mark {
  const toFile = (one: string) => one.replace(/:\d+$/, '');
  const claimed = new Set(
    findCitations(answer)
      .map(toFile)
      .filter((one) => !ignored.includes(one)),
  );
  const want = new Set(wanted.map(toFile));
  if (claimed.size === 0 || [...claimed].some((one) => !want.has(one))) return 'wrong';
  return [...want].every((one) => claimed.has(one)) ? 'right' : 'partly';
}

function markTested(wanted: readonly string[], ignored: readonly string[], answer: string): Mark {
  const mark = markPlaces(wanted, ignored, answer);
  // A long list may be cut when each file is named.
  return mark === 'partly'
    ? markFiles(
        wanted,
        ignored.map((one) => one.replace(/:\d+$/, '')),
        answer,
      ) === 'right'
      ? 'right'
      : 'partly'
    : mark;
}

const OUTLINED = /^(?:function|method|class|struct|interface|enum|trait|singletonMethod|func|module)$/;

/** Two files of 4 to 30 definitions. */
function askOutlines(
  oracle: Oracle,
  key: (name: string) => string,
  isOwn: (tag: Tag) => boolean,
  {name}: AskedProject,
): readonly Question[] {
  const scopes = new Set(oracle.tags.filter((tag) => CALLED.test(tag.kind)).map((tag) => tag.name));
  const visible = oracle.tags.filter(
    (tag) =>
      isOwn(tag) &&
      OUTLINED.test(tag.kind) &&
      /^[\w$]+$/.test(tag.name) &&
      !/anonymous|^__anon/i.test(tag.name) &&
      // Functions inside functions are left out.
      !(tag.scope !== undefined && scopes.has(tag.scope.replace(/^.*[.:]/, ''))),
  );
  const byFile = [...Map.groupBy(visible, (tag) => tag.path)].filter(
    ([, tags]) => tags.length >= 4 && tags.length <= 30,
  );
  return shuffle(byFile, ([file]) => key(`${name} ${file}`))
    .slice(0, 2)
    .map(([file, tags]) => ({
      kind: 'outline',
      turns: [`What is defined in ${file}?`],
      expected: tags.map((tag) => `${tag.name}:${tag.line}`).join(' '),
      mark: (answer: string) => markOutline(file, tags, oracle.text(file).split('\n'), answer),
    }));
}

function markOutline(file: string, tags: readonly Tag[], lines: readonly string[], answer: string): Mark {
  const items = answer.split('\n').flatMap((line) => {
    const number = new RegExp(`${file.replace(/[.+]/g, '\\$&')}:(\\d+)|^\\s*(?:-\\s+)?(\\d+)\\b`).exec(line);
    const name = /`([^`]+)`/.exec(line)?.[1];
    return number && name !== undefined ? [{line: Number(number[1] ?? number[2]), name}] : [];
  });
  const last = (name: string) => name.replace(/\(.*$/, '').replace(/^.*[.:#\\]/, '');
  const isFalse = items.some(({line, name}) => !lines[line - 1]?.includes(last(name)));
  if (isFalse || items.length === 0) return 'wrong';
  const found = tags.filter((tag) => items.some(({line, name}) => line === tag.line && last(name) === tag.name));
  return found.length === tags.length ? 'right' : found.length > tags.length / 2 ? 'partly' : 'wrong';
}

function isShowable(tag: Tag): boolean {
  return tag.end !== undefined && tag.end - tag.line >= 4 && tag.end - tag.line <= 40;
}

function askCode(tag: Tag): Question {
  return {
    kind: 'code',
    turns: [`Show me the code of ${tag.name}`],
    expected: `lines ${tag.line} to ${tag.end} of ${tag.path}`,
    mark: (answer) => {
      const block = /```\w*\n([\s\S]*?)\n```/.exec(answer)?.[1] ?? '';
      const numbers = [...block.matchAll(/^\s*(\d+) {2}/gm)].map((match) => Number(match[1]));
      const [first, last] = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
      if (!answer.includes(tag.path) || first > tag.line || last < tag.line) return 'wrong';
      // A comment above it, and annotations, may be shown with it.
      return last === tag.end && first >= tag.line - 40 ? 'right' : 'partly';
    },
  };
}

function askTests(project: AskedProject, oracle: Oracle): Question {
  const files = oracle.files.filter((file) => project.tests.test(file));
  return {
    kind: 'tests',
    turns: ['List the tests'],
    expected: `${files.length} test files`,
    mark: (answer) => {
      if (files.length === 0) return NONE.test(answer.split('\n')[0]!) ? 'right' : 'wrong';
      const told = Number((/(\d[\d,]*) test files?/.exec(answer)?.[1] ?? '0').replaceAll(',', ''));
      if (told === files.length) return 'right';
      return Math.abs(told - files.length) <= files.length / 4 ? 'partly' : 'wrong';
    },
  };
}

/** A class with two to twelve that extend it. Tests and examples may extend it too. */
function askSubclasses(
  oracle: Oracle,
  key: (name: string) => string,
  isOwn: (tag: Tag) => boolean,
): readonly Question[] {
  const classes = oracle.tags.filter((tag) => /^(class|struct|interface)$/.test(tag.kind));
  const bases = classes.filter(
    (tag) => isOwn(tag) && tag.name.length > 4 && classes.filter((one) => one.name === tag.name).length === 1,
  );
  const extending = (base: Tag) =>
    classes.filter((tag) =>
      String(tag.inherits ?? '')
        .split(',')
        .some((one) => one.replace(/<.*$/, '').replace(/^.*[.:\\ ]/, '') === base.name),
    );
  return shuffle(bases, (tag) => key(`base ${tag.name}`))
    .filter((base) => extending(base).length >= 2 && extending(base).length <= 12)
    .slice(0, 1)
    .map((base) => ({
      kind: 'extends',
      turns: [`Which classes extend ${base.name}?`],
      expected: extending(base).map(place).join(' '),
      mark: (answer: string) => markPlaces(extending(base).map(place), [place(base)], answer),
    }));
}

function askOverview(project: AskedProject, oracle: Oracle): Question {
  const number = oracle.files.length;
  return {
    kind: 'overview',
    turns: ['Give me an overview of this project'],
    expected: `${project.language}, ${number} files`,
    mark: (answer) => {
      const families = [
        ['C', 'C\\+\\+'],
        ['TypeScript', 'JavaScript'],
      ];
      const plain = project.language.replaceAll('+', '\\+');
      const languages = families.find((family) => family.includes(plain)) ?? [plain];
      const told = [...answer.matchAll(new RegExp(`(?:${languages.join('|')}) (\\d[\\d,]*) files?`, 'g'))];
      const sum = told.reduce((total, one) => total + Number(one[1]!.replaceAll(',', '')), 0);
      if (sum === 0) return 'wrong';
      return Math.abs(sum - number) <= Math.max(2, number / 10) ? 'right' : 'partly';
    },
  };
}
