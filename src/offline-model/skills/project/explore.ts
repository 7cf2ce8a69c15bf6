/**
 * Handles "help me understand this project": the main agent starts explore agents; an explore agent explores and
 * reports.
 */

import {getLanguageByExtension, hasTests, isCodeLanguage} from '../../../core/util/file-kinds.ts';
import {citeInlineTests, compareDepth, getFolder, getPathRank} from '../../places.ts';
import {getReadmeOpening} from '../../prose.ts';
import {bullets, citeFact, clip, code, count, countListed, firstSentence, paragraphs} from '../../report.ts';
import type {Job, Route, Work} from '../../skill.ts';
import type {RankedFile} from '../../symbols.ts';
import {escapeRegExp, findPaths, findUnaccounted, looksLikeFile} from '../../words.ts';
import {delegate} from '../delegate.ts';
import {type ProjectView, viewProject} from './project-view.ts';

const ASKS =
  /\b(?:explor\w*|understand\w*|overview|big picture|architecture|structured?|organi[sz]ed|tour|onboard\w*|survey|summar\w*|what(?:'s| is| are| does| do)|describe|explain|analy[sz]e|introduce|introduction|get(?:ting)? started|(?:look|show me) around|know|familiari\w*|map|walk (?:me|us) through|study|tell me about|about)\b|comprendre|explique|présente|décri|erklär|beschreib|überblick|übersicht|worum geht|was ist das|изуч|объясни|разобраться|понять|обзор|расскажи|опиши|исследуй|проанализируй|что (?:это|за)|了解|解释|分析|介绍|探索|概述|架构|理解|说明|看看|是什么|干什么/iu;
const ABOUT =
  /\b(?:project|code ?base|repo(?:sitory)?|code|overview|big picture|summary|tour|introduction|architecture|structured?|organi[sz]ed|workspace|folder|directory|app(?:lication)?|program|software|solution|package|library|here|tests|scripts|explore)\b|^what(?:'s| is| does)(?: all)? this\b|^was ist das|^worum geht|überblick|übersicht|projet|dépôt|projekt|проект|репозитор|кодов|код|архитектур|项目|代码库|仓库|代码|工程|架构/iu;
/** Further words of such requests. Other words name something in the project. */
const DETAILS =
  /\b(?:dossiers?|help|works?|parts?|things?|everything|introduc\w*|start(?:ed)?|analysis|director\w*|folders|entry|entrypoints?|points?|languages?|commands?|documentation|docs|main|layout|stack|tech\w*|dependenc\w*|thorough\w*|deep\w*|brief\w*|short|quick\w*|detail\w*|high|level|important|key|purpose|around|learn|overall|general|whole|entire|full|first|current|different|together|design|patterns?|components?|reports?|run|ci|per|itself|built|lines?|aide|gib|kurz\w*|ganze\w*)\b|über(?!\p{L})/iu;

const REPORT = 'Report with file:line.';
const WHOLE = [
  `Explore this project: languages, entry points, main folders and documentation. ${REPORT}`,
  `Explore the tests and scripts of this project: where they are, how they run. ${REPORT}`,
];

/** Maximum number of files with many importers in a report. */
const MAX_RANKED = 6;
/** Number of folders in a report. */
const MAX_FOLDERS = 9;

export const explore: Route = (job) => {
  const {text} = job;
  if (!ASKS.test(text) || text.length > 800) return undefined;
  // "what is Workspace?" asks about one name.
  if (/^(?:what(?:'s| is)|explain|describe)\s+[`"']?[A-Z]\w*[`"']?[\s?.!]*$/.test(text)) return undefined;
  const paths = findPaths(text).filter((path) => path !== 'file:line');
  if (paths.some(looksLikeFile)) return undefined;
  const rest = ['file:line', ...paths]
    .reduce((words, path) => words.replace(path, ' '), text)
    .replace(/[\p{Script=Cyrillic}\p{Script=Han}]+/gu, ' ');
  const others = findUnaccounted(rest, [ASKS, ABOUT, DETAILS], job.project);
  // In "explore src and lib" the other words are folders. Elsewhere they name something that another skill answers.
  if (others.length > 0 && !EXPLORES.test(text)) return undefined;
  const named = text.match(/[\w@.-]*\w/g)?.filter((word) => others.includes(word.toLowerCase())) ?? [];
  const folders = [...new Set([...paths.map((path) => path.replace(/(.)\/$/, '$1')), ...named])];
  if (named.length < others.length || (!ABOUT.test(text) && folders.length === 0)) return undefined;
  return job.main && job.toolbox.agents.includes('explore')
    ? startExploreAgents(job, folders)
    : exploreHere(job, folders[0]);
};

/** Verbs that take folders. */
const EXPLORES = /^(?:explore|erkunde|изучи|исследуй|探索)/iu;

function startExploreAgents(job: Job, folders: readonly string[]): Work<string> {
  const prompts = folders.length > 0 ? folders.slice(0, 4).map((folder) => `Explore ${folder}/. ${REPORT}`) : WHOLE;
  return delegate(
    job,
    prompts.map((prompt) => ({agent: 'explore', prompt})),
  );
}

function* exploreHere(job: Job, scope: string | undefined): Work<string> {
  const view = yield* viewProject(job, scope);
  return typeof view === 'string' ? view : formatReport(view, job.text);
}

/** Says what the project is when its README opens with this name. Empty when it does not. */
export function* describeProject(name: string, job: Job): Work<string> {
  const view = yield* viewProject(job, undefined);
  if (typeof view === 'string' || !view.readme) return '';
  const opening = view.readme.lines
    .slice(0, 12)
    .map((line) => line.text)
    .join('\n');
  const isMeant = new RegExp(`(?<![\\w-])${escapeRegExp(name)}(?![\\w-])`, 'i').test(opening);
  return isMeant ? paragraphs(formatIdentity(view), formatLanguages(view)) : '';
}

/** @param asked a request that names only the tests, or only the entry points, gets no more than that */
function formatReport(view: ProjectView, asked: string): string {
  const [hasTests, hasEntries] = [/\btests\b/i.test(asked), /\bentry points\b/i.test(asked)];
  if (hasTests && !hasEntries) return paragraphs(formatTests(view), formatScripts(view));
  const isWhole = hasTests || !hasEntries;
  return paragraphs(
    formatIdentity(view),
    formatLanguages(view),
    formatEntries(view),
    formatRanked(view.ranked),
    formatFiles(view),
    formatFolders(view),
    isWhole && formatScripts(view),
    isWhole && formatTests(view),
    formatDocuments(view),
  );
}

function formatIdentity({facts, readme, place}: ProjectView): string | undefined {
  const main = facts.find((fact) => fact.name);
  const name = main?.name && `**${main.name.value}** (${main.path}:${main.name.line})`;
  const description =
    main?.description && `“${clip(main.description.value, 200)}” (${main.path}:${main.description.line})`;
  const prose = readme && getReadmeOpening(readme.lines);
  const said = prose && readme && `${readme.path}:${prose.number} says: “${firstSentence(prose.text)}”`;
  const where = place === undefined ? undefined : `In ${place}:`;
  return [where, [name, description].filter(Boolean).join(' — '), said].filter(Boolean).join('\n') || undefined;
}

export function formatLanguages({counts}: ProjectView): string {
  const byLanguage = new Map<string, number>();
  for (const [extension, files] of counts.extensions) {
    const language = getLanguageByExtension(extension);
    if (language !== undefined) byLanguage.set(language, (byLanguage.get(language) ?? 0) + files);
  }
  const list = [...byLanguage].sort(
    ([a, m], [b, n]) => Number(isCodeLanguage(b)) - Number(isCodeLanguage(a)) || n - m || (a < b ? -1 : 1),
  );
  const total = counts.isWhole
    ? `${count(counts.total, 'file')} in all`
    : `counted among the ${counts.total} newest files`;
  const named = list.slice(0, 6).map(([language, files]) => `${language} ${count(files, 'file')}`);
  return `**Languages**: ${named.join(', ') || 'none that I know'} (${total})`;
}

export function formatEntries({facts, entries: found, mains}: ProjectView): string {
  const declared = facts.flatMap((fact) =>
    fact.entries.map(
      (entry) => `${fact.path}:${entry.line} — ${entry.name}${entry.value ? `: ${code(entry.value)}` : ''}`,
    ),
  );
  const started = found.map(
    (entry) => `${entry.path}:${entry.line} — ${entry.header ? `“${firstSentence(entry.header)}”` : code(entry.text)}`,
  );
  const seen = new Set(found.map((entry) => entry.path));
  const others = mains
    .filter((hit) => !seen.has(hit.path) && getPathRank(hit.path) <= 2)
    .map((hit) => `${hit.path}:${hit.line} — ${code(hit.text)}`);
  const all = [...declared.slice(0, 5), ...started, ...others];
  return all.length > 0
    ? `**Entry points**\n${bullets(all, 10)}`
    : '**Entry points**: none found by name, manifest or main function.';
}

/** Formats the files that most other files import. */
function formatRanked(ranked: readonly RankedFile[]): string | undefined {
  const files = ranked.filter((one) => !one.isTest && one.importers > 1).slice(0, MAX_RANKED);
  if (files.length === 0) return undefined;
  const lines = files.map(
    (one) =>
      `${one.path} — imported by ${count(one.importers, 'file')}, ${count(one.definitions, 'definition')}, ${count(one.lines, 'line')}`,
  );
  return `**Most depends on**\n${bullets(lines)}`;
}

/** Names the files of the folder in the request itself. */
function formatFiles({paths, place, complete}: ProjectView): string | undefined {
  const own = paths.filter((path) => getFolder(path) === `${place}/`).toSorted();
  if (own.length === 0) return undefined;
  return `**Files**${complete ? '' : ` (of the ${paths.length} newest)`}\n${bullets(own, 20)}`;
}

function formatFolders({paths, counts, readme, place}: ProjectView): string | undefined {
  const inside = place === undefined ? '' : `${place}/`;
  const list = [...counts.folders]
    .filter(([folder]) => folder !== '.')
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  if (list.length === 0) return undefined;
  const about = counts.isWhole ? '' : ` (of the ${counts.total} newest files)`;
  const lines = list.slice(0, MAX_FOLDERS).map(([name, files]) => {
    const folder = `${inside}${name}/`;
    const own = paths
      .filter((path) => path.startsWith(folder))
      .toSorted((a, b) => getPathRank(a) - getPathRank(b) || compareDepth(a, b));
    const said = findMention(folder, readme);
    return `${folder} (${count(files, 'file')})${listNames(folder, own, files)}${said ? ` — ${said}` : ''}`;
  });
  return `**Folders**${about}\n${bullets(lines, MAX_FOLDERS, Math.max(0, list.length - MAX_FOLDERS))}`;
}

/** Names the first files of a folder. @param total number of its files, also of those that are not listed */
function listNames(folder: string, paths: readonly string[], total: number): string {
  const names = paths.slice(0, 4).map((path) => path.replace(folder, ''));
  return names.length > 0 ? `: ${names.join(', ')}${total > names.length ? ', …' : ''}` : '';
}

/** Finds what the README says about a folder. */
function findMention(folder: string, readme: ProjectView['readme']): string | undefined {
  const form = new RegExp(`(?<![\\w/])${escapeRegExp(folder)}[\`\\s|:*–—-]*(\\p{L}.*\\s.*)$`, 'u');
  for (const {text, number} of readme?.lines ?? []) {
    const words = form.exec(text)?.[1]?.replace(/[\s|]+$/, '') ?? '';
    if (words.length > 10) return `${readme!.path}:${number} “${clip(words, 90)}”`;
  }
  return undefined;
}

function formatScripts({facts}: ProjectView): string {
  const all = facts.flatMap((fact) => fact.scripts.map((one) => citeFact(fact.path, one)));
  return all.length > 0 ? `**Scripts**\n${bullets(all, 10)}` : '**Scripts**: none in the manifests found.';
}

function formatTests({tests: found, facts, inline}: ProjectView): string {
  const listed = found.paths.filter((path) => hasTests(path) && getPathRank(path) === 1).toSorted();
  const {path, test} = facts.find((fact) => fact.test) ?? {};
  const how = test
    ? `Run with \`${test.name}\`${test.value && ` (${code(test.value)})`}, ${path}:${test.line}.`
    : 'I found no command that runs them.';
  const folders = [...Map.groupBy(listed, getFolder)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([folder, files]) => `${folder} (${count(files.length, 'file')})${listNames(folder, files, files.length)}`);
  const among = inline.slice(0, 6).map(citeInlineTests).join(', ');
  const size = `${countListed(listed.length, found.more, 'test file')}${among && `; in code files: ${among}`}`;
  return `**Tests**: ${size}${inline.length > 6 ? ', …' : ''}. ${how}\n${bullets(folders, 8)}`;
}

function formatDocuments({documents: found}: ProjectView): string | undefined {
  return found.length > 0 ? `**Documents**: ${found.slice(0, 6).join(', ')}` : undefined;
}
