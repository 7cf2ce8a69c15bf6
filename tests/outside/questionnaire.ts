/**
 * Questions in people's own words about thirteen projects, with answers that were found by reading, git grep and ctags.
 * `node tests/outside/questionnaire.ts [open|held-out] [NAME…]` asks them; without a half, only those that are open while the
 * offline model is worked on. questionnaire.txt has a question a line, and what its answer must have:
 *
 * - `has A ;; B`: each of these patterns
 * - `at PLACE…`, `files FILE…`: all of these places or files, and hardly any other
 * - `none`: that there is nothing
 * - `cannot`: nothing in the files says it, so only a refusal is right
 */
import {createHash} from 'node:crypto';
import {mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import PQueue from 'p-queue';
import {createUserEnvironment} from '../support/environment.ts';
import {unpackProject} from './ask-projects.ts';
import type {Source} from './downloads.ts';
import {findCitations} from './questions.ts';

const CLI = process.env.MINI_CC_CLI ?? path.resolve(import.meta.dirname, '../../dist/cli.js');

const debian = (name: string, file: RegExp, sha256: string): Source => ({from: {debian: name}, file, sha256});

/** Kotlin and Lua have no parser here. */
export const QUESTIONED: Readonly<Record<string, Source>> = {
  supervisor: debian(
    'supervisor',
    /^supervisor_.*\.orig\.tar\.gz$/,
    '34761bae1a23c58192281a5115fb07fbf22c9b0133c08166beffc70fed3ebc12',
  ),
  winston: debian(
    'node-winston',
    /^node-winston_.*\.orig\.tar\.gz$/,
    '6040af163c431e8c0faf95f344df7379b413dc79acd8f366b648cf7007fe2f01',
  ),
  got: debian(
    'node-got',
    /^node-got_[^-]*\.orig\.tar\.gz$/,
    '124be0df3766dec7fbe48f8b748fe9fc9f8b472078e0c9a14990742a04f50ff3',
  ),
  cobra: debian(
    'golang-github-spf13-cobra',
    /^golang-github-spf13-cobra_.*\.orig\.tar\.gz$/,
    'f38f8b26895903be06089ff20882fc771dbca12f41cf81d7bd823be65e6cec52',
  ),
  bat: debian(
    'rust-bat',
    /^rust-bat_.*\.orig\.tar\.gz$/,
    '390af597f3bece93f693ecfabbcc182b2ca473c8e29fcfdb2374b5e86207e4b5',
  ),
  jsoup: debian(
    'jsoup',
    /^jsoup_.*\.orig\.tar\.xz$/,
    '052511f0be47511f9b2a17d44fc1eccc4b5373e77cc5a3221e34b6af437e1e2e',
  ),
  jq: debian('jq', /^jq_.*\.orig\.tar\.gz$/, '3ba940b97571c866923f0409678033d33b5a98758dfc174fad8397ed908bc4d9'),
  leveldb: debian(
    'leveldb',
    /^leveldb_.*\.orig\.tar\.gz$/,
    '9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76',
  ),
  sidekiq: debian(
    'ruby-sidekiq',
    /^ruby-sidekiq_.*\.orig\.tar\.xz$/,
    '9b66aae6cfe8531410a75cbb78f953842b5524041e105f29aa2f928205607c09',
  ),
  monolog: debian(
    'php-monolog',
    /^php-monolog_.*\.orig\.tar\.xz$/,
    '55d7d62eee001d4e68fe0d53841ede53bd583f4e0e3a172877d9a939f4b3c79e',
  ),
  newtonsoft: debian(
    'newtonsoft-json',
    /^newtonsoft-json_.*\.orig\.tar\.gz$/,
    '3b7c77da971bbe1c6fdbb5cbb634d106a86aa30c82647abd9b23d2f31be0c630',
  ),
  argparse: debian(
    'lua-argparse',
    /^lua-argparse_.*\.orig\.tar\.gz$/,
    'd344e49404c3e7b3e7fa4fe6741c106f25909d9b24923cb08dcceda1f9754809',
  ),
  atomicfu: debian(
    'kotlinx-atomicfu',
    /^kotlinx-atomicfu_.*\.orig\.tar\.xz$/,
    '0fd2d309b5f95d6efbbd8e1626c9189bbef5fb5c66759206a38de41c5791d8ec',
  ),
};

/**
 * `right` is complete. `partly` lacks something and says nothing false. `beside` is a search of the text that says so and does
 * not have the answer. `wrong` claims what is not so, or answers another question as if it were this one.
 */
export type Verdict = 'right' | 'partly' | 'beside' | 'wrong' | 'refused';
export type Half = 'open' | 'held-out';

export interface PeopleQuestion {
  readonly project: string;
  readonly text: string;
  readonly kind: string;
  readonly wanted: readonly string[];
  readonly half: Half;
}

export interface Judged {
  readonly question: PeopleQuestion;
  readonly answer: string;
  readonly verdict: Verdict;
}

export function readQuestions(): readonly PeopleQuestion[] {
  const lines = readFileSync(path.join(import.meta.dirname, 'questionnaire.txt'), 'utf8')
    .trim()
    .split('\n');
  let project = '';
  return lines.flatMap((line) => {
    if (line.startsWith('# ')) {
      project = line.slice(2);
      return [];
    }
    const [text = '', expected = ''] = line.split(' => ');
    const [kind = ''] = expected.split(' ', 1);
    const rest = expected.slice(kind.length + 1);
    const wanted = rest === '' ? [] : kind === 'has' ? rest.split(' ;; ') : rest.split(/(?<!\\) /);
    // The seed of the split; it does not change.
    const hash = createHash('sha256').update(`2026-11-23 ${project} ${text}`).digest();
    return [{project, text, kind, wanted, half: hash[0]! % 2 === 0 ? ('open' as const) : ('held-out' as const)}];
  });
}

const REFUSED =
  /^(?:I cannot do this offline|Das kann ich offline nicht|Je ne peux pas|我无法|Без модели)|^[^\n]{0,80}offline[^\n]*:/i;
const BY_TEXT = /text search|by text|\d lines? with|named so:|Recherche de texte|Textsuche|文本搜索|поиск по тексту/i;
const NONE = /\bno\b|\bnot\b|\bnone\b|nothing|aucun|kein|没有|нет/i;

export function judge({kind, wanted}: PeopleQuestion, answer: string): Verdict {
  if (/^I cannot do this offline/.test(answer) || (REFUSED.test(answer) && findCitations(answer).length === 0))
    return 'refused';
  const missed = BY_TEXT.test(answer) ? 'beside' : 'wrong';
  if (kind === 'cannot') return missed;
  if (kind === 'none') return NONE.test(answer.split('\n\n')[0]!) ? 'right' : missed;
  if (kind === 'has') {
    const found = wanted.filter((pattern) => new RegExp(pattern.trim(), 'i').test(answer));
    return found.length === wanted.length ? 'right' : found.length > 0 ? 'partly' : missed;
  }
  const toClaim = (place: string) => (kind === 'files' ? place.replace(/:\d+$/, '') : place);
  const paths = answer.match(/(?:[\w@+.-]+\/)*[\w@+-][\w@.+-]*\.\w+/g) ?? [];
  const claimed = new Set(kind === 'files' ? paths : findCitations(answer));
  const want = new Set(wanted.map(toClaim));
  const found = [...want].filter((one) => claimed.has(one));
  if (found.length === 0) return missed;
  // The definition, and a few more, may be named with them.
  const others = [...claimed].filter((one) => !want.has(one)).length;
  if (others > want.size + 3 && missed === 'wrong') return 'wrong';
  return found.length === want.size ? 'right' : 'partly';
}

export async function askQuestions(
  questions: readonly PeopleQuestion[],
  downloads: string,
  base: string,
): Promise<readonly Judged[]> {
  const home = path.join(base, 'home');
  mkdirSync(home, {recursive: true});
  const env = {...createUserEnvironment(), HOME: home, MINI_CC_HOME: home};
  const roots = new Map(
    [...new Set(questions.map((one) => one.project))].map((project) => [
      project,
      unpackProject({...QUESTIONED[project]!, name: project}, downloads, base),
    ]),
  );
  const queue = new PQueue({concurrency: 2});
  return queue.addAll(
    questions.map((question) => async () => {
      const args = [CLI, '-p', question.text, '--offline'];
      const cwd = roots.get(question.project)!;
      const options = {cwd, env, extendEnv: false, reject: false, timeout: 120_000, stdin: 'ignore'} as const;
      const {stdout} = await execa(process.execPath, args, options);
      return {question, answer: stdout, verdict: judge(question, stdout)};
    }),
  );
}

export function countVerdicts(judged: readonly Judged[]): Readonly<Record<Verdict, number>> {
  const count = (verdict: Verdict) => judged.filter((one) => one.verdict === verdict).length;
  return {
    right: count('right'),
    partly: count('partly'),
    beside: count('beside'),
    wrong: count('wrong'),
    refused: count('refused'),
  };
}

async function main(words: readonly string[]): Promise<void> {
  const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-people-'));
  const downloads = process.env.MINI_CC_DOWNLOADS ?? path.join(base, 'downloads');
  mkdirSync(downloads, {recursive: true});
  const half = words[0] === 'held-out' ? 'held-out' : 'open';
  const names = words.filter((word) => word in QUESTIONED);
  const asked = readQuestions().filter(
    (one) => one.half === half && (names.length === 0 || names.includes(one.project)),
  );
  try {
    const judged = await askQuestions(asked, downloads, base);
    for (const {question, answer, verdict} of judged) {
      // What the held-out half is answered stays unseen, so that nothing is made for it.
      if (half === 'open')
        console.log(
          `== ${verdict}: ${question.project}: ${question.text}\n(${question.wanted.join(' ')})\n${answer}\n`,
        );
    }
    console.log(`${half}: ${judged.length} ${JSON.stringify(countVerdicts(judged))}`);
  } finally {
    rmSync(base, {recursive: true, force: true});
  }
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
