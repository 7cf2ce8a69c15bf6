/**
 * Handles "help me understand this project": the main agent starts explore agents; an explore agent explores and
 * reports.
 */

import {getLanguageByExtension, hasTests, isCodeLanguage} from '../../../core/util/file-kinds.ts';
import {findSpeech, type Language, phrase} from '../../language.ts';
import {citeInlineTests, compareDepth, getFolder, getPathRank} from '../../places.ts';
import {getReadmeOpening} from '../../prose.ts';
import {bullets, citeFact, citeHit, clip, code, firstSentence, paragraphs} from '../../report.ts';
import type {Job, Route, Work} from '../../skill.ts';
import {escapeRegExp, findIdentifiers, findPaths, findUnaccounted, looksLikeFile} from '../../words.ts';
import {delegate} from '../delegate.ts';
import {type ProjectView, viewProject} from './project-view.ts';

const ASKS =
  /\b(?:explor\w*|understand\w*|overview|big picture|architecture|structured?|organi[sz]ed|tour|onboard\w*|survey|summar\w*|what(?:'s| is| are| does| do)|describe|explain|analy[sz]e|introduce|introduction|get(?:ting)? started|(?:look|show me) around|know|familiari\w*|map|walk (?:me|us) through|study|tell me about|about)\b|comprendre|qu'est-ce que|explique|présente|décri|erklär|beschreib|überblick|übersicht|worum geht|was ist das|изуч|объясни|разобраться|понять|обзор|расскажи|опиши|исследуй|проанализируй|что (?:это|за)|了解|解释|分析|介绍|探索|概述|架构|理解|说明|看看|是什么|[干做]什么/iu;
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
  // "what is Workspace?" and "what does App.run do?" ask about one name.
  const isName = /^(?:what(?:'s| is)|explain|describe)\s+[`"']?[A-Z]\w*[`"']?[\s?.!]*$/.test(text);
  if (isName || findIdentifiers(text).some((name) => name.includes('.'))) return undefined;
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
  // The agents answer in the language of their prompts.
  const asked = findSpeech(job.text) === 'en' ? '' : `\n${job.text}`;
  return delegate(
    job,
    prompts.map((prompt) => ({agent: 'explore', prompt: `${prompt}${asked}`})),
  );
}

function* exploreHere(job: Job, scope: string | undefined): Work<string> {
  const view = yield* viewProject(job, scope);
  return typeof view === 'string' ? view : formatReport(view, job.text);
}

/** Returns what the README says of the project when it opens with this name, otherwise an empty text. */
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
    formatRanked(view),
    formatFiles(view),
    formatFolders(view),
    isWhole && formatScripts(view),
    isWhole && formatTests(view),
    formatDocuments(view),
  );
}

function formatIdentity({facts, language, readme, place}: ProjectView): string | undefined {
  const main = facts.find((fact) => fact.name);
  const name = main?.name && `**${main.name.value}** (${main.path}:${main.name.line})`;
  const description =
    main?.description && `“${clip(main.description.value, 200)}” (${main.path}:${main.description.line})`;
  const prose = readme && getReadmeOpening(readme.lines);
  const said =
    prose && phrase('says', language, {place: `${readme!.path}:${prose.number}`, list: firstSentence(prose.text)});
  const where = place === undefined ? undefined : phrase('place', language, {place});
  return [where, [name, description].filter(Boolean).join(' — '), said].filter(Boolean).join('\n') || undefined;
}

export function formatLanguages({counts, language: speech}: ProjectView): string {
  const byLanguage = new Map<string, number>();
  for (const [extension, files] of counts.extensions) {
    const language = getLanguageByExtension(extension);
    if (language !== undefined) byLanguage.set(language, (byLanguage.get(language) ?? 0) + files);
  }
  const list = [...byLanguage].sort(
    ([a, m], [b, n]) => Number(isCodeLanguage(b)) - Number(isCodeLanguage(a)) || n - m || (a < b ? -1 : 1),
  );
  const named = list.slice(0, 6).map(([language, n]) => `${language} ${phrase('files', speech, {n})}`);
  const n = `${counts.isWhole ? '' : '≥ '}${counts.total.toLocaleString('en-US')}`;
  return phrase('languages', speech, {list: named.join(', ') || phrase('nothing', speech), n});
}

export function formatEntries({facts, entries: found, language, mains}: ProjectView): string {
  const declared = facts.flatMap((fact) =>
    fact.entries.map(
      (entry) => `${fact.path}:${entry.line} — ${entry.name}${entry.value ? `: ${code(entry.value)}` : ''}`,
    ),
  );
  const started = found.map((entry) =>
    entry.header ? `${entry.path}:${entry.line} — “${firstSentence(entry.header)}”` : citeHit(entry),
  );
  const others = mains.filter((hit) => !found.some(({path}) => path === hit.path)).map(citeHit);
  const all = [...declared.slice(0, 5), ...started, ...others];
  return titled('entries', language, all, 10);
}

/** Formats the files that most other files import. */
function formatRanked({language, ranked}: ProjectView): string | undefined {
  const files = ranked.filter((one) => !one.test && one.importers > 1).slice(0, MAX_RANKED);
  if (files.length === 0) return undefined;
  const lines = files.map(
    (one) =>
      `${one.path} — ${phrase('importers', language, {files: one.importers, n: one.definitions, what: one.lines})}`,
  );
  return titled('ranked', language, lines);
}

/** Formats a list below its heading. For an empty list the heading says that there is none. */
function titled(
  heading: 'entries' | 'ranked' | 'folders' | 'ownFiles' | 'scripts',
  language: Language,
  lines: readonly string[],
  limit = lines.length,
  more = 0,
): string {
  const title = `**${phrase(heading, language)}**`;
  return lines.length > 0 ? `${title}\n${bullets(lines, limit, more)}` : `${title}: ${phrase('nothing', language)}`;
}

/** Names the files of the folder in the request itself. */
function formatFiles({language, paths, place}: ProjectView): string | undefined {
  const own = paths.filter((path) => getFolder(path) === `${place}/`).toSorted();
  return own.length === 0 ? undefined : titled('ownFiles', language, own, 20);
}

function formatFolders({paths, counts, language, readme, place}: ProjectView): string | undefined {
  const inside = place === undefined ? '' : `${place}/`;
  const list = [...counts.folders]
    .filter(([folder]) => folder !== '.')
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  if (list.length === 0) return undefined;
  const lines = list.slice(0, MAX_FOLDERS).map(([name, files]) => {
    const folder = `${inside}${name}/`;
    const own = paths
      .filter((path) => path.startsWith(folder))
      .toSorted((a, b) => getPathRank(a) - getPathRank(b) || compareDepth(a, b));
    const said = findMention(folder, readme);
    return `${folder} (${phrase('files', language, {n: files})})${listNames(folder, own, files)}${said ? ` — ${said}` : ''}`;
  });
  return titled('folders', language, lines, MAX_FOLDERS, list.length - lines.length);
}

/** Names the first files of a folder. @param total number of its files, also of those that are not listed */
function listNames(folder: string, paths: readonly string[], total: number): string {
  const names = paths.slice(0, 4).map((path) => path.replace(folder, ''));
  return names.length > 0 ? `: ${names.join(', ')}${total > names.length ? ', …' : ''}` : '';
}

/** Finds the line of the README that begins with a folder and describes its content. */
function findMention(folder: string, readme: ProjectView['readme']): string | undefined {
  const form = new RegExp(`^[\\s|*+\`-]*${escapeRegExp(folder)}[\`\\s|:*–—-]+(\\p{L}\\S*\\s.*?)[\\s|]*$`, 'u');
  const line = readme?.lines.find(({text}) => form.test(text));
  return line && `${readme!.path}:${line.number} “${clip(form.exec(line.text)![1]!, 90)}”`;
}

function formatScripts({facts, language}: ProjectView): string {
  return titled(
    'scripts',
    language,
    facts.flatMap(({path, scripts}) => scripts.map((one) => citeFact(path, one))),
    10,
  );
}

function formatTests({tests: found, facts, inline, language}: ProjectView): string {
  const listed = found.paths.filter((path) => hasTests(path) && getPathRank(path) === 1).toSorted();
  const {path, test} = facts.find((fact) => fact.test) ?? {};
  const list = test && `\`${test.name}\`${test.value && ` (${code(test.value)})`}, ${path}:${test.line}`;
  const lines = [...Map.groupBy(listed, getFolder)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(
      ([folder, files]) =>
        `${folder} (${phrase('files', language, {n: files.length})})${listNames(folder, files, files.length)}`,
    );
  const n = listed.length + inline.length;
  const size =
    n > 0 ? phrase('testFiles', language, {n: found.more === 0 ? n : `≥ ${n}`}) : phrase('nothing', language);
  return [
    `**${phrase('tests', language)}**: ${size}${list ? `. ${phrase('runs', language, {list})}` : ''}`,
    bullets([...lines, ...inline.map(citeInlineTests)], 14),
  ]
    .join('\n')
    .trim();
}

function formatDocuments({documents: found, language}: ProjectView): string | undefined {
  return found.length > 0 ? `**${phrase('documents', language)}**: ${found.slice(0, 6).join(', ')}` : undefined;
}
