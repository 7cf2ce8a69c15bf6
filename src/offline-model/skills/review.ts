/** "review X": simple checks by search and by counting lines. Each finding has a file and line. */
import {inlineTestSearch, inlineTests, isCode, isGenerated, isTest} from '../languages.ts';
import {bullets, citeHit, count, getProblem, getReason, isCannot, notDone, paragraphs} from '../report.ts';
import {type Hit, type Hits, type Paths, parseCounts, parseHits, parseLines, parsePaths} from '../results.ts';
import {ask, askOne, type Job, NOT_MADE, type Route, type Work} from '../skill.ts';
import {findPaths, looksLikeFile} from '../words.ts';
import {delegate} from './delegate.ts';
import {CHECKS, type Check, longFunctions} from './review-checks.ts';

const REVIEW =
  /^(?:(?:do|make|run|give me|perform|start)\s+(?:me\s+)?(?:a|an|the)?\s*)?(?:quick |thorough |full |short )?(?:code[- ]?)?(?:review|audit|critique|lint|check(?=\s+(?:the |my |this )?(?:code|quality|src|for (?:bugs|problems|issues)|\S*\/))|find (?:any )?(?:bugs|problems|issues|code smells)|relis|relire|revois|revue|проверь|проведи ревью|ревью|сделай ревью|审查|评审|检查|代码审查)(?![\w-])/iu;
const CHANGES =
  /\b(?:my |the |these |uncommitted |recent |latest |staged |current )*(?:changes|diff|modifications|edits|work)\b|изменени|modifications|改动|变更/iu;
/** Lines above which a file is long. */
const LONG_FILE = 500;
/** Findings shown of one kind. */
const MAX_FINDINGS = 8;

export const review: Route = (job) => {
  if (!REVIEW.test(job.text) && job.role !== 'review') return undefined;
  const reviewer = job.main ? job.toolbox.agents.find((name) => /review/.test(name)) : undefined;
  if (reviewer !== undefined)
    return delegate(job, [
      {agent: reviewer, description: job.text.split(/\s+/).slice(0, 5).join(' '), prompt: job.text},
    ]);
  return reviewAll(job);
};

function* reviewAll(job: Job): Work<string> {
  const named = findPaths(job.text);
  const place = /\b(?:review|audit|check|in|of)\s+(?:the\s+)?(src|lib|app|tests?|core|scripts)\b/i.exec(job.text)?.[1];
  const scopes =
    CHANGES.test(job.text) && named.length === 0
      ? yield* changedFiles(job)
      : named.length > 0
        ? named
        : place
          ? [place]
          : [undefined];
  if (typeof scopes === 'string') return scopes;
  const answers: string[] = [];
  for (const scope of scopes.slice(0, 3)) answers.push(yield* reviewScope(scope?.replace(/(.)\/$/, '$1'), job));
  const left = scopes.length - 3;
  const failed = answers.filter(isCannot);
  if (failed.length === answers.length && left <= 0) return paragraphs(...failed);
  return paragraphs(
    ...failed,
    ...answers.filter((one) => !isCannot(one)),
    left > 0 && `Not reviewed, to keep this short: ${scopes.slice(3, 13).join(', ')}.`,
    'These are simple checks by search. I do not understand the code.',
  );
}

function* changedFiles(job: Job): Work<readonly (string | undefined)[] | string> {
  const call = job.toolbox.bash(
    'git diff HEAD --name-only --relative --diff-filter=d && git ls-files -o --exclude-standard',
    'List changed files',
  );
  if (!call) return notDone('I have no bash tool here, so I cannot see what changed. Name a file or folder to review.');
  const result = yield* askOne(call);
  if (result.outcome !== 'ok') return notDone('git did not say what changed here. Name a file or folder to review.');
  const paths = parsePaths(result).paths.filter((path) => isCode(path) && !isGenerated(path));
  return paths.length > 0 ? paths : 'No changed code files: there is nothing to review.';
}

