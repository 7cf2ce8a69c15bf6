/** "plan X": the relevant files, steps, tests and risks, by searches. */

import {parseDefinition, wordPattern} from '../definitions.ts';
import {isCode, isTest} from '../languages.ts';
import {MANIFESTS, readManifests} from '../manifests.ts';
import {findRelevantFiles, type RelevantFile} from '../relevant-files.ts';
import {bullets, citeHit, clip, count, notDone, paragraphs} from '../report.ts';
import {parseHits, parsePaths} from '../results.ts';
import {ask, type Job, type Route, type Work} from '../skill.ts';
import {delegate} from './delegate.ts';

const PLAN =
  /^(?:(?:make|write|draft|create|give me|prepare|propose|sketch)\s+(?:me\s+)?(?:a|an|the)\s+(?:\w+\s+)?(?:plan|design)\s*(?:for|to|of|on how to)?|plan(?:\s+(?:out|how to|for|to|the))?|design|how (?:would|should|could|can) (?:you|i|we) (?:implement|add|build|change|support|fix|refactor)|(?:what|which) (?:files|places) (?:would|need|must|should)\b[^?]*?(?:to|for)|planifie[rz]?|conçois|спланируй|составь план|план|计划|规划|设计)(?![\w-])[\s:：]*/iu;

export const plan: Route = (job) => {
  const asked = PLAN.exec(job.text);
  if (!asked && job.role !== 'plan') return undefined;
  const goal = asked ? job.text.slice(asked[0].length).trim() : job.text;
  if (goal === '') return undefined;
  if (job.main && job.toolbox.agents.includes('plan')) {
    return delegate(job, [{agent: 'plan', description: `plan ${shortGoal(goal)}`, prompt: `Plan: ${goal}`}]);
  }
  return writePlan(goal, job);
};

/** The first words of the goal, for the progress line. */
function shortGoal(goal: string): string {
  return clip(
    goal
      .replace(/[^\p{L}\p{N}\s_.-]/gu, ' ')
      .trim()
      .split(/\s+/)
      .slice(0, 4)
      .join(' '),
    40,
  );
}

function* writePlan(goal: string, job: Job): Work<string> {
  const {words, files, searched} = yield* findRelevantFiles(job.toolbox, goal);
  const sources = files.filter((file) => isCode(file.path) && !isTest(file.path)).slice(0, 5);
  const tests = files.filter((file) => isTest(file.path)).slice(0, 4);
  const names = getDefinedNames(sources).slice(0, 3);
  const [manifests, ...using] = yield* ask([
    job.toolbox.files(MANIFESTS, {limit: 300}),
    ...names.map((name) => job.toolbox.search({pattern: wordPattern(name), mode: 'files', limit: 60})),
  ]);
  const manifest = parsePaths(manifests!).paths.filter((path) => !path.includes('/'))[0];
  const [facts] = yield* readManifests(manifest === undefined ? [] : [manifest], job, 300);
  const check = facts?.test;
  const users = names.map((name, index) => ({
    name,
    files: getFiles(using[index]!).filter((path) => !sources.some((one) => one.path === path)),
  }));
  const head = `Plan for: ${clip(goal, 160)}\n\nMade by rules from a search for ${words.map((word) => `\`${word}\``).join(', ') || 'nothing: the text names nothing to search for'}; I do not understand the code, so judge each step.`;
  if (!searched) return notDone('I could not search the files, so I made no plan.');
  if (sources.length + tests.length === 0) return paragraphs(head, formatNewPlan(files));
  return paragraphs(
    head,
    `**Relevant files**\n${bullets(sources.map(formatFile))}`,
    `**Steps**\n${formatSteps(sources, tests, users, check && `\`${check.name}\` (${manifest}:${check.line})`)}`,
    `**Risks**\n${formatRisks(sources, tests, users)}`,
  );
}

function formatFile(file: RelevantFile): string {
  if (!file.best) return `${file.path} (by its name)`;
  const kind = parseDefinition(file.best.text)?.kind;
  return `${citeHit({...file.best, kind})} (${file.words.join(', ')})`;
}

function formatPlace(file: RelevantFile): string {
  return file.best ? `${file.path}:${file.best.line}` : file.path;
}

function getDefinedNames(files: readonly RelevantFile[]): readonly string[] {
  const names = files.flatMap((file) =>
    file.definitions.flatMap((hit) => (/^\S/.test(hit.text) ? (parseDefinition(hit.text)?.name ?? []) : [])),
  );
  return [...new Set(names)].filter((name) => name.length > 3);
}

function getFiles(observation: Parameters<typeof parsePaths>[0]): readonly string[] {
  const {hits} = parseHits(observation);
  return hits.length > 0 ? [...new Set(hits.map((hit) => hit.path))] : parsePaths(observation).paths;
}

/** A name that the relevant files define, and the other files that use it. */
type Users = {readonly name: string; readonly files: readonly string[]};

function formatSteps(
  sources: readonly RelevantFile[],
  tests: readonly RelevantFile[],
  users: readonly Users[],
  check: string | undefined,
): string {
  const used = users.filter((one) => one.files.length > 0);
  const list = [
    sources.length > 0 &&
      `Read ${sources.slice(0, 3).map(formatPlace).join(', ')}: they contain most of the words of the request.`,
    sources.length > 0 &&
      `Change ${formatPlace(sources[0]!)} first${sources.length > 1 ? `, then ${sources.slice(1, 3).map(formatPlace).join(', ')}` : ''}.`,
    used.length > 0 &&
      `Follow up where these are used: ${used.map((one) => `\`${one.name}\` in ${one.files.slice(0, 3).join(', ')}${one.files.length > 3 ? ` and ${one.files.length - 3} more` : ''}`).join('; ')}.`,
    tests.length > 0
      ? `Extend the tests: ${tests.map(formatPlace).join(', ')}.`
      : 'Add a test: no test was found for it.',
    check === undefined ? 'Run the checks of the project; I found no command for them.' : `Run ${check}.`,
  ];
  return list
    .filter((one): one is string => typeof one === 'string')
    .map((one, index) => `${index + 1}. ${one}`)
    .join('\n');
}

function formatRisks(
  sources: readonly RelevantFile[],
  tests: readonly RelevantFile[],
  users: readonly Users[],
): string {
  const wide = users.filter((one) => one.files.length >= 5);
  const untested = sources
    .map((file) => file.path)
    .filter((path) => !tests.some((test) => test.path.includes(path.replace(/^.*\//, '').replace(/\.\w+$/, ''))));
  return bullets([
    ...wide.map(
      (one) => `\`${one.name}\` is used in ${count(one.files.length, 'other file')}: a change affects them all.`,
    ),
    ...(untested.length > 0 ? [`No test among those found is named after ${untested.slice(0, 3).join(', ')}.`] : []),
    'Code that uses other words than the request was not found.',
  ]);
}

function formatNewPlan(files: readonly RelevantFile[]): string {
  const near = files.slice(0, 5).map(formatPlace);
  return paragraphs(
    `No source file contains these words${near.length > 0 ? `, only ${near.join(', ')}` : ''}. It seems to be new here.`,
    '1. Decide where it belongs: explore the project first.\n2. Write it with a test beside it.\n3. Wire it in at the entry point.\n4. Run the checks.',
  );
}
