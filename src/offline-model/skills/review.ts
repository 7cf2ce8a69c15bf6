/** Handles "review X": reports what the syntax tree and some searches find. Each finding has a file and line. */
import {isCode, isGenerated} from '../../core/util/file-kinds.ts';
import {getPathRank} from '../places.ts';
import {bullets, citeHit, count, getReason, isCannot, joinAnswers, notDone, paragraphs} from '../report.ts';
import {parseHits, parsePaths} from '../results.ts';
import {ask, askOne, inTurn, type Job, type Route, type Work} from '../skill.ts';
import {parseSyntax} from '../symbols.ts';
import {findPaths, isComment, isQuoted} from '../words.ts';
import {delegate} from './delegate.ts';

const REVIEW =
  /^(?:(?:do|make|run|give me|perform|start)\s+(?:me\s+)?(?:a|an|the)?\s*)?(?:quick |thorough |full |short )?(?:code[- ]?)?(?:review|audit|critique|lint|check(?=\s+(?:the |my |this )?(?:code|quality|src|for (?:bugs|problems|issues)|\S*\/))|find (?:any )?(?:bugs|problems|issues|code smells)|relis|relire|revois|revue|prüfe?|überprüfe?|begutachte?|проверь|проведи ревью|ревью|сделай ревью|审查|评审|检查|代码审查)(?![\w-])/iu;
const CHANGES =
  /\b(?:my |the |these |uncommitted |recent |latest |staged |current )*(?:changes|diff|modifications|edits|work)\b|änderungen|изменени|modifications|改动|变更/iu;
/** Number of findings of one kind that are shown. */
const MAX_FINDINGS = 8;
/** Maximum number of files or folders in one review. */
const MAX_SCOPES = 8;

export const review: Route = (job) => {
  const isDiff = /^diff --git /m.test(job.text) && /\breview|\baudit|проверь|审查|prüf|relis/iu.test(job.text);
  if (!isDiff && !REVIEW.test(job.text) && job.role !== 'review') return undefined;
  const reviewer = job.main ? job.toolbox.agents.find((name) => /review/.test(name)) : undefined;
  if (reviewer !== undefined) return delegate(job, [{agent: reviewer, prompt: job.text}]);
  return reviewAll(job);
};

function* reviewAll(job: Job): Work<string> {
  // The paths of a diff begin with `a/` and `b/`, which are no folders.
  const diffed = [...job.text.matchAll(/^\+\+\+ (?:b\/)?([^\t\n]+)/gm)]
    .map((match) => match[1]!)
    .filter((path) => path !== '/dev/null');
  const code = diffed.filter(isCode);
  if (diffed.length > 0 && code.length === 0)
    return 'The diff changes no code files: there is nothing to review by rule.';
  const named = diffed.length > 0 ? code : findPaths(job.text);
  const place = /\b(?:review|audit|check|in|of)\s+(?:the\s+)?(src|lib|app|tests?|core|scripts)\b/i.exec(job.text)?.[1];
  const scopes =
    CHANGES.test(job.text) && named.length === 0 ? yield* changedFiles(job) : named.length > 0 ? named : [place ?? '.'];
  if (typeof scopes === 'string') return scopes;
  const shown = scopes.slice(0, MAX_SCOPES).map((scope) => reviewScope(scope.replace(/(.)\/$/, '$1'), job));
  const answers = yield* inTurn(shown);
  const left = scopes.slice(MAX_SCOPES);
  return paragraphs(
    joinAnswers(answers),
    left.length > 0 && `Not reviewed, to keep this short: ${left.slice(0, 10).join(', ')}.`,
    !answers.every(isCannot) && 'These are checks by rule. I do not understand the code.',
  );
}

function* changedFiles(job: Job): Work<readonly string[] | string> {
  const command = 'git diff HEAD --name-only --relative --diff-filter=d && git ls-files -o --exclude-standard';
  const result = yield* askOne(job.toolbox.bash(command, 'List changed files'));
  if (result.outcome !== 'ok')
    return notDone(`git did not say what changed: ${getReason(result)}. Name a file or folder to review.`);
  const paths = parsePaths(result).paths.filter((path) => isCode(path) && !isGenerated(path));
  return paths.length > 0 ? paths : 'No changed code files: there is nothing to review.';
}

/** Returns whether the line has such a mark in a comment, and not in a string or a pattern. */
export function isMarkedUnfinished(line: string): boolean {
  const mark = /\b(?:todo|TODO|Todo|fixme|FIXME|FixMe|XXX|HACK)\b/;
  if (isComment(line)) return mark.test(line);
  const comment = /(?:^|\s)(?:\/\/|\/\*|#)\s*(?=\S)/.exec(line);
  return comment !== null && !isQuoted(line, comment.index) && mark.test(line.slice(comment.index));
}

/** Regular expressions that ripgrep, `grep -E` and JavaScript all understand. */
const MARKS = '\\b(TODO|FIXME|XXX|HACK)\\b';
const SECRETS =
  '(api_?key|secret|password|token)[a-z_]*["\']?\\s*[:=]\\s*["\'][a-z0-9_/+=-]{12,}["\']|akia[0-9a-z]{16}|-----begin [a-z ]*private key-----';
const NO_SECRET = /process\.env|example|placeholder|your[-_]|xxxx|<[a-z]+>|test/i;

function* reviewScope(scope: string, job: Job): Work<string> {
  const {toolbox} = job;
  const path = scope === '.' ? undefined : scope;
  const where = path ?? 'this project';
  const hasSyntax = toolbox.has('symbols');
  const results = yield* ask([
    toolbox.search({pattern: `${SECRETS}|${MARKS}`, ignoreCase: true, path, limit: 400}),
    ...(hasSyntax ? [toolbox.symbols('syntax', {path: scope})] : []),
  ]);
  const bad = results.find((one) => one.outcome !== 'ok');
  if (bad) return notDone(`I could not review ${where}: ${getReason(bad)}.`);
  const {found, files, open} = parseSyntax(results[1]);
  if (files === 0 && hasSyntax) return notDone(`no code files in ${where}: nothing to review.`);
  const {hits} = parseHits(results[0]!);
  const marks = hits.filter(({path, text}) => isCode(path) && !isGenerated(path) && isMarkedUnfinished(text));
  const secrets = hits.filter((hit) => {
    return getPathRank(hit.path) === 0 && new RegExp(SECRETS, 'i').test(hit.text) && !NO_SECRET.test(hit.text);
  });
  const findings = [
    ...found.map(({title, path, line, text}) => ({title, item: `${path}:${line} — ${text}`})),
    ...secrets.map((hit) => ({title: 'Possible secrets in code', item: citeHit(hit)})),
    ...marks.map((hit) => ({title: 'Marked as unfinished', item: citeHit(hit)})),
  ];
  const sections = [...Map.groupBy(findings, (one) => one.title)].map(
    ([title, ones]) =>
      `**${title}** (${ones.length})\n${bullets(
        ones.map((one) => one.item),
        MAX_FINDINGS,
      )}`,
  );
  return paragraphs(
    `Review of ${where}${hasSyntax ? ` (${count(files, 'code file')})` : ', by searches alone: this agent has no `symbols` tool'}: ${sections.length === 0 ? 'the checks found nothing.' : `${count(sections.length, 'kind')} of findings.`}`,
    ...sections,
    open !== '' && `Not reviewed: ${open}.`,
  );
}