function* reviewScope(scope: string | undefined, job: Job): Work<string> {
  const {toolbox} = job;
  const oneFile = scope !== undefined && looksLikeFile(scope);
  const results = yield* ask([
    toolbox.search({pattern: '^', path: scope, mode: 'count', limit: 500}),
    oneFile
      ? toolbox.files(`**/*${getBaseName(scope)}*`, {limit: 40})
      : toolbox.files('**/*', {path: scope, limit: 400}),
    ...CHECKS.map((check) => toolbox.search({pattern: check.pattern, path: scope, limit: 60})),
    toolbox.search(inlineTestSearch(scope)),
  ]);
  const searched = results.slice(2, -1).map(parseHits);
  const tested = new Set(inlineTests(parseHits(results.at(-1)!).hits).map((one) => one.path));
  const failed = results.slice(2).find((one) => one.outcome === 'failed');
  if (!searched.some((one) => one.known))
    return failed && !oneFile
      ? notDone(`I could not review ${scope ?? 'the project'}: ${getProblem(failed)}.`)
      : yield* reviewByReading(scope, job);
  const lengths = [...parseCounts(results[0]!)]
    .filter(([path]) => isCode(path) && !isGenerated(path))
    .sort(([, a], [, b]) => b - a);
  const files = oneFile && lengths.length === 0 ? [scope] : lengths.map(([path]) => path);
  const longest = (oneFile ? [scope] : files.filter((path) => !isTest(path))).slice(0, 3);
  const texts = yield* ask(longest.map((path) => toolbox.read(path)));
  const long = longest.flatMap((path, index) => longFunctions(path, parseLines(texts[index]) ?? []));
  if (oneFile && texts[0] && texts[0].outcome !== 'ok')
    return notDone(`I could not read ${scope}: ${getReason(texts[0])}.`);
  if (files.length === 0) return notDone(`no code files in ${scope ?? 'this project'}: nothing to review.`);
  const longFiles = lengths
    .filter(([, lines]) => lines > LONG_FILE)
    .map(([path, lines]) => `${path}:${LONG_FILE} — ${count(lines, 'line')}`);
  const untested = findUntested(
    files.filter((path) => !tested.has(path)),
    parsePaths(results[1]!),
    oneFile,
  );
  const titled = [
    ...CHECKS.map((check, index) => formatFindings(check, searched[index]!)),
    formatSection('Long functions', long),
    formatSection('Long files', longFiles),
    formatSection('Without a test of the same name', untested),
  ].filter((one) => one !== '');
  const where = `${scope ?? 'this project'}${oneFile ? '' : ` (${count(files.length, 'code file')})`}`;
  return paragraphs(
    `Review of ${where}: ${titled.length === 0 ? 'the simple checks found nothing.' : `${count(titled.length, 'kind')} of findings.`}`,
    ...titled,
  );
}

/** Without a search tool: reads the named file and checks its lines. */
function* reviewByReading(scope: string | undefined, job: Job): Work<string> {
  const result = scope === undefined ? NOT_MADE : yield* askOne(job.toolbox.read(scope));
  const lines = parseLines(result);
  if (result.outcome === 'failed') return notDone(`I could not read ${scope}: ${getProblem(result)}.`);
  if (!lines || scope === undefined)
    return notDone(`I have no tool here that can search ${scope ?? 'the project'}, so I did not review it.`);
  const hits: readonly Hit[] = lines.map((line) => ({path: scope, line: line.number, text: line.text}));
  const titled = CHECKS.map((check) => {
    const found = hits.filter((hit) => new RegExp(check.pattern).test(hit.text));
    return formatFindings(check, {hits: found, more: 0, known: true});
  }).filter((one) => one !== '');
  const long = formatSection('Long functions', longFunctions(scope, lines));
  return paragraphs(
    `Review of ${scope} (${count(lines.length, 'line')}): ${titled.length === 0 && long === '' ? 'the simple checks found nothing.' : ''}`,
    ...titled,
    long,
  );
}

/** The hits in the project's own code that count for the check. */
function formatFindings({title, isReal, inTests}: Check, {hits, more}: Hits): string {
  const found = hits.filter(
    ({path, text}) => isCode(path) && !isGenerated(path) && (inTests || !isTest(path)) && isReal(text),
  );
  return formatSection(title, found.map(citeHit), more);
}

function formatSection(title: string, items: readonly string[], more: number | undefined = 0): string {
  if (items.length === 0) return '';
  const size = more === 0 ? String(items.length) : `at least ${items.length}`;
  return `**${title}** (${size})\n${bullets(items, MAX_FINDINGS)}`;
}

function findUntested(files: readonly string[], listed: Paths, oneFile: boolean): readonly string[] {
  const tests = [...new Set([...listed.paths, ...files])].filter(isTest);
  // When the reviewed part has no tests at all, they may be elsewhere.
  if (!listed.known || listed.more !== 0 || (!oneFile && tests.length === 0)) return [];
  const names = tests.map((path) => path.replace(/^.*\//, '').toLowerCase());
  const sources = files.filter((path) => !isTest(path));
  return sources.filter((path) => !names.some((name) => name.includes(getBaseName(path).toLowerCase())));
}

function getBaseName(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.\w+$/, '');
}
