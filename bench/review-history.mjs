/**
 * Draws cases for the finders of `mini-cc review` from a repository's history: commits that a later one mended.
 * `node bench/review-history.mjs REPOSITORY [--count 10] [--since 2024-01-01] [--agent review-correctness] [--out FILE]`
 *
 * A commit whose message says that it mends something, and that replaces a few lines of code, is followed back: the
 * commit that wrote all of these lines is the case, if its change is small enough to be read at once.
 */
import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {parseArgs} from 'node:util';

const MENDS = /\b(?:fix(?:es|ed)?|bug|regression|off.by.one|crash(?:es|ed)?|race|leak)\b/i;
/** Messages of commits that mend no behaviour. */
const NO_FAULT =
  /typo|typing|lint|ruff|too.long|format|spelling|docs?\b|documentation|docstring|comment|changelog|readme|\bci\b|\btests?\b|version|merge/i;
const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|rb|php|cs|c|cc|cpp|h|hpp|kt|swift)$/;
const TEST =
  /(?:^|\/)(?:tests?|spec|__tests__|fixtures?|examples?|vendor|dist)\/|[._](?:test|spec)\.|_test\.go$|(?:^|\/)test_/;
const MAX_MENDED = 12;
const MAX_CHANGED = 300;

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    count: {type: 'string', default: '10'},
    since: {type: 'string', default: '1970-01-01'},
    agent: {type: 'string', default: 'review-correctness'},
    out: {type: 'string'},
  },
});
const [repository] = positionals;
if (repository === undefined || !(Number(values.count) > 0)) {
  process.stderr.write('usage: node bench/review-history.mjs REPOSITORY [--count N] [--since DATE] [--out FILE]\n');
  process.exit(2);
}

function git(...args) {
  const options = {cwd: repository, encoding: 'utf8', maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'ignore']};
  return execFileSync('git', ['-c', 'core.quotePath=false', ...args], options);
}

/** Returns the lines of a file that a commit removes, by their numbers before it. */
function listRemoved(commit, file) {
  const patch = git('diff', '--unified=0', `${commit}^`, commit, '--', file);
  return [...patch.matchAll(/^@@ -(\d+)(?:,(\d+))? /gm)].flatMap(([, from, count = '1']) =>
    Array.from({length: Number(count)}, (_, index) => Number(from) + index),
  );
}

/** Returns who wrote the lines, each with the number that it had in that commit. */
function blame(commit, file, lines) {
  const ranges = lines.flatMap((line) => ['-L', `${line},${line}`]);
  const text = git('blame', '--line-porcelain', '-w', ...ranges, `${commit}^`, '--', file);
  return [...text.matchAll(/^([0-9a-f]{40}) (\d+) \d+(?: \d+)?\n(?:(?!\t).*\n)*?filename (.*)\n/gm)].map(
    ([, id, line, name]) => ({id, line: Number(line), name}),
  );
}

/** @returns the case that a mending commit leads to; undefined when there is none */
function toCase(mending) {
  const files = git('diff', '--name-only', '--diff-filter=M', `${mending}^`, mending).trim().split('\n');
  const code = files.filter((file) => CODE.test(file) && !TEST.test(file));
  if (code.length !== 1) return undefined;
  const removed = listRemoved(mending, code[0]);
  if (removed.length === 0 || removed.length > MAX_MENDED) return undefined;
  const written = blame(mending, code[0], removed);
  const [first] = written;
  if (!first || written.some(({id, name}) => id !== first.id || name !== first.name)) return undefined;
  const {id, name} = first;
  if (git('rev-list', '--parents', '--max-count=1', id).trim().split(' ').length !== 2) return undefined;
  const [added, gone] = git('diff', '--numstat', `${id}^`, id, '--', name).split('\t').map(Number);
  if (!(added + gone <= MAX_CHANGED)) return undefined;
  const hunks = git('diff', '--unified=3', `${id}^`, id, '--', name)
    .replace(/^(?:(?!@@).*\n)+/, '')
    .trimEnd();
  const lines = [...new Set(written.map(({line}) => line))].sort((a, b) => a - b);
  const subject = git('show', '--no-patch', '--format=%s', mending).trim();
  return {
    id: `${id.slice(0, 10)}-mended-by-${mending.slice(0, 10)}`,
    commit: id,
    prompt: [
      'Review this change of 1 files against the commit before it. Paths are relative to the working directory. At most 3 findings, the gravest first.',
      `# ${name} (changed, +${added} -${gone})\n<hunks>\n${hunks}\n</hunks>`,
    ].join('\n\n'),
    expected_output: `${name}:${lines.join(', ')}: mended later by ${mending} (${subject})`,
    checks: [{answer: {matches: `"line":\\s*(?:${listAround(lines).join('|')})\\b`}}, {unchanged: ['**']}],
    assertions: [`A finding is about what this later message says: ${subject}`],
  };
}

/** A finding may begin up to two lines before or after a mended line. */
function listAround(lines) {
  const near = lines.flatMap((line) => [-2, -1, 0, 1, 2].map((step) => line + step)).filter((line) => line > 0);
  return [...new Set(near)].sort((a, b) => a - b);
}

const found = [];
const seen = new Set();
const log = git('log', '--no-merges', `--since=${values.since}`, '--format=%H %s').trim();
for (const line of log === '' ? [] : log.split('\n')) {
  const [mending, subject] = [line.slice(0, 40), line.slice(41)];
  if (found.length >= Number(values.count)) break;
  if (!MENDS.test(subject) || NO_FAULT.test(subject)) continue;
  let drawn;
  try {
    drawn = toCase(mending);
  } catch {
    // The first commit of a history has none before it; a file may be no text.
    continue;
  }
  if (!drawn || seen.has(drawn.commit)) continue;
  seen.add(drawn.commit);
  found.push(drawn);
  process.stdout.write(`${drawn.id}  ${subject}\n`);
}
if (found.length === 0) {
  process.stderr.write('no commit was found that a later one mended in a few lines\n');
  process.exit(1);
}
const out = values.out ?? path.join(repository, '.mini-cc', 'evals', `${values.agent}.json`);
mkdirSync(path.dirname(out), {recursive: true});
writeFileSync(out, `${JSON.stringify({agent_name: values.agent, evals: found}, null, 2)}\n`);
process.stdout.write(`${found.length} cases in ${out}\n`);
